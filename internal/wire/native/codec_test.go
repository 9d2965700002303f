package native

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
)

func randomKey() (k Key) {
	for i := range k {
		k[i] = byte(rand.Uint32())
	}
	return k
}

func TestAPreambleHasItsDocumentedLayout(t *testing.T) {
	p := Preamble{Version: Version, Kind: KindData, Index: 0x0102, Key: randomKey()}
	b := p.Append(nil)
	if len(b) != 40 || string(b[:4]) != "SOKU" || b[4] != 1 || b[5] != 1 || b[6] != 1 || b[7] != 2 || !bytes.Equal(b[8:], p.Key[:]) {
		t.Fatalf("layout: % x", b)
	}
	if got, err := ParsePreamble(b); err != nil || got != p {
		t.Fatalf("read back %+v, %v", got, err)
	}
	for _, bad := range [][]byte{nil, b[:39], append(b[:40:40], 0), append([]byte("SOKX"), b[4:]...)} {
		if _, err := ParsePreamble(bad); err == nil {
			t.Errorf("accepted % x", bad)
		}
	}
}

func TestHandshakeDatagramsHaveOneSize(t *testing.T) {
	for kind := Hello; kind <= Refuse; kind++ {
		d := Datagram{Version: Version, Type: kind, Index: 7, Key: randomKey(), Nonce: [16]byte{1, 2, 3}}
		b := d.Append(nil)
		if len(b) != DatagramSize {
			t.Fatalf("type %d has %d bytes", kind, len(b))
		}
		if got, err := ParseDatagram(b); err != nil || got != d {
			t.Fatalf("read back %+v, %v", got, err)
		}
	}
}

