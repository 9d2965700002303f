package requests

import (
	"math"
	"testing"
)

func TestRandomArrivalsRepeatWithTheirSeed(t *testing.T) {
	a := newArrivals("poisson", 0, 1e6)
	b := newArrivals("poisson", a.seed, 1e6)
	other := newArrivals("poisson", a.seed+1, 1e6)
	const n = 20_000
	var last, different int64
	var squares float64
	for range n {
		at := a.next()
		if at != b.next() {
			t.Fatal("the same seed gives another schedule")
		}
		if at != other.next() {
			different++
		}
		gap := float64(at-last) / 1e6
		squares += gap * gap / n
		last = at
	}
	if mean := float64(last) / n / 1e6; math.Abs(mean-1) > 0.05 || math.Abs(squares-2) > 0.2 {
		t.Errorf("mean gap %.3f of the asked, mean square %.3f; want 1 and 2", mean, squares)
	}
	if different < n/2 {
		t.Error("another seed gives the same schedule")
	}
}
