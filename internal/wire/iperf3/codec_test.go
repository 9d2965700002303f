package iperf3

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func recorded(t testing.TB, pattern string) map[string][]byte {
	files, _ := filepath.Glob("testdata/" + pattern)
	if len(files) == 0 {
		t.Fatalf("no testdata/%s", pattern)
	}
	out := map[string][]byte{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(f)] = bytes.TrimSpace(b)
	}
	return out
}

func TestRecordedParametersSurviveReadingAndWriting(t *testing.T) {
	for name, b := range recorded(t, "*.parameters.json") {
		p := &Parameters{}
		if err := json.Unmarshal(b, p); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if again, err := json.Marshal(p); err != nil || string(again) != string(b) {
			t.Errorf("%s: %s\nread back %s, %v", name, b, again, err)
		}
	}
}

func TestRecordedResultsAreRead(t *testing.T) {
	for name, b := range recorded(t, "*results.json") {
		r, err := ReadResults(frame(b), true)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(r.Streams) == 0 || r.Streams[0].ID != 1 || r.Streams[0].Bytes == 0 || r.Streams[0].EndTime <= 0 || r.CPUTotal <= 0 {
			t.Errorf("%s: %+v", name, r)
		}
		for _, s := range r.Streams {
			if s.Retransmits < -1 || s.Retransmits > 1e6 {
				t.Errorf("%s: stream %d has %d retransmits", name, s.ID, s.Retransmits)
			}
		}
	}
	r, _ := ReadResults(frame(recorded(t, "old-tcp.server-results.json")["old-tcp.server-results.json"]), true)
	if !strings.Contains(r.ServerOutputText, "Accepted connection") || r.Stream(3) == nil || r.SenderHasRetransmits != -1 {
		t.Errorf("%+v", r)
	}
}

func frame(b []byte) io.Reader {
	var out bytes.Buffer
	_ = WriteJSON(&out, b)
	return &out
}

