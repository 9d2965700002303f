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
		TLow      float64  `json:"t_low"`
		THigh     float64  `json:"t_high"`
		TP        float64  `json:"t_p"`
		TStat     float64  `json:"t_stat"`
		TOSTLower float64  `json:"tost_p_lower"`
		TOSTUpper float64  `json:"tost_p_upper"`
		T90Low    float64  `json:"t90_low"`
		T90High   float64  `json:"t90_high"`
		V         *float64 `json:"wilcoxon_V"`
		PExact    float64  `json:"wilcoxon_p_exact"`
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
		Power     int `json:"for_3_percent_80_percent_power"`
		HalfWidth int `json:"for_half_width_2_percent"`
	} `json:"rounds_needed"`
	Anytime *float64 `json:"anytime_half_width_tau1"`
	EValue  float64  `json:"e_value_tau1"`
	HL      *struct {
		Shift  float64
		Low    number
		High   number
		K      json.RawMessage // seen by Low and High
		V      float64
		Actual number `json:"actual_level"`
	} `json:"hodges_lehmann"`
	SignFlip *struct {
		P         float64
		Low, High number
	} `json:"sign_flip_exact"`
}

func pairedCases(t *testing.T) []pairedCase {
	var file pairedVectors
	decodeVectors(t, "paired.json", &file)
	// A case without figures is for TestLogRatiosThatAreAllAlike.
	return slices.DeleteFunc(file.Cases, func(c pairedCase) bool { return c.PairedT.N == 0 })
}

func TestPairedTIsThatOfR(t *testing.T) {
	for _, c := range pairedCases(t) {
		got := PairedT(c.LogRatios, 0.95)
		agree(t, c.Name+": low", got.Low, c.R.TLow, 1e-9)
		agree(t, c.Name+": high", got.High, c.R.THigh, 1e-9)
		agree(t, c.Name+": p", got.P, c.R.TP, 1e-9)
		agree(t, c.Name+": t", got.Mean/got.SD*math.Sqrt(float64(got.Rounds)), c.R.TStat, 1e-9)
		agree(t, c.Name+": mean", got.Mean, c.PairedT.Mean, 1e-9)
		agree(t, c.Name+": sd", got.SD, c.PairedT.SD, 1e-9)
		agree(t, c.Name+": percent", 100*math.Expm1(got.Mean), c.PairedT.Percent, 1e-9)
		agree(t, c.Name+": percent low", 100*math.Expm1(got.Low), c.PairedT.PercentLow, 1e-9)
		agree(t, c.Name+": percent high", 100*math.Expm1(got.High), c.PairedT.PercentHigh, 1e-9)
		if got.Rounds != c.PairedT.N {
			t.Errorf("%s: %d rounds", c.Name, got.Rounds)
		}
		ninety := PairedT(c.LogRatios, 0.9)
		agree(t, c.Name+": 90 % low", ninety.Low, c.R.T90Low, 1e-9)
		agree(t, c.Name+": 90 % high", ninety.High, c.R.T90High, 1e-9)
	}
}

