package latency

import (
	"context"
	"net"
	"runtime"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock/longcall"
	"soku/test/tier"
)

// trialOver runs a whole trial over n connections and returns the client's half
// and how the echo did it.
func trialOver(t *testing.T, n int, o measure.Options) (*measure.Latency, measure.Timing) {
	t.Helper()
	var near, far []net.Conn
	for range n {
		a, b := sockets(t, OptionsOf(o).Protocol)
		near, far = append(near, a), append(far, b)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done, timing := make(chan error, 1), measure.Timing{}
	go func() {
		var err error
		timing, err = Echo(ctx, far, o, engine.Flow{}, nil)
		done <- err
	}()
	l, err := Run(t.Context(), near, o, engine.Flow{})
	cancel()
	if echoErr := <-done; err != nil || echoErr != nil {
		t.Fatalf("%+v, %v; echo: %v", l, err, echoErr)
	}
	return l, timing
}

// forEachWay runs f with and without spinning, for each protocol.
func forEachWay(t *testing.T, f func(t *testing.T, o measure.Options)) {
	for _, protocol := range []string{"tcp", "udp"} {
		for _, spin := range []string{"on", "off"} {
			t.Run(protocol+" spin "+spin, func(t *testing.T) {
				o := options(protocol)
				measure.EditOwn(&o, func(own *Options) { own.Spin = spin })
				f(t, o)
			})
		}
	}
}

func TestFlowsTakeTurnsAndHaveTheirOwnFigures(t *testing.T) {
	tier.SpendsSeconds(t)
	forEachWay(t, func(t *testing.T, o measure.Options) {
		l, _ := trialOver(t, 5, o)
		if l.Received != 100 || len(l.Flows) != 5 {
			t.Fatalf("%d replies, %d flows", l.Received, len(l.Flows))
		}
		seen := map[string]bool{}
		for i, f := range l.Flows {
			if f.Index != i || f.RTT.Count != 20 || f.RTT.P50 <= 0 || seen[f.Local] || f.Remote == "" {
				t.Errorf("flow %d: %+v", i, f)
			}
			seen[f.Local] = true
		}
	})
}

func TestASlowFlowIsSlowInItsOwnFiguresOnly(t *testing.T) {
	for name, open := range linkers() {
		const slow = 4 * time.Millisecond
		var conns []net.Conn
		o := options("tcp")
		o.Count = 60
		for i := range 3 {
			near, far := sockets(t, "tcp")
			conns = append(conns, near)
			answering(t, far, int(o.Size), func(_ int, m []byte) [][]byte {
				if i == 1 {
					time.Sleep(slow)
				}
				return [][]byte{replyTo(m)}
			})
		}
		l, err := run(t.Context(), conns, o, engine.Flow{}, open)
		if err != nil || len(l.Flows) != 3 {
			t.Fatalf("%s: %+v, %v", name, l, err)
		}
		if l.Flows[1].RTT.P50 < float64(slow) || l.Flows[0].RTT.P50 >= float64(slow) || l.Flows[2].RTT.P50 >= float64(slow) {
			t.Errorf("%s: only the second flow waits %v: %+v", name, slow, l.Flows)
		}
	}
}

func TestBothEndsSpinWhenAskedAndSaySo(t *testing.T) {
	tier.SpendsSeconds(t)
	tier.NeedsBuild(t, longcall.Available, stampingLoops)
	forEachWay(t, func(t *testing.T, o measure.Options) {
		for _, rate := range []float64{0, 2000} {
			o.RequestRate = rate
			l, echo := trialOver(t, 1, o)
			for _, timing := range []measure.Timing{*l.Timing, echo} {
				if timing.Spins() != (OptionsOf(o).Spin == "on") {
					t.Errorf("rate %v, spin %s: %+v", rate, OptionsOf(o).Spin, timing)
				}
			}
		}
	})
	if loops.Load() != 0 {
		t.Errorf("%d places were not given back", loops.Load())
	}
}

func TestNoMoreLoopsSpinThanThereAreProcessors(t *testing.T) {
	var leaves []func()
	most := max(runtime.NumCPU(), 2)
	for range most {
		ok, leave := maySpin("on")
		if !ok {
			t.Fatalf("the %dth of %d may not spin", len(leaves)+1, most)
		}
		leaves = append(leaves, leave)
	}
	for _, option := range []string{"on", "auto", "off"} {
		if ok, leave := maySpin(option); ok {
			leave()
			t.Errorf("spin %s: one more may spin", option)
		}
	}
	for _, leave := range leaves {
		leave()
	}
	if ok, leave := maySpin("off"); ok || loops.Load() != 0 {
		leave()
		t.Errorf("off spins; %d places are taken", loops.Load())
	}
}

func TestTheProgramsRoundTripHasTheWakingUpInIt(t *testing.T) {
	tier.SpendsSeconds(t)
	forEachWay(t, func(t *testing.T, o measure.Options) {
		o.Count = 1000
		l, _ := trialOver(t, 1, o)
		if l.Application.Count() != l.Histogram.Count() || l.Application.Mean() < l.Histogram.Mean() {
			t.Errorf("mean to the kernel %.0f of %d, to the program %.0f of %d", l.Histogram.Mean(), l.Histogram.Count(), l.Application.Mean(), l.Application.Count())
		}
	})
}

func TestOneWayDelaysAddUpToTheRoundTrip(t *testing.T) {
	tier.SpendsSeconds(t)
	forEachWay(t, func(t *testing.T, o measure.Options) {
		o.Count = 500
		measure.EditOwn(&o, func(own *Options) { own.OneWay = true })
		l, _ := trialOver(t, 1, o)
		w := l.OneWay
		if w == nil || w.Exchanges != 500 || w.ClockErrorNs < 1 || float64(w.ClockErrorNs) > l.Application.Percentiles().P50 {
			t.Fatalf("%+v", w)
		}
		// What one way gains the other loses; the time inside the echo, which is most
		// of it where the echo has to wake up, is in neither.
		least := 0.0
		if OptionsOf(o).Spin == "on" && longcall.Available {
			least = 0.3
		}
		up, down, rtt := float64(w.Up.Percentile(50)), float64(w.Down.Percentile(50)), float64(l.Histogram.Percentile(50))
		if sum := up + down; sum > 1.1*rtt || sum <= least*rtt {
			t.Errorf("up %.0f and down %.0f of a round trip of %.0f", up, down, rtt)
		}
	})
}

func TestHowWellTheScheduleWasKeptIsInTheResult(t *testing.T) {
	forEachWay(t, func(t *testing.T, o measure.Options) {
		for _, process := range []string{"fixed", "poisson"} {
			o.RequestRate = 2000
			measure.EditOwn(&o, func(own *Options) { own.Arrivals = process })
			l, _ := trialOver(t, 1, o)
			a := l.Arrivals
			if a == nil || a.Process != process || a.SendError.Count() != l.Sent || a.SendErrorNs.Max <= 0 || (a.Seed != 0) != (process == "poisson") {
				t.Errorf("%s: %+v", process, a)
			}
		}
	})
}

// TestCollectionsDoNotWaitForLoops: a loop that waits in the kernel must not hold
// the rest of the program up.
func TestCollectionsDoNotWaitForLoops(t *testing.T) {
	tier.NeedsQuiet(t)
	const n = 16
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, n)
	for range n {
		_, far := sockets(t, "udp")
		go func() {
			_, err := Echo(ctx, []net.Conn{far}, options("udp"), engine.Flow{}, nil)
			done <- err
		}()
	}
	const collections = 10
	start := time.Now()
	for range collections {
		runtime.GC()
	}
	if took := time.Since(start); took > collections*maxTick/2 {
		t.Errorf("%d collections took %v beside %d loops that wait", collections, took, n)
	}
	cancel()
	for range n {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
