package stats

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
)

// pairedVectors is testdata/vectors/paired.json: R is from R 4.2.2, the rest from a
// reference implementation.
type pairedVectors struct {
	About, Tolerance json.RawMessage
	Cases            []pairedCase
}

type pairedCase struct {
	Name      string
	LogRatios []float64 `json:"log_ratios"`
	R         struct {
		TLow      float64         `json:"t_low"`
		THigh     float64         `json:"t_high"`
		TP        float64         `json:"t_p"`
		TStat     float64         `json:"t_stat"`
		TOSTLower float64         `json:"tost_p_lower"`
		TOSTUpper float64         `json:"tost_p_upper"`
		T90Low    float64         `json:"t90_low"`
		T90High   float64         `json:"t90_high"`
		V         json.RawMessage `json:"wilcoxon_V"` // in PExact
		PExact    *float64        `json:"wilcoxon_p_exact"`
		HL        float64
		HLLow     float64 `json:"hl_low"`
		HLHigh    float64 `json:"hl_high"`
	}
	PairedT struct {
		N            int
		Mean, SD     float64
		Low, High, P float64
		Percent      float64
		PercentLow   float64 `json:"percent_low"`
		PercentHigh  float64 `json:"percent_high"`
	} `json:"paired_t"`
	TOST struct {
		PLower     float64 `json:"p_lower"`
		PUpper     float64 `json:"p_upper"`
		P          float64
		Equivalent bool
	} `json:"tost_3_percent"`
	Verdict  string `json:"verdict_3_percent"`
	Adjusted struct {
		Estimate, Low, High, R, DF float64
	} `json:"guarded_interval"`
	Needed struct {
		Power int `json:"for_3_percent_80_percent_power"`
		// Not computed: no rule plans for a width.
		HalfWidth json.RawMessage `json:"for_half_width_2_percent"`
	} `json:"rounds_needed"`
	Anytime *float64       `json:"anytime_half_width_tau1"`
	EValue  float64        `json:"e_value_tau1"`
	HL      *hodgesLehmann `json:"hodges_lehmann"`
	// Not computed: no rule uses signs alone.
	SignFlip json.RawMessage `json:"sign_flip_exact"`
}

type hodgesLehmann struct {
	Shift, Low, High, K, V float64
	Level                  float64 `json:"actual_level"`
}

func pairedCases(t *testing.T) []pairedCase {
	var file pairedVectors
	decodeVectors(t, "paired.json", &file)
	// A case without figures is for TestLogRatiosThatAreAllAlike.
	return slices.DeleteFunc(file.Cases, func(c pairedCase) bool { return c.PairedT.N == 0 })
}

// oneLook is what rounds show about their mean at one look, with the interval at a level.
func oneLook(d []float64, level float64) (c contrast, i Comparison, p float64) {
	c = paired(finites(d))
	return c, c.interval(1 - level), Looks{}.p(c.estimate)
}

func TestPairedTIsThatOfR(t *testing.T) {
	for _, c := range pairedCases(t) {
		d := student(c.LogRatios)
		got, p := d.interval(0.05), Looks{}.p(d.estimate)
		agree(t, c.Name+": low", got.Low, c.R.TLow, 1e-9)
		agree(t, c.Name+": high", got.High, c.R.THigh, 1e-9)
		agree(t, c.Name+": p", p, c.R.TP, 1e-9)
		agree(t, c.Name+": t", d.mean/d.err, c.R.TStat, 1e-9)
		agree(t, c.Name+": mean", got.Difference, c.PairedT.Mean, 1e-9)
		agree(t, c.Name+": sd", StdDev(c.LogRatios), c.PairedT.SD, 1e-9)
		agree(t, c.Name+": percent", 100*math.Expm1(got.Difference), c.PairedT.Percent, 1e-9)
		agree(t, c.Name+": percent low", 100*math.Expm1(got.Low), c.PairedT.PercentLow, 1e-9)
		agree(t, c.Name+": percent high", 100*math.Expm1(got.High), c.PairedT.PercentHigh, 1e-9)
		if got.Rounds != c.PairedT.N {
			t.Errorf("%s: %d rounds", c.Name, got.Rounds)
		}
		ninety := d.interval(0.1)
		agree(t, c.Name+": 90 % low", ninety.Low, c.R.T90Low, 1e-9)
		agree(t, c.Name+": 90 % high", ninety.High, c.R.T90High, 1e-9)
	}
}

