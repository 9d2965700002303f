package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
)

// tableVectors is testdata/vectors/tables.json: R is from R 4.2.2, the rest from a
// reference implementation.
type tableVectors struct {
	About, Tolerance json.RawMessage
	Cases            []struct {
		Name string
		Logs [][]float64
		R    struct {
			ResidualMS float64   `json:"residual_ms"`
			ResidualDF float64   `json:"residual_df"`
			P          []float64 `json:"paired_t_p"`
			Holm       []float64 `json:"paired_t_holm"`
			ModD0      number    `json:"mod_d0"`
			ModS0      float64   `json:"mod_s0"`
			ModR       float64   `json:"mod_r"`
			ModDF      float64   `json:"mod_df"`
			ModP       []float64 `json:"mod_p"`
			ModHolm    []float64 `json:"mod_holm"`
			// Not computed: no rule for pairs of patterns uses an F test, ranks of rounds or
			// Tukey's test.
			F          json.RawMessage `json:"anova_F_pattern"`
			FP         json.RawMessage `json:"anova_p_pattern"`
			Friedman   json.RawMessage `json:"friedman_chi2"`
			FriedmanP  json.RawMessage `json:"friedman_p"`
			TukeyPairs json.RawMessage `json:"tukey"`
		}
		Rule struct {
			DF, R, S0  float64
			D0         number
			Pairs      [][2]int
			Difference []float64
			SE, P      []float64
			Holm       []float64 `json:"p_holm"`
			Low        []float64 `json:"low_bonferroni"`
			High       []float64 `json:"high_bonferroni"`
			RankLow    []int     `json:"rank_low"`
			RankHigh   []int     `json:"rank_high"`
			Best       []int     `json:"best_set"`
			Letters    []string
		}
	}
}

func tables(t *testing.T) tableVectors {
	var file tableVectors
	decodeVectors(t, "tables.json", &file)
	return file
}

func TestPatternsAreComparedAsInTheReference(t *testing.T) {
	moderated := 0
	for _, c := range tables(t).Cases {
		if len(c.Logs[0]) < moderatedRounds {
			continue
		}
		got := ComparePatterns(c.Logs, 0.05)
		if len(got.Pairs) != len(c.Rule.Pairs) {
			t.Fatalf("%s: %d pairs", c.Name, len(got.Pairs))
		}
		for i, p := range got.Pairs {
			what := fmt.Sprintf("%s, %d and %d: ", c.Name, p.A, p.B)
			if [2]int{p.A, p.B} != c.Rule.Pairs[i] || p.Rounds != len(c.Logs[0]) {
				t.Errorf("%s%d rounds, want pair %v", what, p.Rounds, c.Rule.Pairs[i])
			}
			agree(t, what+"difference", p.Difference, c.Rule.Difference[i], 1e-9)
			agree(t, what+"SE", p.SE, c.Rule.SE[i], 1e-8)
			agree(t, what+"DF", p.DF, c.Rule.DF, 1e-8)
			agree(t, what+"p", p.P, c.Rule.P[i], 1e-7)
			agree(t, what+"adjusted", p.Adjusted, c.Rule.Holm[i], 1e-7)
			agree(t, what+"low", p.Low, c.Rule.Low[i], 1e-7)
			agree(t, what+"high", p.High, c.Rule.High[i], 1e-7)
		}
		if got.Moderated {
			moderated++
			agree(t, c.Name+": autocorrelation", got.Autocorrelation, c.Rule.R, 1e-8)
			agree(t, c.Name+": prior variance", got.PriorVariance, c.Rule.S0, 1e-8)
			if c.R.ModD0 != number(math.Inf(1)) {
				agree(t, c.Name+": prior DF", got.PriorDF, float64(c.Rule.D0), 1e-7)
			}
		}
		var ranks []RankRange
		for i := range c.Rule.RankLow {
			ranks = append(ranks, RankRange{c.Rule.RankLow[i], c.Rule.RankHigh[i]})
		}
		if !slices.Equal(got.Ranks, ranks) || !slices.Equal(got.Best, c.Rule.Best) || !slices.Equal(got.Letters, c.Rule.Letters) {
			t.Errorf("%s: ranks %v, best %v, letters %q; want %v, %v, %q", c.Name, got.Ranks, got.Best, got.Letters, ranks, c.Rule.Best, c.Rule.Letters)
		}
	}
	if moderated == 0 {
		t.Error("no case is moderated")
	}
}

