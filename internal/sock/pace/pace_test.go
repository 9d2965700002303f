package pace

import (
	"testing"
	"time"
)

// simulate runs s on an invented clock: each unit costs cost, each wait takes
// at least overshoot longer than asked. It returns the units sent and the
// largest number handed out by one call.
func simulate(s *Schedule, from time.Time, run, cost, overshoot time.Duration) (sent, burst int64) {
	for now := from; now.Before(from.Add(run)); {
		n, wait := s.Take(now)
		sent += n
		burst = max(burst, n)
		if n == 0 {
			if wait <= 0 {
				panic("nothing to send and nothing to wait for")
			}
			now = now.Add(wait + overshoot)
		} else {
			now = now.Add(time.Duration(n) * cost)
		}
	}
	return sent, burst
}

func TestTheRateIsExactWhateverTheSleepsOvershoot(t *testing.T) {
	start := time.Now()
	for _, rate := range []float64{8e3, 10e6, 1e9, 10e9} {
		for _, overshoot := range []time.Duration{0, 60 * time.Microsecond, 4 * time.Millisecond} {
			s := NewSchedule(start, 1250, rate, CoarseBurst)
			sent, _ := simulate(s, start, time.Second, 10*time.Nanosecond, overshoot)
			want := rate / 8 / 1250
			// What one wait holds may be outstanding at the end.
			slack := 2 + 3*overshoot.Seconds()*rate/8/1250
			if d := want - float64(sent); d > slack || d < -1 {
				t.Errorf("rate %.0f, overshoot %v: sent %d units in 1 s, want %.0f", rate, overshoot, sent, want)
			}
		}
	}
}

func TestLateUnitsComeAtMostAtTwiceTheRate(t *testing.T) {
	start := time.Now()
	s := NewSchedule(start, 1250, 100e6, FineBurst) // 10 000 units a second
	simulate(s, start, time.Second, 0, 0)
	after := start.Add(3 * time.Second) // the host stood still for 2 s
	sent, burst := simulate(s, after, time.Second, 0, 50*time.Microsecond)
	if sent > 20_100 {
		t.Errorf("sent %d units in the second after a pause, want at most 20000", sent)
	}
	if sent < 15_000 {
		t.Errorf("sent only %d units in the second after a pause, want close to 20000", sent)
	}
	if burst > 50 {
		t.Errorf("a burst of %d units, want at most 5 ms of schedule (50)", burst)
	}
}

func TestASenderSlowerThanTheRateNeverWaits(t *testing.T) {
	start := time.Now()
	s := NewSchedule(start, 1250, 1e9, FineBurst) // a unit each 10 µs; sending one takes 15 µs
	sent, _ := simulate(s, start, time.Second, 15*time.Microsecond, 100*time.Microsecond)
	if sent < 66_000 {
		t.Errorf("sent %d units, want the 66666 that can be sent", sent)
	}
}

func TestWaitEndsWhenStopped(t *testing.T) {
	stop := make(chan struct{})
	w := NewWaiter(stop)
	if !w.WaitFine(time.Microsecond) || !w.Wait(time.Microsecond) {
		t.Fatal("a wait ended as stopped before the stop")
	}
	go close(stop)
	if w.Wait(time.Hour) {
		t.Error("Wait went on after the stop")
	}
	if w.WaitFine(time.Hour) || w.WaitFine(time.Microsecond) {
		t.Error("WaitFine went on after the stop")
	}
}

func TestNextWaitsForItsUnitsButNotPastTheStop(t *testing.T) {
	start := time.Now()
	now := start
	clock := func() time.Time { return now }
	wait := func(d time.Duration) bool { now = now.Add(d); return true }
	s := NewSchedule(start, 1250, 1e6, FineBurst) // a unit every 10 ms
	stop := start.Add(95 * time.Millisecond)
	var at []time.Duration
	for s.Next(clock, stop, wait) > 0 {
		at = append(at, now.Sub(start).Truncate(time.Millisecond))
	}
	if len(at) != 10 || at[0] != 0 || at[9] != 90*time.Millisecond {
		t.Errorf("units at %v, want one every 10 ms from 0 to 90 ms", at)
	}
	if !now.Equal(stop) {
		t.Errorf("the last wait ended %v after the start, want it to end with the stop at 95 ms", now.Sub(start))
	}
	if n := s.Next(clock, time.Time{}, func(time.Duration) bool { return false }); n != 0 {
		t.Errorf("%d units after a wait that was ended early, want 0", n)
	}
	waiter := NewWaiter(nil)
	late := NewSchedule(start, 1, 8e9, FineBurst)
	if n := testing.AllocsPerRun(100, func() { late.Next(clock, stop, waiter.WaitFine) }); n != 0 {
		t.Errorf("%v allocations a call", n)
	}
}

func TestALateStartIsMadeUpForWithoutABurst(t *testing.T) {
	start := time.Now()
	s := NewSchedule(start, 1250, 100e6, FineBurst) // 10 000 units a second
	ready := start.Add(100 * time.Millisecond)
	s.Ready(ready)
	if n, _ := s.Take(ready); n != 1 {
		t.Errorf("%d units at once", n)
	}
	sent, burst := simulate(s, ready, 400*time.Millisecond, 0, 50*time.Microsecond)
	if sent < 4990 || sent > 5000 || burst > 5 {
		t.Errorf("%d units of 5000 by the end, %d of them at once", sent, burst)
	}
}