func TestSignedRanksAreThoseOfR(t *testing.T) {
	compared := 0
	for _, c := range pairedCases(t) {
		if c.HL == nil {
			continue
		}
		ranks := rankSigns(c.LogRatios)
		low, high := ranks.interval(0.05)
		agree(t, c.Name+": centre", ranks.centre(), c.HL.Shift, 1e-9)
		agree(t, c.Name+": low", low, c.HL.Low, 1e-9)
		agree(t, c.Name+": high", high, c.HL.High, 1e-9)
		if c.R.PExact == nil { // zeros and ties: R has no exact probability
			continue
		}
		compared++
		agree(t, c.Name+": p", ranks.p(), *c.R.PExact, 1e-9)
		agree(t, c.Name+": centre of R", ranks.centre(), c.R.HL, 1e-9)
		agree(t, c.Name+": low of R", low, c.R.HLLow, 1e-9)
		agree(t, c.Name+": high of R", high, c.R.HLHigh, 1e-9)
		near(t, c.Name+": p of what is turned round", ranks.negated().p(), ranks.p(), 1e-12)
	}
	if compared < 10 {
		t.Errorf("%d cases were compared", compared)
	}
}

func TestSignedRanksCountZerosToBothSides(t *testing.T) {
	if p := rankSigns(make([]float64, 8)).p(); p != 1 {
		t.Errorf("of zeros alone p is %g", p)
	}
	if p, want := rankSigns([]float64{1, 2, 3, 4, 5, 6, 7, 8}).p(), 2.0/256; p != want {
		t.Errorf("of eight alike p is %g, want %g", p, want)
	}
}

func TestEquivalenceAndDecisionAreThoseOfTheReference(t *testing.T) {
	decisions := map[string]Decision{"no practical difference": Same, "better": Better, "worse": Worse, "not shown": NotShown}
	seen := map[Decision]bool{}
	for _, c := range pairedCases(t) {
		below, above := equivalence(studentOf(c.LogRatios), 0.03)
		agree(t, c.Name+": p of the lower bound", below, c.R.TOSTLower, 1e-9)
		agree(t, c.Name+": p of the upper bound", above, c.R.TOSTUpper, 1e-9)
		p := Looks{}.sameP(studentOf(c.LogRatios), 0.03)
		agree(t, c.Name+": p", p, c.TOST.P, 1e-9)
		if (p <= 0.05) != c.TOST.Equivalent {
			t.Errorf("%s: equivalent %v, p %g", c.Name, p <= 0.05, p)
		}
		rule := estimateOf(c.LogRatios)
		if rule.ranks != nil || rule.err != studentOf(c.LogRatios).err { // not the rule of the reference
			continue
		}
		decision, want := compareLogs(c.LogRatios, 0.03).Decision, decisions[c.Verdict]
		if len(c.LogRatios) < 6 {
			want = NotShown
		}
		if seen[decision] = true; decision != want {
			t.Errorf("%s: %s, want %s", c.Name, decision, want)
		}
	}
	if len(seen) != len(decisions) {
		t.Errorf("the cases have only the decisions %v", seen)
	}
}

func TestRoundsNeededAreThoseOfTheReference(t *testing.T) {
	for _, c := range pairedCases(t) {
		sd := StdDev(c.LogRatios)
		if n := RoundsForPower(math.Log1p(0.03), sd, 0.8, 0.05); n != c.Needed.Power {
			t.Errorf("%s: %d rounds for power, want %d", c.Name, n, c.Needed.Power)
		}
		if n := len(c.LogRatios); n >= 6 {
			got := furtherPaired(c.LogRatios, 0.03, 0.05)
			if got.Likely != max(c.Needed.Power-n, 0) || got.Least > got.Likely || got.Most < got.Likely {
				t.Errorf("%s: further rounds %+v, %d in all", c.Name, got, c.Needed.Power)
			}
		}
	}
}