func TestEveryParameterSurvivesWritingAndReading(t *testing.T) {
	cpu := 0
	want := Parameters{
		Protocol: "udp", Omit: 3, Time: 10, Bytes: 1 << 40, Blocks: 7, Parallel: 128, Reverse: true, MSS: 1400,
		NoDelay: true, MPTCP: true, Window: 1 << 20, Length: 1400, Bandwidth: 10_000_000_000, FQRate: 5, PacingTimer: 1000,
		Burst: 10, TOS: 46 << 2, FlowLabel: 0xabcde, Title: "a \"title\"", ExtraData: "extra", Congestion: "bbr",
		CongestionUsed: "cubic", GetServerOutput: true, Counters64: true, RepeatPayload: true, ZeroCopy: 1, DontFragment: true,
		SkipRXCopy: true, ServerAffinity: &cpu, AuthToken: "dG9rZW4=", ClientVersion: "3.21", GSO: true, GRO: true,
		GSODatagram: 1400, GSOBuf: 65000, GROBuf: 65507,
	}
	var b bytes.Buffer
	if err := WriteParameters(&b, &want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadParameters(&b)
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestNumbersMayHaveAnExponent(t *testing.T) {
	var p Parameters
	if err := json.Unmarshal([]byte(`{"tcp":true,"len":131072,"bandwidth":1e+10,"num":2.5e3,"parallel":2.0}`), &p); err != nil {
		t.Fatal(err)
	}
	if p.Bandwidth != 10_000_000_000 || p.Bytes != 2500 || p.Parallel != 2 {
		t.Errorf("%+v", p)
	}
}

func TestParametersOutOfRangeNameTheMember(t *testing.T) {
	for member, text := range map[string]string{
		"parallel": `{"tcp":true,"len":1000,"parallel":129}`, "time": `{"tcp":true,"len":1000,"time":86401}`,
		"omit": `{"tcp":true,"len":1000,"omit":-1}`, "len": `{"udp":true,"len":15}`, "num": `{"tcp":true,"len":1000,"num":-5}`,
		"window": `{"tcp":true,"len":1000,"window":1e12}`, "TOS": `{"tcp":true,"len":1000,"TOS":256}`,
		"server_affinity": `{"tcp":true,"len":1000,"server_affinity":5000}`,
	} {
		var p Parameters
		var out *OutOfRangeError
		if err := json.Unmarshal([]byte(text), &p); !errors.As(err, &out) || out.Member != member {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestJSONIsBoundedBeforeItIsRead(t *testing.T) {
	for name, text := range map[string]string{
		"too long": "\x7f\xff\xff\xff{", "empty": "\x00\x00\x00\x00", "cut": "\x00\x00\x00\x09{}", "no length": "\x00",
	} {
		if _, err := ReadParameters(strings.NewReader(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestInconsistentResultsAreRefused(t *testing.T) {
	const stream = `{"id":1,"bytes":1,"retransmits":0,"jitter":0,"errors":0,"packets":0}`
	whole := func(streams string) string {
		return `{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":0,"sender_has_retransmits":1,"streams":[` + streams + `]}`
	}
	var r Results
	if err := json.Unmarshal([]byte(whole(stream)), &r); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"no streams": `{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":0,"sender_has_retransmits":1}`,
		"twice":      whole(stream + "," + stream), "null": "null", "array": "[]",
		"negative": whole(strings.Replace(stream, `"bytes":1`, `"bytes":-1`, 1)),
		"no id":    whole(strings.Replace(stream, `"id":1,`, "", 1)),
		"many":     whole(strings.Repeat(stream+",", 256) + stream),
	} {
		if err := json.Unmarshal([]byte(text), &r); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestCookiesAreRecognisedByTheirFirstBytes(t *testing.T) {
	c := NewCookie()
	for n := range CookieSize + 1 {
		if !MayBeCookie(c[:n]) {
			t.Errorf("%q is not taken for a beginning of a cookie", c[:n])
		}
	}
	if c == NewCookie() {
		t.Error("the same twice")
	}
	for _, other := range []string{"GET ", "SOKU", "\x16\x03\x01\x00", "abc1", strings.Repeat("a", CookieSize), strings.Repeat("a", CookieSize-1) + "\x00\x00"} {
		if MayBeCookie([]byte(other)) {
			t.Errorf("%q is taken for a cookie", other)
		}
	}
}

func TestStreamsAreNumberedAsInIperf3(t *testing.T) {
	for i, want := range []int{1, 3, 4, 5} {
		if got := StreamID(i); got != want {
			t.Errorf("stream %d is %d", i, got)
		}
	}
}

func FuzzParameters(f *testing.F) {
	for _, b := range recorded(f, "*.parameters.json") {
		f.Add(b)
	}
	f.Add([]byte(`{"udp":true,"len":1400,"server_affinity":3,"bandwidth":1e300}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p Parameters
		if json.Unmarshal(b, &p) != nil {
			return
		}
		if p.Parallel < 1 || p.Parallel > MaxStreams || p.Time < 0 || p.Bandwidth < 0 || p.Bytes < 0 || len(p.Title) > maxText {
			t.Fatalf("%s reads as %+v", b, p)
		}
		text, err := json.Marshal(p)
		var again Parameters
		if err != nil || json.Unmarshal(text, &again) != nil {
			t.Fatalf("%s does not read back, %v", text, err)
		}
	})
}

func FuzzResults(f *testing.F) {
	for _, b := range recorded(f, "*results.json") {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Results
		if json.Unmarshal(b, &r) != nil {
			return
		}
		if len(r.Streams) > 2*MaxStreams {
			t.Fatal("more streams than there can be")
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatalf("%s does not read back: %v", b, err)
		}
	})
}

func FuzzReadJSON(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Add([]byte("\xff\xff\xff\xff{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if text, err := ReadJSON(bytes.NewReader(b), 100); err == nil && (len(text) == 0 || len(text) > 100) {
			t.Fatalf("read %d bytes", len(text))
		}
	})
}
