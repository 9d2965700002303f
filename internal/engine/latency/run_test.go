package latency

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
	"soku/test/tier"
)

func TestEveryRoundTripIsCounted(t *testing.T) {
	tier.SpendsSeconds(t)
	forEach(t, func(t *testing.T, open linker, o measure.Options) {
		near, far := sockets(t, OptionsOf(o).Protocol)
		echoing(t, far, o, open)
		measure.EditOwn(&o, func(own *Options) { own.Row = 30 })
		var seen int64
		l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{Observe: func(p measure.Progress) { seen += p.Packets }}, open)
		if err != nil {
			t.Fatal(err)
		}
		if l.Sent != 100 || l.Received != 100 || l.Lost != 0 || l.Duplicated != 0 || l.Histogram.Count() != 100 || seen != 100 {
			t.Errorf("100 round trips: %+v, %d seen live", l, seen)
		}
		if len(l.Rows) != 4 || l.Rows[3].RTT.Count != 10 || len(l.Series) == 0 {
			t.Errorf("rows %+v, %d points", l.Rows, len(l.Series))
		}
		loop := measure.LoopClosed
		if o.RequestRate > 0 {
			loop = measure.LoopOpen
		}
		if kind := kindOf(*l.Timing); l.Timing.Loop != loop || !strings.Contains(t.Name(), strings.ReplaceAll(kind, " ", "_")) {
			t.Errorf("timing %+v is %s", l.Timing, kind)
		}
	})
}

func TestEverySizeComesBack(t *testing.T) {
	tier.SpendsSeconds(t)
	for name, open := range linkers() {
		for protocol, sizes := range map[string][]measure.Size{"tcp": {1, 7, 8, 1000, 64 << 10}, "udp": {28, 29, 1400, 65507}} {
			for _, size := range sizes {
				for _, rate := range []float64{0, 1000} {
					if rate > 0 && size == 65507 {
						continue // a socket buffer holds two of them, and an open loop does not wait
					}
					near, far := sockets(t, protocol)
					o := options(protocol)
					o.Size, o.RequestRate, o.Count = size, rate, 20
					echoing(t, far, o, open)
					if l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open); err != nil || l.Received != 20 {
						t.Errorf("%s, %s, %d bytes, rate %v: %+v, %v", name, protocol, size, rate, l, err)
					}
				}
			}
		}
	}
}

func TestTheTimeEndsIt(t *testing.T) {
	tier.SpendsSeconds(t)
	forEach(t, func(t *testing.T, open linker, o measure.Options) {
		near, far := sockets(t, OptionsOf(o).Protocol)
		echoing(t, far, o, open)
		o.Count, o.Duration, o.Interval = 0, measure.Duration(200*time.Millisecond), measure.Duration(100*time.Millisecond)
		var intervals []measure.Progress
		l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{Observe: func(p measure.Progress) { intervals = append(intervals, p) }}, open)
		if err != nil || l.Received == 0 || l.Sent != l.Received {
			t.Fatalf("%+v, %v", l, err)
		}
		if len(intervals) != 2 || intervals[0].EndNs != int64(100*time.Millisecond) || intervals[1].EndNs < int64(199*time.Millisecond) {
			t.Errorf("intervals %+v", intervals)
		}
	})
}

func TestTheOmittedStartIsInNoCount(t *testing.T) {
	tier.SpendsSeconds(t)
	forEach(t, func(t *testing.T, open linker, o measure.Options) {
		near, far := sockets(t, OptionsOf(o).Protocol)
		o.Omit = measure.Duration(50 * time.Millisecond)
		answered := int64(0)
		answering(t, far, int(o.Size), func(_ int, m []byte) [][]byte { answered++; return [][]byte{replyTo(m)} })
		l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open)
		_ = far.Close()
		if err != nil || l.Sent != 100 || l.Received != 100 || l.Histogram.Count() != 100 {
			t.Fatalf("%+v, %v", l, err)
		}
		if l.Rows[0].StartNs < 0 {
			t.Errorf("the first row starts at %d", l.Rows[0].StartNs)
		}
	})
}