// evidence is the e-value of the rounds.
func evidence(d []float64) float64 {
	c := studentOf(d)
	return eValue(studentised(c.mean, c.err), float64(len(d)), 1)
}

func TestAnytimeEvidenceIsThatOfTheReference(t *testing.T) {
	bounded := 0
	for _, c := range pairedCases(t) {
		e := evidence(c.LogRatios)
		agree(t, c.Name+": e-value", e, c.EValue, 1e-9)
		got := student(c.LogRatios).at(LooksUpTo(0)).interval(0.05)
		if c.Anytime == nil {
			if got.Tested() {
				t.Errorf("%s: %g to %g, want no bounds", c.Name, got.Low, got.High)
			}
			continue
		}
		bounded++
		agree(t, c.Name+": half width", (got.High-got.Low)/2, *c.Anytime, 1e-9)
		agree(t, c.Name+": centre", (got.High+got.Low)/2, c.PairedT.Mean, 1e-9)
		if (e >= 20) != got.Shown() {
			t.Errorf("%s: e-value %g and interval %g to %g disagree", c.Name, e, got.Low, got.High)
		}
	}
	if bounded == 0 {
		t.Error("no case has a bounded interval")
	}
}

func TestLogRatiosThatAreAllAlike(t *testing.T) {
	for _, c := range []struct {
		value    float64
		p        float64
		decision Decision
	}{{0, 1, Same}, {0.01, 0, Same}, {0.05, 0, Better}, {-0.05, 0, Worse}} {
		d := slices.Repeat([]float64{c.value}, 8)
		_, got, p := oneLook(d, 0.95)
		choice := compareLogs(d, 0.03)
		if p != c.p || got.Low != c.value || got.High != c.value {
			t.Errorf("%g: %+v", c.value, got)
		}
		if choice.P != c.p || choice.Decision != c.decision || choice.Low != choice.Ratio || choice.High != choice.Ratio || choice.Alike || choice.Further() != (FurtherRounds{}) {
			t.Errorf("%g: %+v", c.value, choice)
		}
		if further := furtherPaired(d, 0.03, 0.05); further != (FurtherRounds{}) {
			t.Errorf("%g: further rounds %+v", c.value, further)
		}
		wantE := 1 / math.Sqrt(9) // no effect
		if c.value != 0 {
			wantE = math.Pow(9, 3.5)
		}
		near(t, "e-value", evidence(d), wantE, 1e-9)
	}
}

func TestPairsUseTheRoundsThatBothHave(t *testing.T) {
	nan := math.NaN()
	got := pairwise(Group{}, Group{}, []float64{1, nan, 3, 4, 5}, []float64{0.5, 1, nan, 3.75})
	if !slices.Equal(got, []float64{0.5, 0.25}) {
		t.Errorf("log ratios %v", got)
	}
	for _, few := range [][]float64{nil, {0.5}, {0.5, nan}} {
		choice := compareLogs(few, 0.03)
		if e := evidence(finites(few)); e != 1 {
			t.Errorf("%v: e-value %g", few, e)
		}
		if choice.Decision != NotShown || choice.Untested != OneRound || !math.IsNaN(choice.Low) || choice.Further != nil {
			t.Errorf("%v: %+v", few, choice)
		}
		if i := paired(finites(few)).at(LooksUpTo(0)).interval(0.05); i.Tested() {
			t.Errorf("%v: sequence %g to %g", few, i.Low, i.High)
		}
	}
}

func TestFurtherRoundsSayWhereTheyAreTooMany(t *testing.T) {
	got := furtherPaired([]float64{-3, 1, 0, 2, -1}, 0.03, 0.05)
	if want := (FurtherRounds{-1, -1, -1}); got != want {
		t.Errorf("further rounds %+v, want %+v", got, want)
	}
	got = furtherPaired([]float64{0.03, -0.05, 0.04, -0.01, 0.05, -0.04}, 0.03, 0.05)
	if got.Least < 0 || got.Likely <= got.Least || got.Most <= got.Likely {
		t.Errorf("further rounds %+v", got)
	}
	if n := RoundsForPower(0.03, 0.3, 0.8, 0.05); n < 700 || n > 850 {
		t.Errorf("a tenth of the spread takes %d rounds", n)
	}
}