func TestEquivalenceAndDecisionAreThoseOfTheReference(t *testing.T) {
	decisions := map[string]Decision{"no practical difference": Same, "better": Better, "worse": Worse, "not shown": NotShown}
	seen := map[Decision]bool{}
	for _, c := range pairedCases(t) {
		got := Equivalent(c.LogRatios, 0.03, 0.05)
		agree(t, c.Name+": p of the lower bound", got.PLower, c.R.TOSTLower, 1e-9)
		agree(t, c.Name+": p of the upper bound", got.PUpper, c.R.TOSTUpper, 1e-9)
		agree(t, c.Name+": p", got.P, c.TOST.P, 1e-9)
		if got.Shown != c.TOST.Equivalent {
			t.Errorf("%s: equivalent %v, p %g", c.Name, got.Shown, got.P)
		}
		decision := compareLogs(c.LogRatios, 0.03).Decision
		if seen[decision] = true; decision != decisions[c.Verdict] {
			t.Errorf("%s: %s, want %s", c.Name, decision, c.Verdict)
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
		if n := RoundsForHalfWidth(math.Log1p(0.02), sd, 0.95); n != c.Needed.HalfWidth {
			t.Errorf("%s: %d rounds for the half width, want %d", c.Name, n, c.Needed.HalfWidth)
		}
		if n := len(c.LogRatios); n >= 6 {
			got, ok := Further(c.LogRatios, 0.03)
			if !ok || got.Likely != max(c.Needed.Power-n, 0) || got.Least > got.Likely || got.Most < got.Likely {
				t.Errorf("%s: further rounds %+v, %d in all", c.Name, got, c.Needed.Power)
			}
		}
	}
}

func TestAnytimeEvidenceIsThatOfTheReference(t *testing.T) {
	bounded := 0
	for _, c := range pairedCases(t) {
		agree(t, c.Name+": e-value", EValue(c.LogRatios, 1), c.EValue, 1e-9)
		low, high := ConfidenceSequence(c.LogRatios, 1, 0.95)
		if c.Anytime == nil {
			if !math.IsInf(low, -1) || !math.IsInf(high, 1) {
				t.Errorf("%s: %g to %g, want no bounds", c.Name, low, high)
			}
			continue
		}
		bounded++
		agree(t, c.Name+": half width", (high-low)/2, *c.Anytime, 1e-9)
		agree(t, c.Name+": centre", (high+low)/2, c.PairedT.Mean, 1e-9)
		if e := EValue(c.LogRatios, 1); (e >= 20) != (low > 0 || high < 0) {
			t.Errorf("%s: e-value %g and interval %g to %g disagree", c.Name, e, low, high)
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
		got, choice := PairedT(d, 0.95), compareLogs(d, 0.03)
		if got.P != c.p || got.Low != c.value || got.High != c.value {
			t.Errorf("%g: %+v", c.value, got)
		}
		if choice.P != c.p || choice.Decision != c.decision || choice.Low != choice.Ratio || choice.High != choice.Ratio || choice.Alike || choice.Further() != (FurtherRounds{}) {
			t.Errorf("%g: %+v", c.value, choice)
		}
		flips, available := SignFlip(d, 0.95)
		ranks, ranked := HodgesLehmann(d, 0.95)
		if !available || flips.Low != c.value || !ranked || ranks.High != c.value {
			t.Errorf("%g: exact tests %+v, %+v", c.value, flips, ranks)
		}
		if further, ok := Further(d, 0.03); !ok || further != (FurtherRounds{}) {
			t.Errorf("%g: further rounds %+v", c.value, further)
		}
		wantE := 1 / math.Sqrt(9) // no effect
		if c.value != 0 {
			wantE = math.Pow(9, 3.5)
		}
		near(t, "e-value", EValue(d, 1), wantE, 1e-9)
	}
}

func TestPairsUseTheRoundsThatBothHave(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(-1)
	got := LogRatios([]float64{1, nan, 3, 4, 5}, []float64{0.5, 1, inf, 3.75})
	if !slices.Equal(got, []float64{0.5, 0.25}) {
		t.Errorf("log ratios %v", got)
	}
	for _, few := range [][]float64{nil, {0.5}, {0.5, nan}} {
		got, choice := PairedT(few, 0.95), compareLogs(few, 0.03)
		if got.P != 1 || !math.IsNaN(got.Low) || EValue(few, 1) != 1 {
			t.Errorf("%v: %+v", few, got)
		}
		if choice.Decision != NotShown || choice.Untested != OneRound || !math.IsNaN(choice.Low) || choice.Further != nil {
			t.Errorf("%v: %+v", few, choice)
		}
		if _, ok := Further(few, 0.03); ok {
			t.Errorf("%v: further rounds are known", few)
		}
		if low, high := ConfidenceSequence(few, 1, 0.95); !math.IsInf(low, -1) || !math.IsInf(high, 1) {
			t.Errorf("%v: sequence %g to %g", few, low, high)
		}
	}
}

func TestFurtherRoundsSayWhereTheyAreTooMany(t *testing.T) {
	got, ok := Further([]float64{-3, 1, 0, 2, -1}, 0.03)
	if want := (FurtherRounds{-1, -1, -1}); !ok || got != want {
		t.Errorf("further rounds %+v, want %+v", got, want)
	}
	got, _ = Further([]float64{0.03, -0.05, 0.04, -0.01, 0.05, -0.04}, 0.03)
	if got.Least < 0 || got.Likely <= got.Least || got.Most <= got.Likely {
		t.Errorf("further rounds %+v", got)
	}
	if n := RoundsForPower(0.03, 0.3, 0.8, 0.05); n < 700 || n > 850 {
		t.Errorf("a tenth of the spread takes %d rounds", n)
	}
}