func TestDatagramOfAnotherKindIsRefused(t *testing.T) {
	good := Datagram{Version: Version, Type: Hello}.Append(nil)
	for name, change := range map[string]func([]byte) []byte{
		"short":           func(b []byte) []byte { return b[:63] },
		"long":            func(b []byte) []byte { return append(b, 0) },
		"magic":           func(b []byte) []byte { b[0] = 'X'; return b },
		"version":         func(b []byte) []byte { b[4] = 2; return b },
		"type 0":          func(b []byte) []byte { b[5] = 0; return b },
		"type 6":          func(b []byte) []byte { b[5] = 6; return b },
		"padding not nil": func(b []byte) []byte { b[63] = 1; return b },
	} {
		if _, err := ParseDatagram(change(bytes.Clone(good))); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestKeyIsHexInJSONAndHiddenInText(t *testing.T) {
	k := randomKey()
	b, err := json.Marshal(Created{Key: k})
	if err != nil || !strings.Contains(string(b), fmt.Sprintf(`"key":"%x"`, k[:])) {
		t.Fatalf("%s, %v", b, err)
	}
	var back Created
	if err := json.Unmarshal(b, &back); err != nil || back.Key != k {
		t.Fatalf("read back %v", err)
	}
	if text := fmt.Sprintf("%v %s %+v", k, k, struct{ K Key }{k}); strings.Contains(text, fmt.Sprintf("%x", k[:4])) || strings.Contains(text, fmt.Sprint(k[0], k[1])) {
		t.Errorf("the key shows in %q", text)
	}
	for _, bad := range []string{`{"key":""}`, `{"key":"00"}`, `{"key":"` + strings.Repeat("zz", 32) + `"}`} {
		if json.Unmarshal([]byte(bad), &back) == nil {
			t.Errorf("accepted %s", bad)
		}
	}
}

func TestEventsAreReadOnePerLine(t *testing.T) {
	stream := `{"event":"queued","position":3}
{"event":"ready"}
{"event":"interval","interval":{"start_ns":0,"end_ns":5,"bytes":9}}
{"event":"from the future","colour":"blue"}
{"event":"done","end":{"flows":[]}}
`
	r := bufio.NewReaderSize(strings.NewReader(stream), 16) // smaller than a line
	var names []string
	for range 5 {
		e, err := ReadEvent(r, anyValues)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Event)
	}
	if want := []string{"queued", "ready", "interval", "from the future", "done"}; !reflect.DeepEqual(names, want) {
		t.Errorf("read %q", names)
	}
}

func TestAnEventIsReadAsItWasWritten(t *testing.T) {
	for _, e := range []Event{
		{Event: EventQueued, Position: 3}, {Event: EventReady, Port: 7000}, {Event: EventRunning}, {Event: EventAlive},
		{Event: EventInterval, Interval: &measure.Progress{Bytes: 9}},
		{Event: EventDone, End: &measure.End{Method: "sleeping"}},
		{Event: EventAborted, Error: &measure.Error{Kind: measure.KindRefused, Message: "busy"}},
	} {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ReadEvent(bufio.NewReader(bytes.NewReader(append(line, '\n'))), anyValues); err != nil || !reflect.DeepEqual(*got, e) {
			t.Errorf("%s was read as %+v, %v", line, got, err)
		}
	}
}

func TestAnInvalidEventIsAnError(t *testing.T) {
	for _, line := range []string{"", "nonsense", "{}", `{"event":""}`, `{"event":"done"}`, `{"event":"aborted"}`, `{"event":"interval"}`, `[1]`} {
		if _, err := ReadEvent(bufio.NewReader(strings.NewReader(line+"\n")), anyValues); err == nil {
			t.Errorf("accepted %q", line)
		}
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

func TestALineThatIsTooLongIsAnError(t *testing.T) {
	if _, err := readLine(bufio.NewReaderSize(endless{}, 4096), 1<<20); !errors.Is(err, errLongEvent) {
		t.Errorf("got %v", err)
	}
}

func TestABodyIsCompleteAndBounded(t *testing.T) {
	var v CreateRequest
	if err := DecodeBody(strings.NewReader(`{"test":"tcp","new":1}`), 100, &v); err != nil || v.Test != measure.TestTCP {
		t.Errorf("got %v, %v", v.Test, err)
	}
	for _, bad := range []string{"", "{", `{} {}`, `{"test":"` + strings.Repeat("x", 100) + `"}`} {
		if DecodeBody(strings.NewReader(bad), 100, &v) == nil {
			t.Errorf("accepted %.20q", bad)
		}
	}
}

func TestNumberOfDataConnections(t *testing.T) {
	for _, c := range []struct {
		test measure.Test
		o    measure.Options
		want int
		udp  bool
	}{
		{measure.TestTCP, measure.Options{Streams: 3, Direction: measure.Forward}, 3, false},
		{measure.TestTCP, measure.Options{Streams: 3, Direction: measure.Bidirectional}, 6, false},
		{measure.TestUDP, measure.Options{Streams: 2, Direction: measure.Reverse}, 2, true},
		{measure.TestLatency, measure.Options{Own: latency.Options{Protocol: "tcp"}}, 1, false},
		{measure.TestLatency, measure.Options{Own: latency.Options{Protocol: "udp"}}, 1, true},
	} {
		if got := option.DataConnections(c.o, c.test); got != c.want || option.OverUDP(c.o, c.test) != c.udp {
			t.Errorf("%s %+v: %d", c.test, c.o, got)
		}
	}
}

func FuzzParsePreamble(f *testing.F) {
	f.Add(Preamble{Version: 1, Kind: 1, Index: 3}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := ParsePreamble(b); err == nil && !bytes.Equal(p.Append(nil), b) {
			t.Errorf("% x reads as %+v", b, p)
		}
	})
}

func FuzzParseDatagram(f *testing.F) {
	f.Add(Datagram{Version: 1, Type: Proof, Index: 3}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := ParseDatagram(b); err == nil && !bytes.Equal(d.Append(nil), b) {
			t.Errorf("% x reads as %+v", b, d)
		}
	})
}

// anyValues bounds nothing.
func anyValues() int { return math.MaxInt }

func FuzzReadEvent(f *testing.F) {
	f.Add([]byte(`{"event":"done","end":{"flows":[{"direction":"forward"}],"latency":{}}}` + "\n"))
	f.Add([]byte(`{"event":"interval","interval":{"rtt_ns":{"p50":1}}}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bufio.NewReaderSize(bytes.NewReader(b), 16)
		for {
			e, err := ReadEvent(r, anyValues)
			if err != nil {
				return
			}
			if e.Event == "" || e.Event == EventDone && e.End == nil || e.Event == EventAborted && e.Error == nil {
				t.Fatalf("incomplete event %+v", e)
			}
		}
	})
}

func FuzzDecodeCreated(f *testing.F) {
	f.Add([]byte(`{"id":"00","key":"` + strings.Repeat("ab", 32) + `","state":"ready","options":{},"server":{"facts":{"os":"linux","arch":"amd64"}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c Created
		_ = DecodeBody(bytes.NewReader(b), MaxReply, &c)
		_ = allowed(measure.TestTCP, measure.Options{Rate: 10}, c.Options)
	})
}

func TestAnAnswerIsBoundedInLengthAndTime(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	go func() { _, _ = far.Write(make([]byte, 100)) }()
	m := &meter{conn: near}
	m.expect(10)
	if n, err := io.Copy(io.Discard, m); n != 10 || !errors.Is(err, errTooLong) {
		t.Errorf("read %d, %v", n, err)
	}
	m.expect(50)
	m.until = time.Now().Add(-time.Second) // a server that sends a byte now and then
	if _, err := m.Read(make([]byte, 1)); !sock.TimedOut(err) {
		t.Errorf("after its time: %v", err)
	}
	m.endless()
	if n, err := m.Read(make([]byte, 1000)); n != 90 || err != nil {
		t.Errorf("endless: %d, %v", n, err)
	}
}

func TestAResumeHasItsDocumentedLayoutAndNeedsItsProof(t *testing.T) {
	key := randomKey()
	p := Preamble{Version: Version, Kind: KindResume, Index: 1, Key: randomKey()}
	want := Resume{Attempt: 2, ResumeState: ResumeState{Stages: 3, Items: 4, CutNs: 5}}
	b := p.AppendResume(nil, want, key)
	if len(b) != 96 || !bytes.Equal(b[:40], p.Append(nil)) || b[5] != 3 || b[47] != 2 || b[51] != 3 || b[55] != 4 || b[63] != 5 {
		t.Fatalf("layout: % x", b)
	}
	if got, ok := ParseResume(b, key); !ok || got != want {
		t.Fatalf("read back %+v, %v", got, ok)
	}
	if _, ok := ParseResume(b, randomKey()); ok {
		t.Error("proven with another key")
	}
	for i := range b {
		b[i] ^= 1
		if _, ok := ParseResume(b, key); ok {
			t.Errorf("proven with another byte %d", i)
		}
		b[i] ^= 1
	}
	answer := want.AppendAnswer(nil)
	if got, ok := ParseResumeAnswer(answer); !ok || got != want.ResumeState || len(answer) != ResumeAnswerSize {
		t.Errorf("% x reads as %+v, %v", answer, got, ok)
	}
}

func FuzzParseResume(f *testing.F) {
	f.Add(uint64(1), []byte("0123456789abcdef0123456789abcdef"), make([]byte, PreambleSize+ResumeSize))
	f.Fuzz(func(t *testing.T, attempt uint64, state, b []byte) {
		var key Key
		if r, ok := ParseResume(b, key); ok && (r.CutNs < 0 || len(b) != PreambleSize+ResumeSize) {
			t.Errorf("% x reads as %+v", b, r)
		}
		if len(state) < 16 {
			return
		}
		s, plausible := parseResumeState(state)
		r := Resume{attempt, s}
		if got, ok := ParseResume(Preamble{}.AppendResume(nil, r, key), key); ok != plausible || ok && got != r {
			t.Errorf("%+v reads as %+v, %v", r, got, ok)
		}
	})
}

func FuzzParseResumeAnswer(f *testing.F) {
	f.Add(ResumeState{1, 2, 3}.AppendAnswer(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, ok := ParseResumeAnswer(b); ok && (s.CutNs < 0 || !bytes.Equal(s.AppendAnswer(nil), b)) {
			t.Errorf("% x reads as %+v", b, s)
		}
	})
}
