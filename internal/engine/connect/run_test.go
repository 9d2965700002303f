package connect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/test/freeport"
	"soku/test/tier"
)

func TestEveryConnectionIsCountedAtBothEnds(t *testing.T) {
	tier.SpendsSeconds(t)
	ways(t, func(t *testing.T, client makers, server acceptors) {
		for _, size := range []measure.Size{0, 1, 9000} {
			for _, reset := range []bool{true, false} {
				if reset && runtime.GOOS != "linux" {
					continue // what was reset before it was accepted may be forgotten there
				}
				t.Run(fmt.Sprintf("%d bytes, reset %v", size, reset), func(t *testing.T) {
					o := options(func(o *measure.Options) { o.Count, o.Streams, o.Size = 300, 4, size })
					l := listen(t, o, server)
					end, err := runWith(within(t, 20*time.Second), l.target(reset), o, nil, nil, client)
					if err != nil {
						t.Fatal(err)
					}
					got := l.stop()
					if end.Connect.Opened != 300 || end.Connect.Failed != 0 || *got.Accepted != 300 || got.Unserved != 0 {
						t.Errorf("client %+v, server %+v with %d accepted", end.Connect, got, *got.Accepted)
					}
					if n := end.Latency.Histogram.Count(); n != 300 || end.Latency.Received != 300 || end.Latency.Histogram.Min() <= 0 {
						t.Errorf("%d set-up times, the shortest %d ns", n, end.Latency.Histogram.Min())
					}
					if end.Connect.OpenedPerSecond <= 0 || got.AcceptedPerSecond <= 0 {
						t.Errorf("no rate: %v, %v", end.Connect.OpenedPerSecond, got.AcceptedPerSecond)
					}
				})
			}
		}
	})
}

func TestARunForATimeShowsIntervals(t *testing.T) {
	tier.SpendsSeconds(t)
	ways(t, func(t *testing.T, client makers, server acceptors) {
		o := options(func(o *measure.Options) {
			o.Duration, o.Interval = measure.Duration(350*time.Millisecond), measure.Duration(100*time.Millisecond)
		})
		l := listen(t, o, server)
		var shown, sum int64
		end, err := runWith(within(t, 20*time.Second), l.target(false), o, nil, func(p measure.Progress) { shown++; sum += p.Packets }, client)
		if err != nil {
			t.Fatal(err)
		}
		if shown < 3 || sum != end.Connect.Opened || int64(len(end.Latency.Rows)) != shown {
			t.Errorf("%d intervals with %d connections of %d, %d rows", shown, sum, end.Connect.Opened, len(end.Latency.Rows))
		}
		if end.Connect.DurationNs < int64(o.Duration) {
			t.Errorf("took %d ns", end.Connect.DurationNs)
		}
	})
}

// closedPort is a port at which nothing listens.
func closedPort(t *testing.T) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(freeport.One(t)))
}

func TestARefusalIsCountedAndTheTrialContinues(t *testing.T) {
	for _, client := range []makers{bestMaker, newNetMaker} {
		o := options(func(o *measure.Options) { o.Count, o.RequestRate = 20, 1000 })
		end, err := runWith(within(t, 20*time.Second), Target{Addr: closedPort(t)}, o, nil, nil, client)
		if measure.KindOf(err) != measure.KindUnreachable || !strings.Contains(err.Error(), "none of 20 attempts succeeded: refused") {
			t.Errorf("error %v", err)
		}
		if c := end.Connect; c.Failures["refused"] != 20 || c.Failed != 20 || c.Opened != 0 || end.Latency.Lost != 20 {
			t.Errorf("counted %+v, lost %d", c, end.Latency.Lost)
		}
	}
}

func TestTheEndOfTheContextEndsARun(t *testing.T) {
	tier.SpendsSeconds(t)
	ways(t, func(t *testing.T, client makers, server acceptors) {
		for _, rate := range []float64{0, 100} {
			o := options(func(o *measure.Options) {
				o.Duration, o.Streams, o.RequestRate = measure.Duration(time.Hour), 3, rate
			})
			l := listen(t, o, server)
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("enough")
			go func() {
				for l.Accepted() < 10 {
					time.Sleep(time.Millisecond)
				}
				cancel(why)
			}()
			end, err := runWith(ctx, l.target(false), o, nil, nil, client)
			if !errors.Is(err, why) {
				t.Errorf("error %v", err)
			}
			if end.Connect.Opened == 0 || len(end.Connect.Failures) != 0 {
				t.Errorf("counted %+v", end.Connect)
			}
		}
	})
}

// slow is a maker whose connections all take a time.
type slow struct {
	r    *run
	take time.Duration
}

func (s *slow) connect() (int64, int64, outcome) {
	start := s.r.clock.now()
	time.Sleep(s.take)
	return start, s.r.clock.now(), opened
}
func (s *slow) serve() outcome { return opened }
func (s *slow) close()         {}

