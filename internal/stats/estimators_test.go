package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// The mean of the first pattern is the higher one, and so is the geometric mean of the second, which
// is what comparisons within rounds are of.
func TestOrderFigureAndReasonOfAPatternAreFromOneEstimator(t *testing.T) {
	twoModes := Group{Name: "two modes", Rounds: [][]float64{{200}, {50}, {200}, {50}, {200}, {50}}}
	steady := Group{Name: "steady", Rounds: [][]float64{{110}, {111}, {109}, {110}, {111}, {109}}}
	for _, higher := range []bool{true, false} {
		got := Rank([]Group{twoModes, steady}, higher, 0)
		ratio, _ := got[1].Reason.Number("difference_ratio")
		near(t, "ratio of the figures", got[1].Estimate/got[0].Estimate, 1+ratio, 1e-9)
		if (ratio < 0) != higher || (got[0].Name == "steady") != higher {
			t.Errorf("higher is better %v: %s is first, and the other differs by %v", higher, got[0].Name, ratio)
		}
	}
}

func TestEstimatesHaveTheRatiosOfComparisons(t *testing.T) {
	for seed := range uint64(100) {
		r := source(seed)
		var groups []Group
		for i := range 2 + r.IntN(8) {
			groups = append(groups, exponentials(simulated(r, fmt.Sprint(i), 5*r.Float64(), 1+70*r.Float64()*r.Float64(), 1, make([]float64, 2+int(seed%6)))))
		}
		got := Rank(groups, seed%2 == 0, 0)
		for i, k := range got {
			than := slices.IndexFunc(got, func(o Ranked) bool { return o.Name == k.Reason.Text("than") })
			if ratio, has := k.Reason.Number("difference_ratio"); has {
				near(t, "ratio", k.Estimate/got[than].Estimate, 1+ratio, 1e-9)
			}
			if i > 0 && k.Estimate > got[i-1].Estimate == (seed%2 == 0) {
				t.Errorf("seed %d: %v after %v", seed, k.Estimate, got[i-1].Estimate)
			}
		}
	}
}

// b lacks the slow rounds, and c has an outlier, which signed ranks count for little: the figures of b
// and d are the higher ones of their pairs.
func TestNoPatternIsBeforeOneThatIsShownToBeBetter(t *testing.T) {
	var a, b, c, d Group
	for i := range 12 {
		level := []float64{100, 60}[i%2] + float64(i%3)
		a.Rounds, c.Rounds, d.Rounds = append(a.Rounds, []float64{level}), append(c.Rounds, []float64{100 + float64(i%4)}), append(d.Rounds, []float64{97 + float64(i%4)*1.01 + float64(i%3)/10})
		if b.Rounds = append(b.Rounds, nil); i%2 == 0 {
			b.Rounds[i] = []float64{level * (0.9 + 0.001*float64(i%5))}
		}
	}
	c.Rounds[3] = []float64{40}
	a.Name, b.Name, c.Name, d.Name = "a", "b", "c", "d"
	for _, pair := range [][]Group{{a, b}, {c, d}} {
		got := Rank(pair, true, 0)
		low, _ := got[1].Reason.Number("high_ratio")
		if got[0].Name != pair[0].Name || got[1].Rank != 2 || !got[0].Best || got[1].Best || !(low < 0) || got[0].Estimate > got[1].Estimate {
			t.Errorf("%+v", got)
		}
		if _, ranks := got[1].Reason.Number("signed_ranks"); ranks != (pair[0].Name == "c") {
			t.Errorf("%s by signed ranks: %v", got[1].Name, ranks)
		}
	}
}

func TestTheOrderOfRoundsChangesNoDigitOfAnEstimate(t *testing.T) {
	for seed := range uint64(100) {
		r := source(seed)
		values := make([]float64, 6)
		for i := range values {
			values[i] = 1e6 * (1 + r.Float64())
		}
		want := EstimateOfRounds(values).Estimate
		r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		if got := EstimateOfRounds(values).Estimate; got != want {
			t.Errorf("seed %d: %v, in another order %v", seed, want, got)
		}
	}
}

func TestAnEstimateWithARoundOfZeroIsTheMean(t *testing.T) {
	got := Estimates([]Group{{Rounds: [][]float64{{0}, {300}}}, {Rounds: [][]float64{{100}, {400}}}, {}})
	if got[0].Estimate != 150 || got[1].Estimate != 250 || !math.IsNaN(got[2].Estimate) {
		t.Errorf("%+v", got)
	}
	if got := Estimates([]Group{{Rounds: [][]float64{{100}, {400}}}, {Rounds: [][]float64{{7}}}}); math.Abs(got[0].Estimate-200) > 1e-9 || got[1].Estimate != 7 || !math.IsNaN(got[1].Low) {
		t.Errorf("%+v", got)
	}
}
