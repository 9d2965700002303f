package stats

import (
	"math"
	"testing"
)

// overallPairs are patterns with a value a round of A and of B, in sessions of their own if they are apart.
func overallPairs(a, b [][]float64, apart bool) (out []ChoicePair) {
	group := func(values []float64, session int) (g Group) {
		for _, v := range values {
			var round []float64
			if v != 0 {
				round = []float64{v}
			}
			g.Rounds, g.Sessions = append(g.Rounds, round), append(g.Sessions, []int{session})
		}
		return g
	}
	for i := range a {
		session := 0
		if apart {
			session = 1
		}
		out = append(out, ChoicePair{A: group(a[i], session), B: group(b[i], 0)})
	}
	return out
}

func wantOverall(t *testing.T, what string, got OverallComparison, ratio, low, high float64, rounds int) {
	t.Helper()
	for _, v := range [][2]float64{{got.Ratio, ratio}, {got.Low, low}, {got.High, high}} {
		if !(math.Abs(v[0]-v[1]) < 1e-9) && !(math.IsNaN(v[0]) && math.IsNaN(v[1])) {
			t.Errorf("%s: %+v, want %v (%v to %v)", what, got, ratio, low, high)
			break
		}
	}
	if got.Rounds != rounds {
		t.Errorf("%s: %+v, want %d rounds", what, got, rounds)
	}
}

// The values were worked out by hand: t of 2 degrees of freedom is 4.30265, of 3 it is 3.18245.
func TestTheOverallRatioIsTheGeometricMeanWithRoundsAsBlocks(t *testing.T) {
	a, b := [][]float64{{120, 130, 112}, {210, 204, 209}}, [][]float64{{100, 110, 90}, {200, 190, 205}}
	wantOverall(t, "paired rounds", Looks{}.CompareOverall(overallPairs(a, b, false), 0.95), 1.1251081902950537, 1.1194978304276342, 1.1307466664633596, 3)

	lost := [][]float64{{120, 130, 112, 900}, {210, 204, 209, 0}}
	wantOverall(t, "a round without a pattern", Looks{}.CompareOverall(overallPairs(lost, [][]float64{{100, 110, 90, 100}, {200, 190, 205, 100}}, false), 0.95), 1.1251081902950537, 1.1194978304276342, 1.1307466664633596, 3)

	zero := append([][]float64{{-1, -1, -1}}, a...)
	if got := (Looks{}).CompareOverall(overallPairs(zero, append([][]float64{{1, 1, 1}}, b...), false), 0.95); got.Patterns != 2 {
		t.Errorf("a pattern without a ratio counts: %+v", got)
	}

	// Campaigns of different sessions: Welch's t with a standard error of 0.02571735547770919 and
	// 3.999768 degrees of freedom, of which t is 2.77649.
	got := Looks{}.CompareOverall(overallPairs(a, b, true), 0.95)
	half := 2.7764877 * 0.02571735547770919
	if got.Rounds != 3 || math.Abs(got.Low-math.Exp(0.11787920018358555-half)) > 1e-5 || math.Abs(got.High-math.Exp(0.11787920018358555+half)) > 1e-5 {
		t.Errorf("different sessions: %+v", got)
	}
}

func TestPatternsAreTheBlocksWithoutRounds(t *testing.T) {
	a, b := [][]float64{{1.1}, {1.3}, {1.25}, {1.05}}, [][]float64{{1}, {1}, {1}, {1}}
	got := Looks{}.CompareOverall(overallPairs(a, b, false), 0.95)
	wantOverall(t, "patterns", got, 1.1704660934354425, 0.9956823765485084, 1.3759316305577711, 0)
	if got.Enough || got.Shown() {
		t.Errorf("four patterns decide: %+v", got)
	}
	nan := math.NaN()
	wantOverall(t, "two patterns", Looks{}.CompareOverall(overallPairs(a[:2], b[:2], false), 0.95), math.Sqrt(1.1*1.3), nan, nan, 0)
	wantOverall(t, "looks without a maximum", LooksUpTo(0).CompareOverall(overallPairs(a, b, false), 0.95), 1.1704660934354425, nan, nan, 0)
	wantOverall(t, "no pattern", Looks{}.CompareOverall(nil, 0.95), nan, nan, nan, 0)
}

func TestRoundsOfSeveralSessionsAreBlocksOnlyIfOneMeasuredAllPatterns(t *testing.T) {
	pairs := overallPairs([][]float64{{12, 13, 14}, {12, 13, 14}}, [][]float64{{10, 11, 12}, {10, 11, 12}}, false)
	pairs[1].A.Sessions, pairs[1].B.Sessions = [][]int{{0}, {0}, {1}}, [][]int{{0}, {0}, {1}}
	if got := (Looks{}).CompareOverall(pairs, 0.95); got.Rounds != 0 {
		t.Errorf("the third round is no block: %+v", got)
	}
}