func TestPatternsAreComparedAsInR(t *testing.T) {
	for _, c := range tables(t).Cases {
		table := residualsOf(c.Logs)
		agree(t, c.Name+": residual df", table.df, c.R.ResidualDF, 1e-9)
		cells := float64(len(c.Logs) * len(c.Logs[0]))
		agree(t, c.Name+": residual mean square", table.meanSquare()*cells/table.df, c.R.ResidualMS, 1e-9)
		plain := pairContrasts(c.Logs)
		plain.students()
		p := plain.each(Looks{}.p)
		adjusted := HolmAdjusted(p)
		for i := range p {
			agree(t, fmt.Sprint(c.Name, ": p ", i), p[i], c.R.P[i], 1e-9)
			agree(t, fmt.Sprint(c.Name, ": adjusted p ", i), adjusted[i], c.R.Holm[i], 1e-9)
		}
		if c.R.ModP == nil || len(c.Logs[0]) < moderatedRounds {
			continue
		}
		got := ComparePatterns(c.Logs, 0.05)
		if d0 := float64(c.R.ModD0); math.IsInf(d0, 1) != math.IsInf(got.PriorDF, 1) {
			t.Errorf("%s: prior df %g, want %g", c.Name, got.PriorDF, d0)
		} else if !math.IsInf(d0, 1) {
			agree(t, c.Name+": prior df", got.PriorDF, d0, 1e-6)
		}
		agree(t, c.Name+": prior variance", got.PriorVariance, c.R.ModS0, 1e-6)
		agree(t, c.Name+": autocorrelation", got.Autocorrelation, c.R.ModR, 1e-9)
		for i, pair := range got.Pairs {
			agree(t, fmt.Sprint(c.Name, ": DF ", i), pair.DF, c.R.ModDF, 1e-6)
			agree(t, fmt.Sprint(c.Name, ": moderated p ", i), pair.P, c.R.ModP[i], 1e-6)
			agree(t, fmt.Sprint(c.Name, ": moderated adjusted p ", i), pair.Adjusted, c.R.ModHolm[i], 1e-6)
		}
	}
}

func TestHolmLeavesOutWhatIsNotTested(t *testing.T) {
	nan := math.NaN()
	got := HolmAdjusted([]float64{0.04, nan, 0.01, 0.9, 0.012})
	want := []float64{0.08, nan, 0.04, 0.9, 0.04}
	for i := range want {
		near(t, fmt.Sprint("adjusted ", i), got[i], want[i], 1e-12)
	}
}

func TestAPairIsComparedOverTheRoundsThatBothHave(t *testing.T) {
	nan := math.NaN()
	logs := table(1, []float64{0, 0.05, 0.02, 0.1, -0.01, 0}, 12, 0.02)
	for j := 4; j < 12; j++ {
		logs[1][j] = nan // no trial succeeded any more
		logs[2][11-j] = math.Inf(-1)
	}
	logs[4] = slices.Repeat([]float64{nan}, 12) // none ever
	logs[5] = logs[5][:1]                       // one round
	got := ComparePatterns(logs, 0.05)
	if !got.Moderated {
		t.Error("not moderated")
	}
	const tests = 5 // of the patterns 0 to 3, all pairs but that of 1 and 2
	for _, p := range got.Pairs {
		if p.Rounds >= 2 {
			near(t, "half the interval", p.High-p.Difference, studentT(0.05/tests, p.DF)*p.SE, 1e-12)
		}
		shared := finites(pairwise(Group{}, Group{}, logs[p.A], logs[p.B]))
		rounds := len(shared)
		tested := rounds >= 2
		if p.Rounds != rounds || math.IsNaN(p.P) == tested || math.IsNaN(p.Low) == tested || math.IsNaN(p.Adjusted) == tested {
			t.Errorf("pair over %d rounds: %+v", rounds, p)
		}
		if rounds > 0 {
			near(t, "difference", p.Difference, Mean(shared), 1e-12)
		}
	}
	if got.Ranks[4] != (RankRange{}) || got.Letters[4] != "" || slices.Contains(got.Best, 4) {
		t.Errorf("a pattern without values has ranks %v, letters %q, best %v", got.Ranks[4], got.Letters[4], got.Best)
	}
	if got.Ranks[3] != (RankRange{1, 2}) || got.Ranks[5] != (RankRange{1, 5}) {
		t.Errorf("ranks %v", got.Ranks)
	}
}

