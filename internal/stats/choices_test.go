package stats

import (
	"math"
	"slices"
	"testing"

	"soku/test/tier"
)

func alike(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(b)) }

func TestOnePairOfChoicesIsDecidedByThePairedTestAndEquivalence(t *testing.T) {
	tier.SpendsSeconds(t)
	for seed := range uint64(300) {
		r := source(seed)
		var a, b []float64
		effect := []float64{0, 0.005, 0.05, -0.05}[seed%4]
		for range 6 + seed%8 {
			round := 0.2 * r.NormFloat64()
			a = append(a, math.Exp(effect+round+0.01*r.NormFloat64()))
			b = append(b, math.Exp(round+0.01*r.NormFloat64()))
		}
		d := pairwise(Group{}, Group{}, groupOf(a...).means().logs, groupOf(b...).means().logs)
		of, want, p := oneLook(d, 0.95)
		same := Looks{}.sameP(of.estimate, 0.02)
		_, wantAlike := LagOne(d)
		decision := NotShown
		switch {
		case same <= 0.05:
			decision = Same
		case want.Low > 0:
			decision = Better
		case want.High < 0:
			decision = Worse
		}
		got := CompareChoices([]ChoicePair{{groupOf(a...), groupOf(b...)}}, true, 0.02)[0]
		if got.Decision != decision || !alike(got.P, p) || got.Adjusted != got.P || !alike(got.SameP, same) || got.Rounds != want.Rounds || got.Apart || got.Alike != wantAlike {
			t.Fatalf("seed %d: %+v, want %s, %+v, %g", seed, got, decision, want, same)
		}
		if !alike(math.Log(got.Ratio), want.Difference) || !alike(math.Log(got.Low), want.Low) || !alike(math.Log(got.High), want.High) {
			t.Fatalf("seed %d: ratio %v (%v to %v), want the logarithms %v (%v to %v)", seed, got.Ratio, got.Low, got.High, want.Difference, want.Low, want.High)
		}
		if further := furtherPaired(d, 0.02, 0.05); got.Decision != NotShown && got.Further() != (FurtherRounds{}) || got.Decision == NotShown && got.Further() != further {
			t.Fatalf("seed %d, %s: further rounds %+v, of a pair %+v", seed, got.Decision, got.Further(), further)
		}
	}
}

func TestLessIsBetterOfATime(t *testing.T) {
	slow, fast := groupOf(20, 21, 20, 20.5, 20.1, 20), groupOf(10, 10.2, 10.1, 10, 10.1, 10)
	for _, c := range []struct {
		pair   ChoicePair
		higher bool
		want   Decision
	}{{ChoicePair{slow, fast}, false, Worse}, {ChoicePair{fast, slow}, false, Better}, {ChoicePair{slow, fast}, true, Better}, {ChoicePair{fast, slow}, true, Worse}} {
		if got := CompareChoices([]ChoicePair{c.pair}, c.higher, 0.02)[0].Decision; got != c.want {
			t.Errorf("higher is better %v: %s, want %s", c.higher, got, c.want)
		}
	}
}

func TestChoicesOfDifferentSessionsAreComparedUnpaired(t *testing.T) {
	a, b := groupOf(110, 112, 109, 111, 110, 112).inSession(1), groupOf(100, 101, 99, 100, 102, 101, 100).inSession(2)
	got := CompareChoices([]ChoicePair{{a, b}}, true, 0.02)[0]
	want := Compare(a, b, confidence)
	if got.Rounds != 0 || !got.Apart || !alike(got.Ratio, 1+want.Difference) || !alike(got.Low, 1+want.Low) || !alike(got.High, 1+want.High) || got.Decision != Better {
		t.Errorf("%+v, want %+v", got, want)
	}
	// Welch's formula, written out.
	la, lb := a.means().logs, b.means().logs
	va, vb := square(StdDev(la))/6, square(StdDev(lb))/7
	df := square(va+vb) / (va*va/5 + vb*vb/6)
	if p := studentP((Mean(la)-Mean(lb))/math.Sqrt(va+vb), df); !alike(got.P, p) {
		t.Errorf("p is %v, want %v", got.P, p)
	}
}

