package sock

import (
	"testing"
	"time"
)

// The shortest round trips take some 10 µs, so a clock that moves in longer
// steps than that measures nothing.
func TestTheClockMovesInStepsShorterThanARoundTrip(t *testing.T) {
	shortest := time.Hour
	for range 1000 {
		begin := Now()
		now := Now()
		for now.Equal(begin) {
			now = Now()
		}
		if step := now.Sub(begin); step < 0 {
			t.Fatalf("the clock went back by %v", -step)
		} else if step < shortest {
			shortest = step
		}
	}
	if shortest > 10*time.Microsecond {
		t.Errorf("the clock moves in steps of %v", shortest)
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
	Now()
	if n := testing.AllocsPerRun(100, func() { Since(Now()) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
