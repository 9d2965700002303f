package agent

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheClockOfTheShortestRoundTripCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ahead = 3 * time.Second
		trips := []int{40, 20, 10, 30, 50, 60, 70, 80} // in milliseconds; the way back takes all of it
		began := time.Now()
		clock, err := CompareClocks(func() (int64, error) {
			at := time.Now().Add(ahead)
			time.Sleep(time.Duration(trips[0]) * time.Millisecond)
			trips = trips[1:]
			return at.UnixNano(), nil
		})
		if want := (Clock{ahead - 5*time.Millisecond, 5 * time.Millisecond, began.Add(65 * time.Millisecond)}); err != nil || clock != want || len(trips) > 0 {
			t.Errorf("%+v, %v", clock, err)
		}
		gone := errors.New("gone")
		if _, err := CompareClocks(func() (int64, error) { return 0, gone }); !errors.Is(err, gone) {
			t.Error(err)
		}
	})
}

// A clock that is 50 ms ahead and gains 20 ms a minute is compared at both ends of a minute.
func TestAnInstantOfAnotherClockIsFoundThroughItsDrift(t *testing.T) {
	began := time.Now()
	other := func(after time.Duration) int64 {
		return began.Add(50*time.Millisecond + after + after/3000).UnixNano()
	}
	compared := func(after, within time.Duration) Clock {
		at := began.Add(after)
		return Clock{time.Unix(0, other(after)).Sub(at.Round(0)), within, at}
	}
	before, after := compared(0, time.Millisecond), compared(time.Minute, 3*time.Millisecond)
	if got := before.There(began.Add(time.Second)); got != began.Add(time.Second+50*time.Millisecond).UnixNano() {
		t.Error(got)
	}
	for passed, within := range map[time.Duration]time.Duration{0: time.Millisecond, 30 * time.Second: 2 * time.Millisecond, time.Minute: 3 * time.Millisecond} {
		at, uncertainty := before.Here(after, other(passed))
		// The share of the time is that of the other clock.
		if off := at.Sub(began.Add(passed)); off.Abs() > 10*time.Microsecond || (uncertainty-within).Abs() > 10*time.Microsecond {
			t.Errorf("%s: %s off, ± %s", passed, off, uncertainty)
		}
	}
	at, uncertainty := before.Here(Clock{}, other(30*time.Second))
	if off := at.Sub(began.Add(30 * time.Second)); off != 10*time.Millisecond || uncertainty < time.Millisecond || uncertainty > 5*time.Millisecond {
		t.Errorf("without the second comparison %s off, ± %s", off, uncertainty)
	}
	after.Offset += time.Hour // it was set: when is not known
	if _, uncertainty := before.Here(after, other(time.Second)); uncertainty < time.Hour {
		t.Errorf("a clock that was set is trusted within %s", uncertainty)
	}
}

// The order and the report took 40 ms each; the clocks are known within 1 ms.
func TestAStartIsTakenFromTheStampOnlyWhereThatIsPossible(t *testing.T) {
	ordered := time.Now()
	clock := Clock{Offset: time.Minute, Uncertainty: time.Millisecond, At: ordered}
	known := Start{Ordered: ordered, Reported: ordered.Add(80 * time.Millisecond), Before: clock, After: clock}
	known.After.At = ordered.Add(time.Second)
	for stamp, want := range map[time.Duration]struct{ at, within time.Duration }{
		10 * time.Millisecond: {10 * time.Millisecond, time.Millisecond},
		0:                     {0, time.Millisecond},
		-time.Millisecond:     {0, time.Millisecond},
		-time.Hour:            {40 * time.Millisecond, 40 * time.Millisecond},
		time.Hour:             {40 * time.Millisecond, 40 * time.Millisecond},
	} {
		known.UnixNs = ordered.Add(time.Minute + stamp).UnixNano()
		at, within := known.At()
		if off := at.Sub(ordered.Add(want.at)); off.Abs() > time.Microsecond || (within-want.within).Abs() > 10*time.Microsecond {
			t.Errorf("stamp of %s: %s ± %s", stamp, at.Sub(ordered), within)
		}
	}
}
