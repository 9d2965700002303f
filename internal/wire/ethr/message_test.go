package ethr

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"soku/test/exchange"
)

// recorded are the exchanges of real programs, by name.
func recorded(t testing.TB) map[string]*exchange.Exchange {
	t.Helper()
	files, err := filepath.Glob("testdata/*.exchange")
	if err != nil || len(files) == 0 {
		t.Fatal("no exchange is recorded: ", err)
	}
	out := map[string]*exchange.Exchange{}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		x, err := exchange.Read(f)
		if err != nil {
			t.Fatal(name, err)
		}
		out[strings.TrimSuffix(filepath.Base(name), ".exchange")] = x
	}
	return out
}

// frames are the messages at the beginning of a step, and the bytes after them.
func frames(s exchange.Step) (frames [][]byte, rest []byte) {
	b := s.Bytes
	for len(b) > frameHead {
		n := int(binary.BigEndian.Uint32(b))
		if n > maxMessage || frameHead+n > len(b) || s.Kind != exchange.Bytes {
			break
		}
		if _, err := Decode(b[frameHead : frameHead+n]); err != nil {
			break
		}
		frames, b = append(frames, b[:frameHead+n]), b[frameHead+n:]
	}
	return frames, b
}

func TestMessagesOfEthrAreReadAndWrittenByteForByte(t *testing.T) {
	count := map[Kind]int{}
	for name, x := range recorded(t) {
		for i, s := range x.Steps {
			frames, _ := frames(s)
			for _, f := range frames {
				m, err := Read(bytes.NewReader(f))
				if err != nil {
					t.Errorf("%s, step %d: %v", name, i+1, err)
					continue
				}
				count[m.Kind]++
				if got := Append(nil, m); !bytes.Equal(got, f) {
					t.Errorf("%s, step %d: %+v is written\n%x, not\n%x", name, i+1, m, got, f)
				}
			}
		}
	}
	for k := Syn; k <= SyncGo; k++ {
		if count[k] == 0 {
			t.Errorf("no %s is recorded", k)
		}
	}
}

func TestRequestsAreDecoded(t *testing.T) {
	for name, want := range map[string]Message{
		"v1-tcp": {Kind: Syn, Test: Bandwidth, Params: Params{Threads: 1, Buffer: 16000, Rounds: 1000, Duration: time.Second, Gap: time.Second, Warmup: 1}},
		"new-tcp-two": {Kind: Syn, Synced: true, Test: Bandwidth, Params: Params{Threads: 2, Buffer: 128000, Rounds: 1000, Duration: time.Second, Gap: time.Second, Warmup: 1,
			Rate: 10_000_000, ToS: 8}},
		"v1-tcp-reverse": {Kind: Syn, Test: Bandwidth, Params: Params{Threads: 1, Buffer: 16000, Rounds: 1000, Reverse: true, Duration: time.Second, Gap: time.Second, Warmup: 1}},
		"new-latency":    {Kind: Syn, Synced: true, Test: Latency, Params: Params{Threads: 1, Buffer: 3, Rounds: 20, Duration: time.Second, Gap: 400 * time.Millisecond, Warmup: 1}},
	} {
		first, _ := frames(recorded(t)[name].Steps[1])
		if got, err := Read(bytes.NewReader(first[0])); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}
}

// The types as Go structures, for encoding/gob.
type (
	EthrMsg struct {
		Version, Type uint32
		Syn           *EthrMsgSyn
		Ack           *EthrMsgAck
		SyncReady     *EthrMsgSyncReady
		SyncGo        *EthrMsgSyncGo
		Unknown       More
	}
	More struct {
		Text  string
		Real  float64
		Bytes []byte
		Deep  Deep
	}
	Deep             struct{ Number int }
	EthrMsgAck       struct{}
	EthrMsgSyncReady struct{ DelayNs int64 }
	EthrMsgSyncGo    struct{ RttNs int64 }
	EthrMsgSyn       struct {
		TestID      EthrTestID
		ClientParam EthrClientParam
	}
	EthrTestID      struct{ Protocol, Type uint32 }
	EthrClientParam struct {
		NumThreads, BufferSize, RttCount uint32
		Reverse                          bool
		Duration, Gap                    time.Duration
		WarmupCount                      uint32
		BwRate                           uint64
		ToS                              uint8
	}
)

func TestPackageGobDecodesOurMessages(t *testing.T) {
	m := Message{Version: 7, Kind: Syn, Test: Latency, Transport: UDP, Params: Params{
		Threads: 1, Buffer: math.MaxUint32, Rounds: 128, Reverse: true, Duration: -time.Second, Gap: math.MaxInt64, Warmup: 127, Rate: math.MaxUint64, ToS: 255}}
	for _, synced := range []bool{false, true} {
		var got EthrMsg
		m.Synced = synced
		if err := gob.NewDecoder(bytes.NewReader(Append(nil, m)[frameHead:])).Decode(&got); err != nil {
			t.Fatal(err)
		}
		p := got.Syn.ClientParam
		back := Message{Synced: synced, Version: got.Version, Kind: Kind(got.Type), Test: Test(got.Syn.TestID.Type), Transport: Transport(got.Syn.TestID.Protocol), Params: Params{
			p.NumThreads, p.BufferSize, p.RttCount, p.Reverse, p.Duration, p.Gap, p.WarmupCount, p.BwRate, p.ToS}}
		if back != m {
			t.Errorf("read back %+v", back)
		}
	}
}

