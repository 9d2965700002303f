package latency

import (
	"context"
	"encoding/binary"
	"io"
	"testing"
	"time"

	"soku/internal/engine/latency/direct"
	"soku/internal/engine/latency/requests"
	"soku/internal/engine/latency/roundtrip"
	"soku/internal/measure"
)

// feed is a link that reads what a fuzzer made, cut where it says.
type feed struct {
	bytes []byte
	cut   int
	ago   time.Duration // when what is read came
}

func (l *feed) Read(b []byte) (int, error) {
	if len(l.bytes) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), max(l.cut, 1))], l.bytes)
	l.bytes = l.bytes[n:]
	return n, nil
}
func (l *feed) Write(b []byte) (int, error) { return len(b), nil }
func (l *feed) Stamp()                      {}
func (l *feed) Late() time.Duration         { return l.ago }
func (l *feed) Release()                    {}
func (l *feed) Busy() bool                  { return false }
func (l *feed) Blocking() bool              { return false }
func (l *feed) Timing() measure.Timing      { return measure.Timing{} }

func fuzzClient(t *testing.T, l direct.Link, stream bool, size int) (*client, *roundtrip.Window) {
	c := &client{flows: []*flow{{}}, link: l, Counts: requests.Counts{Stream: stream, Size: size, Timeout: int64(time.Hour), Token: 7, Clock: requests.Clock{Start: time.Now()}}}
	c.Rec = roundtrip.Start(roundtrip.Config{Zero: time.Now(), Row: 1, Count: 10})
	t.Cleanup(func() { c.Rec.Stop(0) })
	w := roundtrip.NewWindow(64)
	for range 3 {
		w.Add(c.Clock.Now())
	}
	return c, w
}

// FuzzStream: whatever a far end sends, no more replies count than requests
// were sent, and it ends.
func FuzzStream(f *testing.F) {
	good := make([]byte, 3*12)
	for i := range uint64(3) {
		binary.BigEndian.PutUint64(good[i*12:], i)
	}
	f.Add(good, 5, 12)
	f.Add([]byte{1, 2, 3}, 1, 1)
	f.Fuzz(func(t *testing.T, b []byte, cut, size int) {
		if size < 1 || size > 256 || len(b) > 4096 {
			t.Skip()
		}
		c, w := fuzzClient(t, &feed{bytes: b, cut: cut}, true, size)
		s := &schedule{window: w}
		s.lastNs.Store(-1)
		buffer, r := make([]byte, 256), &replies{}
		for {
			if err := c.readStream(context.Background(), w, r, buffer, s); err != nil {
				break
			}
			if r.have >= size {
				t.Fatalf("%d bytes of a message of %d wait", r.have, size)
			}
		}
		if c.Received > 3 || c.Received*int64(size) > int64(len(b)) {
			t.Errorf("%d replies to 3 requests in %d bytes", c.Received, len(b))
		}
	})
}

// FuzzDatagram: only a datagram of the trial counts, once for each request.
func FuzzDatagram(f *testing.F) {
	good := make([]byte, 32)
	requests.Header{Magic: requests.MagicReply, Token: 7, Number: 2}.Put(good)
	f.Add(good, 32)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		if size < requests.HeaderSize || size > 256 {
			t.Skip()
		}
		c, w := fuzzClient(t, &feed{}, false, size)
		c.take(w, b, c.Clock.Now())
		c.take(w, b, c.Clock.Now())
		h, ok := requests.ParseHeader(b)
		ours := ok && h.Magic == requests.MagicReply && h.Token == 7 && h.Number < 3 && len(b) == size
		if want := int64(map[bool]int{true: 1}[ours]); c.Received != want || c.Duplicated != want {
			t.Errorf("%x: received %d, duplicated %d, want %d", b, c.Received, c.Duplicated, want)
		}
	})
}

func TestRoundTripsEndWhenTheReplyReachesTheHost(t *testing.T) {
	for _, x := range []struct{ ago, want time.Duration }{
		{0, 9 * time.Millisecond},
		{3 * time.Millisecond, 6 * time.Millisecond},
		{30 * time.Millisecond, 9 * time.Millisecond}, // before the request: the wall clock was set
	} {
		c := &client{flows: []*flow{{}}, link: &feed{ago: x.ago}, Counts: requests.Counts{Rec: roundtrip.Start(roundtrip.Config{Zero: time.Now(), Row: 1, Count: 10})}}
		sent, read := int64(time.Millisecond), int64(10*time.Millisecond)
		c.Reply(sent, c.came(sent, read), read)
		got := time.Duration(c.Rec.Stop(int64(20 * time.Millisecond)).Histogram.Max())
		if got.Round(100*time.Microsecond) != x.want {
			t.Errorf("sent at 1 ms, read at 10 ms, came %v before: round trip %v, want %v", x.ago, got, x.want)
		}
	}
}