func TestAnAttemptThatWaitedCountsFromWhenItWasDue(t *testing.T) {
	const take = 50 * time.Millisecond
	var made atomic.Int64
	with := func(r *run, _ int) (maker, error) { made.Add(1); return &slow{r, take}, nil }
	o := options(func(o *measure.Options) { o.Count, o.RequestRate = 200, 2000 })
	end, err := runWith(within(t, 20*time.Second), Target{Addr: closedPort(t)}, o, nil, nil, with)
	if err != nil {
		t.Fatal(err)
	}
	if made.Load() < 2 || made.Load() > MostInFlight {
		t.Errorf("%d connectors, want more than the first", made.Load())
	}
	l := end.Latency
	if l.LateSends == 0 {
		t.Error("no attempt was late, though one connector made 20 of 2000 a second")
	}
	// The second attempt was due 0.5 ms after the first began and had to wait for its end.
	if most := time.Duration(l.Histogram.Max()); most < take+take/2 {
		t.Errorf("the longest took %s: the wait before it is not in it", most)
	}
	if l.Received != 200 {
		t.Errorf("%d connections", l.Received)
	}
}

func TestAScheduleIsKept(t *testing.T) {
	tier.SpendsSeconds(t)
	ways(t, func(t *testing.T, client makers, server acceptors) {
		o := options(func(o *measure.Options) { o.Duration, o.RequestRate = measure.Duration(400*time.Millisecond), 500 })
		l := listen(t, o, server)
		end, err := runWith(within(t, 20*time.Second), l.target(false), o, nil, nil, client)
		if err != nil {
			t.Fatal(err)
		}
		// A busy machine may begin the last ones too late to begin them at all.
		if n := end.Connect.Opened; n > 200 || n+end.Latency.LateSends < 200 {
			t.Errorf("%d connections, %d late and %+v failed, want 200 in all", n, end.Latency.LateSends, end.Connect.Failures)
		}
		if end.Connect.DurationNs < int64(o.Duration) {
			t.Errorf("the run took %d ns of %s", end.Connect.DurationNs, o.Duration)
		}
	})
}

func TestEveryAttemptThatWasDueIsCounted(t *testing.T) {
	// 20 attempts are due, each takes as long as half of the test: some are never begun.
	with := func(r *run, _ int) (maker, error) { return &slow{r, 5 * time.Millisecond}, nil }
	o := options(func(o *measure.Options) { o.Duration, o.RequestRate = measure.Duration(10*time.Millisecond), 2000 })
	for range 50 {
		end, err := runWith(within(t, 20*time.Second), Target{Addr: closedPort(t)}, o, nil, nil, with)
		if err != nil && measure.KindOf(err) != measure.KindUnreachable { // a busy machine may begin none in time
			t.Fatal(err)
		}
		if l := end.Latency; l.Received+l.LateSends < 20 || l.Received > 20 {
			t.Fatalf("%d connections and %d late, want 20 in all", l.Received, l.LateSends)
		}
	}
}

func TestSourcesTakeTurns(t *testing.T) {
	a, b := netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.3")
	for _, own := range []netip.Addr{a, b} {
		l, err := net.Listen("tcp", netip.AddrPortFrom(own, 0).String())
		if err != nil {
			t.Skip("not all of 127.0.0.0/8 is this host's: ", err)
		}
		_ = l.Close()
	}
	ways(t, func(t *testing.T, client makers, server acceptors) {
		o := options(func(o *measure.Options) {
			o.Count = 100
			measure.EditOwn(o, func(own *Options) { own.Sources = "127.0.0.2,127.0.0.3" })
		})
		l := listen(t, o, server, a)
		if _, err := runWith(within(t, 20*time.Second), l.target(false), o, nil, nil, client); err != nil {
			t.Fatal(err)
		}
		if got := l.stop(); *got.Accepted != 50 || got.ForeignConns != 50 {
			t.Errorf("%d from %s, %d from %s", *got.Accepted, a, got.ForeignConns, b)
		}
	})
}

func TestAnAddressThatIsNotThisHostsIsAUsageError(t *testing.T) {
	for _, client := range []makers{bestMaker, newNetMaker} {
		o := options(func(o *measure.Options) { o.Count, o.Bind = 1, "192.0.2.77" })
		_, err := runWith(within(t, 20*time.Second), Target{Addr: closedPort(t)}, o, nil, nil, client)
		if measure.KindOf(err) != measure.KindUsage {
			t.Errorf("error %v", err)
		}
	}
}

func TestImpossibleRunsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		to     string
		change func(*measure.Options)
	}{
		"no end":     {"127.0.0.1:1", func(o *measure.Options) { o.Duration = 0 }},
		"no port":    {"127.0.0.1:0", func(*measure.Options) {}},
		"no timeout": {"127.0.0.1:1", func(o *measure.Options) { o.ConnectTimeout = 0 }},
		"two kinds":  {"[::1]:1", func(o *measure.Options) { o.Bind = "127.0.0.1" }},
	} {
		o := option.Defaults(measure.TestConnect)
		c.change(&o)
		if _, err := Run(t.Context(), Target{Addr: netip.MustParseAddrPort(c.to)}, o, nil, nil); measure.KindOf(err) != measure.KindUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheFloorIsTakenOnLoopback(t *testing.T) {
	f, err := Floor(within(t, 20*time.Second), options(func(*measure.Options) {}))
	if err != nil {
		t.Fatal(err)
	}
	if f.RTT.Count < 10 || f.RTT.P50 <= 0 || f.Clock == "" || f.Timing.Call == "" {
		t.Errorf("floor %+v", f)
	}
}