func TestUnknownFieldsAreSkipped(t *testing.T) {
	var msg EthrMsg
	msg.Type, msg.Syn = uint32(Syn), &EthrMsgSyn{}
	msg.Syn.ClientParam.Gap = -5
	msg.Unknown.Text, msg.Unknown.Real, msg.Unknown.Bytes, msg.Unknown.Deep.Number = "text", 0.1, []byte("bytes"), -1
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(msg); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b.Bytes())
	if want := (Message{Kind: Syn, Params: Params{Gap: -5}}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestInvalidMessagesAreRefused(t *testing.T) {
	good := Append(nil, Message{Kind: Syn, Test: Bandwidth, Params: Params{Threads: 2, Buffer: 1000, ToS: 1}, Synced: true})[frameHead:]
	for n := range good {
		if m, err := Decode(good[:n]); err == nil {
			t.Errorf("%d bytes of %d are %+v", n, len(good), m)
		}
	}
	for path, v := range map[string]uint64{"Version": 1 << 32, "Syn.ClientParam.ToS": 256, "Syn.ClientParam.Reverse": 2, "Syn.ClientParam.BufferSize": 1 << 32} {
		if (&Message{}).members().setUint(path, v) {
			t.Errorf("%s is %d", path, v)
		}
	}
	type wide struct{ EthrMsg Deep }
	for name, v := range map[string]any{
		"another type": wide{},
		"two kinds":    EthrMsg{Type: uint32(Ack), Ack: &EthrMsgAck{}, SyncGo: &EthrMsgSyncGo{}},
		"no kind":      EthrMsg{Type: uint32(Ack)},
		"another kind": EthrMsg{Type: uint32(SyncGo), Ack: &EthrMsgAck{}},
	} {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(v); err != nil {
			t.Fatal(err)
		}
		if m, err := Decode(b.Bytes()); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
	for name, b := range map[string][]byte{
		"something after it": append(bytes.Clone(good), 0),
		"too long":           make([]byte, maxMessage+1),
		"a type of itself":   bytes.Replace(good, []byte("\x03Syn\x01\xff\x82"), []byte("\x03Syn\x01\xff\x80"), 1),
		"a type beyond them": bytes.Replace(good, []byte("\x03Syn\x01\xff\x82"), []byte("\x03Syn\x01\xff\xf0"), 1),
	} {
		if m, err := Decode(b); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestAFrameIsBoundedBeforeItIsRead(t *testing.T) {
	for _, n := range []uint32{0, maxMessage + 1, math.MaxUint32} {
		r := bytes.NewReader(binary.BigEndian.AppendUint32(nil, n))
		if _, err := Read(r); !errors.Is(err, errLength) {
			t.Errorf("length %d: %v", n, err)
		}
	}
	cut := Append(nil, Message{Kind: Ack})
	if _, err := Read(bytes.NewReader(cut[:50])); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a frame that is cut: %v", err)
	}
}

func TestARequestIsRecognisedByItsFirstBytes(t *testing.T) {
	for name, x := range recorded(t) {
		for _, s := range x.Steps {
			if s.Kind != exchange.Bytes || len(s.Bytes) < 100 {
				continue
			}
			all, _ := frames(s)
			ours, more := Begins(s.Bytes[:4])
			if ours {
				ours, more = Begins(s.Bytes[:4+more])
			}
			if want := len(all) > 0; ours != want || more != 0 {
				t.Errorf("%s: %x is a request: %v", name, s.Bytes[:20], ours)
			}
		}
	}
	for _, b := range []string{"SOKU", "GET ", "\x16\x03\x01\x02", "\x00\x00\x00\x00"} {
		if ours, _ := Begins([]byte(b)); ours {
			t.Errorf("%q is taken for a request", b)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for k := Syn; k <= SyncGo; k++ {
		f.Add(Append(nil, Message{Kind: k, Test: Latency, Params: Params{Threads: 300, Gap: -9, Reverse: true}, Delay: 1, RTT: 2, Synced: k%2 == 0})[frameHead:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Decode(b)
		if err != nil {
			return
		}
		if m.Kind < Syn || m.Kind > SyncGo {
			t.Fatalf("a message of %s", m.Kind)
		}
		m.Synced = true
		again, err := Decode(Append(nil, m)[frameHead:])
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Fatalf("%+v is read back as %+v, %v", m, again, err)
		}
		// If gob accepts the bytes, both decoders return the same.
		var msg EthrMsg
		if gob.NewDecoder(bytes.NewReader(b)).Decode(&msg) == nil && (Kind(msg.Type) != m.Kind || msg.Version != m.Version) {
			t.Fatalf("gob reads %+v, this %+v", msg, m)
		}
	})
}

func FuzzReadTakesOneFrame(f *testing.F) {
	f.Add(Append(nil, Message{Kind: Ack, Synced: true}))
	f.Add([]byte("\x00\x01\x02\x03payload"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		_, err := Read(r)
		if len(b) >= frameHead {
			if n := binary.BigEndian.Uint32(b); err == nil && r.Len() != len(b)-frameHead-int(n) {
				t.Fatalf("a frame of %d bytes, and %d of %d are left", n, r.Len(), len(b))
			}
			Begins(b[:min(len(b), 19)])
		}
	})
}