func TestPatternsThatNeverVary(t *testing.T) {
	row := func(v float64) []float64 { return slices.Repeat([]float64{v}, 6) }
	got := ComparePatterns([][]float64{row(1), row(1), row(2), row(1), row(0)}, 0.05)
	if got.Moderated {
		t.Error("variances of 0 have a prior")
	}
	if want := []string{"b", "b", "a", "b", "c"}; !slices.Equal(got.Letters, want) || !slices.Equal(got.Best, []int{2}) {
		t.Errorf("letters %q, best %v", got.Letters, got.Best)
	}
}

func TestAVarianceOfNothingDoesNotDecideThePrior(t *testing.T) {
	df := []float64{11, 11, 11, 11, 11}
	got, ok := fitPrior([]float64{2, 1.5, 3, 0, 1}, df)
	want, _ := fitPrior([]float64{2, 1.5, 3, 1.5e-5, 1}, df)
	if !ok || got != want {
		t.Errorf("prior %+v, want %+v", got, want)
	}
	// Two patterns that differ by a constant: the other pairs are compared as before.
	logs := table(8, []float64{0, 0, 0.05, 0.1, 0, 0}, 12, 0.02)
	for j, v := range logs[0] {
		logs[1][j] = v + 0.01
	}
	plain := pairContrasts(logs)
	plain.students()
	for i, p := range ComparePatterns(logs, 0.05).Pairs {
		if p.A > 1 && math.Abs(p.SE/plain.all[i].err-1) > 0.1 {
			t.Errorf("%d and %d: standard error %g, by itself %g", p.A, p.B, p.SE, plain.all[i].err)
		}
	}
}

func TestFewPatterns(t *testing.T) {
	if got := ComparePatterns(nil, 0.05); len(got.Pairs) != 0 || len(got.Ranks) != 0 || len(got.Best) != 0 || len(got.Letters) != 0 {
		t.Errorf("no patterns: %+v", got)
	}
	got := ComparePatterns([][]float64{{1, 2, 3}}, 0.05)
	if !slices.Equal(got.Ranks, []RankRange{{1, 1}}) || !slices.Equal(got.Best, []int{0}) || !slices.Equal(got.Letters, []string{"a"}) {
		t.Errorf("one pattern: %+v", got)
	}
	logs := table(4, []float64{0, 0.03}, 12, 0.02)
	two := ComparePatterns(logs, 0.05)
	_, t2, wantP := oneLook(pairwise(Group{}, Group{}, logs[0], logs[1]), 0.95)
	if p := two.Pairs[0]; math.Abs(p.P-wantP) > 1e-12 || p.Adjusted != p.P || math.Abs(p.Low-t2.Low) > 1e-12 || two.Moderated {
		t.Errorf("two patterns: %+v, paired t %+v", p, t2)
	}
	if got := ComparePatterns([][]float64{{1}, {2}, {3}, {4}}, 0.05); got.Moderated || !slices.Equal(got.Letters, []string{"a", "a", "a", "a"}) || len(got.Best) != 4 {
		t.Errorf("one round: %+v", got)
	}
}

func TestManyPatternsAllocateNothingAPair(t *testing.T) {
	effects := make([]float64, 100)
	for i := range effects {
		effects[i] = 0.002 * float64(i)
	}
	logs := table(5, effects, 20, 0.02)
	pairs := float64(len(effects) * (len(effects) - 1) / 2)
	if got := testing.AllocsPerRun(2, func() { ComparePatterns(logs, 0.05) }); got > pairs/4 {
		t.Errorf("%g allocations for %g pairs", got, pairs)
	}
}

func BenchmarkComparePatterns(b *testing.B) {
	for name, step := range map[string]float64{"alike": 0, "graded": 0.002} {
		effects := make([]float64, 200)
		for i := range effects {
			effects[i] = step * float64(i)
		}
		logs := table(6, effects, 20, 0.02)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ComparePatterns(logs, 0.05)
			}
		})
	}
}

func TestPatternsWithoutSharedRoundsAreNotTested(t *testing.T) {
	nan := math.NaN()
	for _, p := range ComparePatterns([][]float64{{1, 2, 3, nan, nan, nan}, {nan, nan, nan, 4, 5, 6}, {1, 2, 3.1, nan, nan, nan}}, 0.05).Pairs {
		if apart := p.B == 1 || p.A == 1; math.IsNaN(p.P) != apart || math.IsNaN(p.Low) != apart {
			t.Errorf("%+v", p)
		}
	}
}