// TestAStallIsSeenByEveryRequestItHeldUp is what an open loop is for: a far end
// that stands still for a while makes all requests of that while slow.
func TestAStallIsSeenByEveryRequestItHeldUp(t *testing.T) {
	tier.SpendsSeconds(t)
	for name, open := range linkers() {
		slow := func(rate float64) int64 {
			near, far := sockets(t, "tcp")
			o := options("tcp")
			o.RequestRate, o.Count = rate, 300
			answering(t, far, int(o.Size), func(n int, m []byte) [][]byte {
				if n == 100 {
					time.Sleep(100 * time.Millisecond)
				}
				return [][]byte{replyTo(m)}
			})
			l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open)
			if err != nil {
				t.Fatal(err)
			}
			var slow int64
			for _, b := range l.Histogram.Buckets() {
				if b.From > int64(40*time.Millisecond) {
					slow += b.Count
				}
			}
			return slow
		}
		// 60 requests are scheduled in the 60 ms after which 40 of the stall are left.
		if n := slow(1000); n < 50 {
			t.Errorf("%s: a stall of 100 ms at 1000 a second held up only %d requests for over 40 ms", name, n)
		}
	}
}

func TestALateSendIsRecordedAsLate(t *testing.T) {
	tier.SpendsSeconds(t)
	for name, open := range linkers() {
		near, far := sockets(t, "tcp")
		o := options("tcp")
		o.Size, o.RequestRate, o.Count = 64<<10, 2000, 600
		answering(t, far, int(o.Size), func(n int, m []byte) [][]byte {
			if n == 0 {
				time.Sleep(250 * time.Millisecond) // the queues fill with 32 MB
			}
			return [][]byte{m}
		})
		l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open)
		if err != nil || l.Received != 600 {
			t.Fatalf("%s: %+v, %v", name, l, err)
		}
		if l.LateSends == 0 {
			t.Errorf("%s: the far end did not read for 250 ms, and no send was late", name)
		}
	}
}

func TestWhatWasNeverSentIsLateToo(t *testing.T) {
	tier.SpendsSeconds(t)
	for name, open := range linkers() {
		near, far := sockets(t, "tcp")
		o := options("tcp")
		o.Size, o.RequestRate, o.Count, o.Duration = 64<<10, 10_000, 0, measure.Duration(200*time.Millisecond)
		answering(t, far, int(o.Size), func(n int, m []byte) [][]byte {
			if n == 0 {
				time.Sleep(300 * time.Millisecond) // past the end
			}
			return [][]byte{m}
		})
		l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if l.Sent+l.LateSends < 1990 {
			t.Errorf("%s: of 2000 scheduled requests %d were sent and %d late", name, l.Sent, l.LateSends)
		}
	}
}

func TestTheLoopAllocatesNothing(t *testing.T) {
	tier.SpendsSeconds(t)
	for name, open := range linkers() {
		for _, o := range []measure.Options{options("tcp"), options("udp"), splitting("tcp"), splitting("udp")} {
			near, far := sockets(t, OptionsOf(o).Protocol)
			o.Count = 5000
			measure.EditOwn(&o, func(own *Options) { own.Row = 1 << 30 })
			echoing(t, far, o, open)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			// The series allocates a little; a deadline, one object each 20 ms.
			if n := after.Mallocs - before.Mallocs; n > 2500 {
				t.Errorf("%s %s, stamps %s: %d allocations in 5000 round trips", OptionsOf(o).Protocol, name, OptionsOf(o).Stamps, n)
			}
		}
	}
}

func TestAnEndedContextEndsItWithWhatWasCounted(t *testing.T) {
	tier.SpendsSeconds(t)
	forEach(t, func(t *testing.T, open linker, o measure.Options) {
		near, far := sockets(t, OptionsOf(o).Protocol)
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		ended := make(chan time.Time, 1)
		o.Count, o.Duration = 0, measure.Duration(time.Hour)
		answering(t, far, int(o.Size), func(n int, m []byte) [][]byte {
			switch {
			case n < 20:
				return [][]byte{replyTo(m)}
			case n == 20: // from now on it is silent
				ended <- time.Now()
				cancel(why)
			}
			return [][]byte{}
		})
		l, err := run(ctx, []net.Conn{near}, o, engine.Flow{}, open)
		took := time.Since(<-ended)
		if !errors.Is(err, why) || l == nil || l.Received > 20 || o.RequestRate == 0 && l.Received != 20 || l.Histogram.Count() != l.Received {
			t.Fatalf("%+v, %v", l, err)
		}
		if took > 100*time.Millisecond {
			t.Errorf("it took %v to end", took)
		}
	})
}

