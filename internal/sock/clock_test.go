package sock

import (
	"slices"
	"testing"
	"time"
)

// The shortest round trips take some 10 µs, so a clock that moves in longer
// steps than that measures nothing.
func TestTheClockMovesInStepsShorterThanARoundTrip(t *testing.T) {
	steps := make([]time.Duration, 101)
	for i := range steps {
		begin := Now()
		now := Now()
		for now.Equal(begin) {
			now = Now()
		}
		steps[i] = now.Sub(begin)
	}
	slices.Sort(steps)
	if median := steps[len(steps)/2]; median < 0 || median > 10*time.Microsecond {
		t.Errorf("the clock moves in steps of %v", median)
	}
}

// Deadlines of package net are on the runtime's clock.
func TestTheClockAgreesWithTheRuntimes(t *testing.T) {
	const coarsest = 20 * time.Millisecond
	for range 1000 {
		before, now, after := time.Now(), Now(), time.Now()
		if now.Before(before.Add(-coarsest)) || now.After(after.Add(coarsest)) {
			t.Fatalf("%v is not between %v and %v", now, before, after)
		}
	}
}

func TestReadingTheClockDoesNotAllocate(t *testing.T) {
	_ = Now() // the first makes the clock
	if n := testing.AllocsPerRun(100, func() { Since(Now()) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