func TestAllThatIsShownOfManyChoicesHoldsTogether(t *testing.T) {
	groups := []Group{groupOf(100, 103, 99, 101, 100, 102), groupOf(104, 106, 104, 103, 106, 106), groupOf(101, 103, 102, 101, 104, 102)}
	logs := make([][]float64, len(groups))
	for i, g := range groups {
		logs[i] = g.means().logs
	}
	want := ComparePatterns(logs, 0.05).Pairs
	got := CompareChoices([]ChoicePair{{groups[0], groups[1]}, {groups[0], groups[2]}, {groups[1], groups[2]}}, true, 0.001)
	for i, w := range want {
		g := got[i]
		if !alike(g.P, w.P) || !alike(g.Adjusted, w.Adjusted) || !alike(math.Log(g.Ratio), w.Difference) || (g.Decision != NotShown) != (w.Adjusted <= 0.05) {
			t.Errorf("pair %d: %+v, want %+v", i, g, w)
		}
		if (g.Low > 1 || g.High < 1) != (w.Low > 0 || w.High < 0) {
			t.Errorf("pair %d: %v to %v, want the logarithms %v to %v", i, g.Low, g.High, w.Low, w.High)
		}
		if g.Decision != NotShown && (g.Low < 1 && g.High > 1) {
			t.Errorf("pair %d: %s with the interval %v to %v", i, g.Decision, g.Low, g.High)
		}
	}
	// A pair that cannot be tested costs the others nothing.
	one := CompareChoices([]ChoicePair{{groups[0], groups[1]}, {groupOf(1), groupOf(2)}}, true, 0.02)
	alone := CompareChoices([]ChoicePair{{groups[0], groups[1]}}, true, 0.02)
	if one[0].Adjusted != alone[0].Adjusted || one[0].Low != alone[0].Low || one[1].Untested != OneRound || one[1].Decision != NotShown || one[1].Further != nil || one[1].Ratio != 0.5 || !math.IsNaN(one[1].P) || !math.IsNaN(one[1].Low) {
		t.Errorf("%+v, alone %+v", one, alone)
	}
}

func TestChoicesWithoutARatioAreNotTested(t *testing.T) {
	got := CompareChoices([]ChoicePair{{groupOf(0, 1, 2), groupOf(1, 1, 1)}}, true, 0.02)[0]
	if got.Untested != NoRatio || got.Decision != NotShown || !math.IsNaN(got.Ratio) || got.Further != nil {
		t.Errorf("%+v", got)
	}
}

func TestChoicesThatDoNotVary(t *testing.T) {
	mtu, same, other := groupOf(slices.Repeat([]float64{1500}, 6)...), groupOf(slices.Repeat([]float64{1500}, 6)...), groupOf(slices.Repeat([]float64{1400}, 6)...)
	for name, apart := range map[string]bool{"paired": false, "unpaired": true} {
		a, b, c := mtu, same, other
		if apart {
			a, b, c = a.inSession(1), b.inSession(2), c.inSession(2)
		}
		got := CompareChoices([]ChoicePair{{a, b}}, true, 0.02)[0]
		if got.Decision != Same || got.P != 1 || got.Ratio != 1 || got.Low != 1 || got.High != 1 {
			t.Errorf("%s, equal: %+v", name, got)
		}
		got = CompareChoices([]ChoicePair{{a, c}}, true, 0.02)[0]
		if got.Decision != Better || got.P != 0 {
			t.Errorf("%s, 1500 and 1400: %+v", name, got)
		}
	}
}

// The planned power is that of the comparison as it is made.
func TestFurtherRoundsOfUnpairedChoicesShowTheDifference(t *testing.T) {
	a, b := []float64{0, 0.03, -0.03, 0.01, -0.01}, []float64{0, 0.05, -0.05, 0.02}
	further := furtherUnpaired(a, b, 0.05, 0.05)
	if further.Likely <= 0 || further.Least > further.Likely || further.Most < further.Likely {
		t.Fatalf("%+v", further)
	}
	shown := 0
	const campaigns = 2000
	for seed := range uint64(campaigns) {
		r := source(seed)
		draw := func(mean, sd float64, n int) (g Group) {
			for range n {
				g.Rounds = append(g.Rounds, []float64{math.Exp(mean + sd*r.NormFloat64())})
			}
			return g
		}
		p := ChoicePair{draw(math.Log1p(0.05), StdDev(a), len(a)+further.Likely).inSession(1), draw(0, StdDev(b), len(b)+further.Likely).inSession(2)}
		if CompareChoices([]ChoicePair{p}, true, 0.001)[0].Decision == Better {
			shown++
		}
	}
	if power := float64(shown) / campaigns; power < 0.77 || power > 0.87 {
		t.Errorf("%d more rounds show 5 %% in %.1f %% of campaigns, want 80 %%", further.Likely, 100*power)
	}
	if got := furtherUnpaired([]float64{-3, 3}, []float64{-3, 3}, 0.01, 0.05); got.Likely != -1 || got.Most != -1 {
		t.Errorf("more than 1000 rounds: %+v", got)
	}
}

func TestUnpairedChoicesMakeNoFalseAlarms(t *testing.T) {
	tier.SpendsSeconds(t)
	simulate(t, falseOfTwo, "7 and 6 rounds of different runs, unpaired", 2000, func(seed uint64) bool {
		r := source(seed)
		var a, b Group
		for range 7 {
			a.Rounds = append(a.Rounds, []float64{math.Exp(0.05 * r.NormFloat64())})
		}
		for range 6 {
			b.Rounds = append(b.Rounds, []float64{math.Exp(0.05 * r.NormFloat64())})
		}
		d := CompareChoices([]ChoicePair{{a.inSession(1), b.inSession(2)}}, true, 0.001)[0].Decision
		return d == Better || d == Worse
	}).atMost(0.05)
}