func TestWhatCannotBeIsUsage(t *testing.T) {
	for name, change := range map[string]func(*measure.Options){
		"no end":             func(o *measure.Options) { o.Count = 0 },
		"no message":         func(o *measure.Options) { o.Size = 0 },
		"a message too long": func(o *measure.Options) { o.Size = 64<<10 + 1 },
		"a datagram with no room": func(o *measure.Options) {
			o.Size = 27
			measure.EditOwn(o, func(own *Options) { own.Protocol = "udp" })
		},
		"no timeout": func(o *measure.Options) { o.Timeout = 0 },
	} {
		o := options("tcp")
		change(&o)
		near, _ := sockets(t, OptionsOf(o).Protocol)
		if _, err := Run(t.Context(), []net.Conn{near}, o, engine.Flow{}); measure.KindOf(err) != measure.KindUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheSocketIsGivenBackAsItWas(t *testing.T) {
	for name, open := range linkers() {
		for _, o := range []measure.Options{options("tcp"), options("udp"), splitting("tcp"), splitting("udp")} {
			near, far := sockets(t, OptionsOf(o).Protocol)
			o.Count = 3
			l := open(far, maxTick, 1)
			l.Release()
			echoing(t, far, o, open)
			if _, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open); err != nil {
				t.Fatal(err)
			}
			// A deadline works only on a socket in the net poller's mode.
			_ = near.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			done := make(chan error, 1)
			go func() { _, err := near.Read(make([]byte, 1)); done <- err }()
			select {
			case err := <-done:
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%s %s, stamps %s: %v", OptionsOf(o).Protocol, name, OptionsOf(o).Stamps, err)
				}
			case <-time.After(10 * time.Second):
				t.Errorf("%s %s, stamps %s: a read with a deadline does not end", OptionsOf(o).Protocol, name, OptionsOf(o).Stamps)
			}
		}
	}
}

func TestFloorIsQuickAndOnThisHost(t *testing.T) {
	tier.WatchesTheClock(t) // 15 round trips in 100 ms
	for _, protocol := range []string{"tcp", "udp"} {
		for _, rate := range []float64{0, 10, 1e6} {
			o := option.Defaults(measure.TestLatency)
			o.RequestRate = rate
			measure.EditOwn(&o, func(own *Options) { own.Protocol = protocol })
			start := time.Now()
			f, err := Floor(t.Context(), o, time.Second)
			if err != nil || f.RTT.Count < 15 || f.RTT.P50 <= 0 || f.Clock != sock.ClockSource || f.Timing == nil {
				t.Errorf("%s at %v: %+v, %v", protocol, rate, f, err)
			}
			if took := time.Since(start); took > 5*time.Second { // of which most would be this machine's
				t.Errorf("%s at %v: took %v", protocol, rate, took)
			}
		}
	}
}

// Each trial waits for its baseline: the delays that imitate a path are a part of the 75 ms that it takes.
func TestTheDelaysOfABaselineAddUpToItsTime(t *testing.T) {
	for _, path := range []time.Duration{0, 20 * time.Microsecond, 100 * time.Microsecond, time.Millisecond, time.Second} {
		o := option.Defaults(measure.TestLatency)
		f, err := Floor(t.Context(), o, path)
		if err != nil {
			t.Fatal(err)
		}
		delay := min(path, time.Millisecond)
		if path < 100*time.Microsecond {
			delay = 0 // shorter than what the kernel may add
		}
		if delayed := 2 * time.Duration(f.RTT.Count) * delay; delayed > 75*time.Millisecond || floorDelay(o, path) != delay {
			t.Errorf("a path of %s: %d round trips with delays of %s, %s in all", path, f.RTT.Count, floorDelay(o, path), delayed)
		}
	}
}

func TestABaselineIsMeasuredOnceMoreWhereNothingCameBack(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	failure := errors.New("no loopback")
	for name, c := range map[string]struct {
		ctx    context.Context
		first  error
		limits []time.Duration
	}{
		"in time":             {t.Context(), nil, []time.Duration{floorTime}},
		"no reply in time":    {t.Context(), context.DeadlineExceeded, []time.Duration{floorTime, floorLate}},
		"another failure":     {t.Context(), failure, []time.Duration{floorTime}},
		"the trial has ended": {ended, context.DeadlineExceeded, []time.Duration{floorTime}},
	} {
		var limits []time.Duration
		f, err := twice(c.ctx, func(limit time.Duration) (*measure.FloorReading, error) {
			if limits = append(limits, limit); len(limits) == 1 && c.first != nil {
				return nil, c.first
			}
			return &measure.FloorReading{}, nil
		})
		if wanted := len(c.limits) == 2 || c.first == nil; !slices.Equal(limits, c.limits) || (f != nil) != wanted || (err == nil) != wanted {
			t.Errorf("%s: attempts of %v, %v, %v", name, limits, f, err)
		}
	}
}

// kindOf is the name that linkers has for links of such a timing.
func kindOf(t measure.Timing) string {
	kind := map[string]string{measure.WaitPoller: "net poller", measure.WaitBlocking: "blocking socket", measure.WaitSpinning: "spinning"}[t.Wait]
	if t.OwnThread {
		kind += " on a thread of its own"
	}
	return kind
}
