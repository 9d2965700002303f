package tcp

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
	"soku/test/loopback"
	"soku/test/tier"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// options are those of a TCP test of d with n streams.
func options(d time.Duration, n int) measure.Options {
	o := option.Defaults(measure.TestTCP)
	o.Duration, o.Streams = measure.Duration(d), n
	return o
}

// way is a combination of send and receive path.
type way struct {
	tx, rx   string
	portable bool
}

// ways returns combinations with every path of this system.
func ways() []way {
	all := []way{{"auto", "auto", true}}
	for i, tx := range sock.WriterPaths() {
		rx := sock.ReaderPaths()
		all = append(all, way{tx, rx[i%len(rx)], false})
	}
	return all
}

// forEachWay runs f once for every way.
func forEachWay(t *testing.T, f func(t *testing.T, w way)) {
	for _, w := range ways() {
		t.Run(fmt.Sprintf("%s-%s-portable=%t", w.tx, w.rx, w.portable), func(t *testing.T) { f(t, w) })
	}
}

// limits are the usual ones, on this way.
func (w way) limits() limits {
	l := usual
	l.portable = w.portable
	return l
}

// both runs both ends of one flow concurrently, on this way.
func (w way) both(ctx context.Context, from, to []*net.TCPConn, o measure.Options, dir measure.Direction) (s, r outcome) {
	o.TX, o.RX = w.tx, w.rx
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.end, r.err = receive(ctx, to, o, engine.Flow{Direction: dir}, w.limits())
	}()
	s.end, s.err = send(ctx, from, o, engine.Flow{Direction: dir}, w.limits())
	<-done
	return s, r
}

type outcome struct {
	end measure.FlowEnd
	err error
}

// both runs both ends of one flow concurrently.
func both(ctx context.Context, from, to []*net.TCPConn, o measure.Options, dir measure.Direction, sent, received measure.Observer) (s, r outcome) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.end, r.err = Receive(ctx, to, o, engine.Flow{Direction: dir, Observe: received})
	}()
	s.end, s.err = Send(ctx, from, o, engine.Flow{Direction: dir, Observe: sent})
	<-done
	return s, r
}

func sentBytes(f measure.FlowEnd) (n int64) {
	for _, s := range f.Streams {
		n += s.SentBytes
	}
	return n
}

func receivedBytes(f measure.FlowEnd) (n int64) {
	for _, s := range f.Streams {
		n += s.ReceivedBytes
	}
	return n
}

func lossless(t *testing.T, s, r outcome) {
	t.Helper()
	if s.err != nil || r.err != nil {
		t.Fatalf("send: %v; receive: %v", s.err, r.err)
	}
	for i := range s.end.Streams {
		if a, b := s.end.Streams[i].SentBytes, r.end.Streams[i].ReceivedBytes; a != b {
			t.Errorf("stream %d: %d bytes sent, %d received", i, a, b)
		}
	}
	if sentBytes(s.end) == 0 {
		t.Error("no byte was sent")
	}
}

func TestWhatIsSentIsReceivedOnEveryPath(t *testing.T) {
	tier.SpendsSeconds(t)
	forEachWay(t, func(t *testing.T, w way) {
		for _, c := range []struct {
			name    string
			streams int
			set     func(*measure.Options)
		}{
			{"one stream for a time", 1, func(o *measure.Options) {}},
			{"some streams for a time", 4, func(o *measure.Options) {}},
			{"many streams for a time", 64, func(o *measure.Options) {}},
			{"a rate for a time", 5, func(o *measure.Options) { o.Rate = 80_000_000 }},
			{"bytes over one stream", 1, func(o *measure.Options) { o.Duration, o.Bytes = 0, 50_000_001 }},
			{"bytes over some streams", 4, func(o *measure.Options) { o.Duration, o.Bytes = 0, 50_000_001 }},
			{"bytes over many streams", 64, func(o *measure.Options) { o.Duration, o.Bytes = 0, 50_000_001 }},
			{"fewer bytes than streams", 8, func(o *measure.Options) { o.Duration, o.Bytes, o.Length = 0, 3, 1 }},
			{"bytes at a rate", 3, func(o *measure.Options) { o.Duration, o.Bytes, o.Rate = 0, 1_000_001, 80_000_000 }},
		} {
			o := options(200*time.Millisecond, c.streams)
			c.set(&o)
			if o.Rate > 0 && w.tx != "auto" && w.tx != "write" {
				continue // this path cannot keep a rate
			}
			t.Run(c.name, func(t *testing.T) {
				a, b := loopback.TCP(t, c.streams)
				s, r := w.both(t.Context(), a, b, o, measure.Forward)
				lossless(t, s, r)
				if o.Bytes > 0 && sentBytes(s.end) != int64(o.Bytes) {
					t.Errorf("sent %d bytes, want exactly %d", sentBytes(s.end), o.Bytes)
				}
				if w.portable && (s.end.Path != "write" || r.end.Path != "read") || w.tx != "auto" && s.end.Path != w.tx || w.rx != "auto" && r.end.Path != w.rx {
					t.Errorf("the paths were %q and %q", s.end.Path, r.end.Path)
				}
			})
		}
	})
}

func TestBothDirectionsAtOnceLoseNothing(t *testing.T) {
	tier.SpendsSeconds(t)
	const n = 8
	forEachWay(t, func(t *testing.T, w way) {
		for _, bytes := range []measure.Size{0, 30_000_000} {
			o := options(200*time.Millisecond, n)
			if bytes > 0 {
				o.Duration, o.Bytes = 0, bytes
			}
			a, b := loopback.TCP(t, 2*n)
			var s2, r2 outcome
			done := make(chan struct{})
			go func() {
				defer close(done)
				s2, r2 = w.both(t.Context(), b[n:], a[n:], o, measure.Reverse)
			}()
			s1, r1 := w.both(t.Context(), a[:n], b[:n], o, measure.Forward)
			<-done
			lossless(t, s1, r1)
			lossless(t, s2, r2)
		}
	})
}

// forward is a native flow from the client to the server.
var forward = engine.Flow{Direction: measure.Forward}
