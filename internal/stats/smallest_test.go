package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The smallest difference of a paired test is the one for which as many rounds are planned.
func TestTheSmallestDifferenceIsTheOneThatTheRoundsAreFor(t *testing.T) {
	const sd = 0.02
	for _, rounds := range []int{3, 6, 12, 30} {
		d := SmallestShown(sd/math.Sqrt(float64(rounds)), float64(rounds-1), 0.05)
		if n := RoundsForPower(d*1.0001, sd, 0.8, 0.05); n != rounds {
			t.Errorf("%v needs %d rounds, want %d", d, n, rounds)
		}
		if n := RoundsForPower(d*0.99, sd, 0.8, 0.05); n < rounds {
			t.Errorf("%v needs %d rounds, want %d or more", d*0.99, n, rounds)
		}
	}
	if d := SmallestShown(0.02, 0, 0.05); !math.IsInf(d, 1) {
		t.Errorf("%v without degrees of freedom", d)
	}
}

func TestNoiseIsWhatIsLeftWithoutPatternsAndRounds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	logs := make([][]float64, 20)
	drift := make([]float64, 40)
	for i := range drift {
		drift[i] = 0.3 * r.NormFloat64()
	}
	for i := range logs {
		for j := range drift {
			logs[i] = append(logs[i], float64(i)+drift[j]+0.02*r.NormFloat64())
		}
	}
	if n := Noise(logs); math.Abs(n-0.02) > 0.002 {
		t.Errorf("noise %v, want about 0.02", n)
	}
	if n := Noise([][]float64{{1, 1.02, 0.98}}); math.Abs(n-0.02) > 1e-12 {
		t.Errorf("noise of one pattern %v, want its standard deviation", n)
	}
	if n := Noise([][]float64{{1}, {2}}); !math.IsNaN(n) {
		t.Errorf("noise of one round %v", n)
	}
}
