package stats

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
)

// factorial makes observations of a test by one round each from logarithms: of a level of each
// factor, and a round. NaN is a failed trial.
func factorial(factors []string, levels []int, rounds int, log func(at []int, round int) float64) Observations {
	var o Observations
	for f, name := range factors {
		factor := Factor{Name: name}
		for level := range levels[f] {
			factor.Levels = append(factor.Levels, name+strconv.Itoa(level))
		}
		o.Factors = append(o.Factors, factor)
	}
	for round := range rounds {
		at := make([]int, len(levels))
		for more := true; more; more = next(at, levels) {
			row := Observation{Test: "tcp", Metric: "goodput", Round: round, Value: math.Exp(log(at, round))}
			for f, level := range at {
				row.Levels = append(row.Levels, factors[f]+strconv.Itoa(level))
			}
			o.Rows = append(o.Rows, row)
		}
	}
	return o
}

// next counts through all combinations of levels, the last factor first.
func next(at, levels []int) bool {
	for f := len(at) - 1; f >= 0; f-- {
		if at[f]++; at[f] < levels[f] {
			return true
		}
		at[f] = 0
	}
	return false
}

func effects(o Observations, options EffectOptions) Effects {
	return FindEffects(o.Cells("tcp", "goodput"), options)
}

type factorVectors struct {
	About     string
	Tolerance float64
	Cases     []struct {
		Name    string
		Logs    [][][]float64
		R       map[string]float64 `json:"R_aov"`
		Tetrads []struct {
			Cells                [4]int
			Effect, Low, High, P float64
			Holm                 float64 `json:"p_holm"`
		}
	}
}

func TestInteractionsAreThoseOfR(t *testing.T) {
	var file factorVectors
	decodeVectors(t, "factors.json", &file)
	for _, c := range file.Cases {
		got := effects(factorial([]string{"a", "b"}, []int{len(c.Logs), len(c.Logs[0])}, len(c.Logs[0][0]), func(at []int, round int) float64 {
			return c.Logs[at[0]][at[1]][round]
		}), EffectOptions{Threshold: 0.03}).Interactions
		if len(got) != 1 || len(got[0].Tetrads) != len(c.Tetrads) {
			t.Fatalf("%s: %d interactions", c.Name, len(got))
		}
		for i, want := range c.Tetrads {
			tetrad := got[0].Tetrads[i]
			if cells := [4]int{tetrad.A[0], tetrad.A[1], tetrad.B[0], tetrad.B[1]}; cells != want.Cells {
				t.Fatalf("%s: tetrad %v, want %v", c.Name, cells, want.Cells)
			}
			name := fmt.Sprint(c.Name, want.Cells)
			near(t, name+": effect", tetrad.Log, want.Effect, 1e-9)
			near(t, name+": low", tetrad.Low, want.Low, 1e-9)
			near(t, name+": high", tetrad.High, want.High, 1e-9)
			agree(t, name+": p", tetrad.P, want.P, 1e-8)
			agree(t, name+": Holm", tetrad.Holm, want.Holm, 1e-8)
		}
	}
}

func TestSharesOfVariationAreThoseOfR(t *testing.T) {
	var file factorVectors
	decodeVectors(t, "factors.json", &file)
	for _, c := range file.Cases {
		got := effects(factorial([]string{"a", "b"}, []int{len(c.Logs), len(c.Logs[0])}, len(c.Logs[0][0]), func(at []int, round int) float64 {
			return c.Logs[at[0]][at[1]][round]
		}), EffectOptions{})
		squares, total := map[string]float64{}, 0.0
		for _, source := range []string{"round", "A", "B", "AB", "residual"} {
			squares[source] = c.R[source+" df"] * c.R[source+" ms"]
			total += squares[source]
		}
		agree(t, c.Name+": factor A", got.Factors[0].Share, squares["A"]/total, 1e-8)
		agree(t, c.Name+": factor B", got.Factors[1].Share, squares["B"]/total, 1e-8)
		agree(t, c.Name+": rounds", got.Variation.Blocks, squares["round"]/total, 1e-8)
		agree(t, c.Name+": interaction", got.Variation.Interactions, squares["AB"]/total, 1e-8)
		agree(t, c.Name+": rest", got.Variation.Rest, squares["residual"]/total, 1e-8)
	}
}

// testdata/paired.json has intervals of t.test in R 4.2.2.
func TestMainEffectsOfTwoLevelsAreThePairedTOfR(t *testing.T) {
	text, err := os.ReadFile("testdata/paired.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name      string
			LogRatios []float64 `json:"log_ratios"`
			Low       float64   `json:"t_low"`
			High      float64   `json:"t_high"`
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		n := len(c.LogRatios)
		byRound := effects(factorial([]string{"a"}, []int{2}, n, func(at []int, round int) float64 {
			return float64(at[0])*c.LogRatios[round] + 0.2*float64(round)
		}), EffectOptions{})
		// The same with the levels of another factor as blocks: a table without replicates.
		byLevels := effects(factorial([]string{"a", "b"}, []int{2, n}, 1, func(at []int, _ int) float64 {
			return float64(at[0])*c.LogRatios[at[1]] + 0.2*float64(at[1])
		}), EffectOptions{})
		near(t, c.Name+": variation by interactions without replicates", byLevels.Variation.Interactions, 0, 0)
		if len(byLevels.Interactions) != 0 {
			t.Errorf("%s: interactions without replicates: %+v", c.Name, byLevels.Interactions)
		}
		for unit, got := range map[Unit]Effects{UnitRound: byRound, UnitLevels: byLevels} {
			pair := got.Factors[0].Pairs[0]
			near(t, c.Name+": low", pair.Low, c.Low, 1e-9)
			near(t, c.Name+": high", pair.High, c.High, 1e-9)
			if pair.Unit != unit || pair.Units != n {
				t.Errorf("%s: %d units: %s, want %d: %s", c.Name, pair.Units, pair.Unit, n, unit)
			}
		}
	}
}

func TestMainEffectsAverageOverTheOtherFactors(t *testing.T) {
	// a adds 0.1, and 0.2 more at the second level of b: 0.2 on average over both, 0.3 at the
	// second one.
	truth := func(at []int, round int) float64 {
		return 0.1*float64(at[0]) + 0.2*float64(at[0]*at[1]) + 0.5*float64(at[1]) + 0.03*float64(round*round%7)
	}
	for name, missing := range map[string]func(at []int, round int) bool{
		"complete":              func([]int, int) bool { return false },
		"a trial failed":        func(at []int, round int) bool { return round == 2 && at[0] == 1 && at[1] == 1 },
		"several trials failed": func(at []int, round int) bool { return (round+at[0]+2*at[1])%5 == 0 },
		"a round failed":        func(_ []int, round int) bool { return round == 3 },
	} {
		got := effects(factorial([]string{"a", "b"}, []int{2, 2}, 8, func(at []int, round int) float64 {
			if missing(at, round) {
				return math.NaN()
			}
			return truth(at, round)
		}), EffectOptions{})
		near(t, name+": main effect", got.Factors[0].Pairs[0].Log, 0.2, 1e-12)
		near(t, name+": interaction", got.Interactions[0].Tetrads[0].Log, 0.2, 1e-12)
		near(t, name+": width", got.Factors[0].Pairs[0].High-got.Factors[0].Pairs[0].Low, 0, 1e-12)
	}
	// A combination without any trial is in no average.
	got := effects(factorial([]string{"a", "b"}, []int{2, 3}, 8, func(at []int, round int) float64 {
		if at[0] == 0 && at[1] == 2 {
			return math.NaN()
		}
		return truth(at, round)
	}), EffectOptions{})
	near(t, "without a combination", got.Factors[0].Pairs[0].Log, 0.2, 1e-12)
}

func TestBlocksOfOtherFactors(t *testing.T) {
	// Pairs of hosts differ in how much a matters; rounds are alike.
	o := factorial([]string{"a", "pair", "size"}, []int{2, 5, 2}, 3, func(at []int, _ int) float64 {
		return float64(at[0]) * (0.1 + 0.02*float64(at[1]))
	})
	rounds, pairs := effects(o, EffectOptions{}).Factors[0].Pairs[0], effects(o, EffectOptions{Blocks: []int{1}}).Factors[0].Pairs[0]
	near(t, "estimate", pairs.Log, 0.14, 1e-12)
	near(t, "the same by rounds", rounds.Log, 0.14, 1e-12)
	// Student's t of 0.1, 0.12, ..., 0.18: 2.776445 standard errors of 0.0316228/sqrt(5).
	near(t, "low", pairs.Low, 0.14-2.7764451052*0.0316227766/math.Sqrt(5), 1e-9)
	if pairs.Units != 5 || pairs.Unit != UnitLevels || rounds.Units != 3 || rounds.Unit != UnitRound {
		t.Errorf("units of %+v and %+v", pairs, rounds)
	}
	if own := effects(o, EffectOptions{Blocks: []int{1}}).Factors[1].Pairs[0]; own.Unit != UnitRound {
		t.Errorf("the effect of the blocks themselves has units %s", own.Unit)
	}
}

func TestDeploymentsAreUnitsWhereHostsWereRedeployed(t *testing.T) {
	o := factorial([]string{"a", "b"}, []int{2, 2}, 6, func(at []int, round int) float64 { return float64(at[0]) * (0.1 + 0.01*float64(round)) })
	units := func(deployment func(r Observation) string) (Unit, int) {
		for i, r := range o.Rows {
			o.Rows[i].Deployment = deployment(r)
		}
		pair := effects(o, EffectOptions{}).Factors[0].Pairs[0]
		near(t, "estimate", pair.Log, 0.125, 1e-12)
		return pair.Unit, pair.Units
	}
	host := func(r Observation) string { return r.Levels[0] + r.Levels[1] }
	for name, c := range map[string]struct {
		deployment func(r Observation) string
		unit       Unit
		units      int
	}{
		"unknown":            {func(Observation) string { return "" }, UnitRound, 6},
		"once":               {host, UnitRound, 6},
		"every second round": {func(r Observation) string { return host(r) + strconv.Itoa(r.Round/2) }, UnitDeployment, 3},
		"one host, one time": {func(r Observation) string { return host(r) + strconv.FormatBool(host(r) == "a1b0" && r.Round > 2) }, UnitDeployment, 2},
		"known from round 3": {func(r Observation) string { return host(r)[:4*min(1, r.Round/3)] }, UnitRound, 6},
		"unknown in between": {func(r Observation) string { return host(r)[:4*(r.Round%2)] }, UnitRound, 6},
		"unknown after another": {func(r Observation) string {
			switch {
			case host(r) == "a0b0":
				return strconv.FormatBool(r.Round > 2)
			case r.Round < 1 || r.Round > 4:
				return strconv.FormatBool(r.Round > 4)
			}
			return ""
		}, UnitDeployment, 2},
		"another every round": {func(r Observation) string { return host(r) + strconv.Itoa(r.Round) }, UnitDeployment, 6},
	} {
		if unit, n := units(c.deployment); unit != c.unit || n != c.units {
			t.Errorf("%s: %d units: %s, want %d: %s", name, n, unit, c.units, c.unit)
		}
	}
}

func TestWhetherAFactorMatters(t *testing.T) {
	noise := []float64{1, -1, 0.5, -0.5, 0.8, -0.8, 0.2, -0.2}
	for name, c := range map[string]struct {
		effect, noise float64
		want          Matters
	}{
		"a difference above the threshold":  {0.10, 0.01, MattersYes},
		"no difference":                     {0.001, 0.01, MattersNo},
		"a shown difference far below":      {0.005, 0.001, MattersNo},
		"a shown one that may be above":     {0.02, 0.015, MattersNotShown},
		"a large one, but nothing is shown": {0.10, 0.5, MattersNotShown},
	} {
		got := effects(factorial([]string{"a"}, []int{3}, len(noise), func(at []int, round int) float64 {
			return c.effect*float64(at[0]/2) + c.noise*noise[(round+3*at[0])%len(noise)]
		}), EffectOptions{Threshold: 0.03}).Factors[0]
		if got.Matters != c.want {
			t.Errorf("%s: %s, want %s; %+v", name, got.Matters, c.want, got.Pairs)
		}
		if got.Largest == nil || got.Largest.Of != 2 && c.noise < c.effect {
			t.Errorf("%s: largest %+v", name, got.Largest)
		}
	}
}

// published reads a table of instance types and interfaces without replicates, as somebody
// published it. Its last three columns are the interfaces.
func published(t *testing.T, name string) Observations {
	t.Helper()
	file, err := os.Open("../../examples/cases/interface-matrix/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	o := Observations{Factors: []Factor{{Name: "instance type"}, {Name: "interface"}}}
	for _, row := range rows[1:] {
		for i := len(row) - 3; i < len(row); i++ {
			value, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				t.Fatal(err)
			}
			o.Rows = append(o.Rows, Observation{Test: "tcp", Metric: "goodput", Value: value, Levels: []string{row[0], rows[0][i]}})
		}
	}
	return o
}

func TestEffectsOfAPublishedTable(t *testing.T) {
	for name, want := range map[string]struct {
		types, interfaces Matters
		log, p            float64 // VLAN over public, by a paired t test apart from this code
	}{
		// VLAN is faster by 0.5 %: shown, and no difference in practice.
		"interface-matrix-throughput.csv": {MattersYes, MattersNo, 0.004574236261, 0.005009006184},
		// VLAN is faster by 15 %; with three interfaces, types differ by no more than chance.
		"interface-matrix-ping.csv": {MattersNotShown, MattersYes, -0.15763753987, 0.0057884767172},
	} {
		got := effects(published(t, name), EffectOptions{Threshold: 0.03})
		types, interfaces := got.Factors[0], got.Factors[1]
		if len(types.Levels) != 9 || len(interfaces.Levels) != 3 || types.Matters != want.types || interfaces.Matters != want.interfaces {
			t.Errorf("%s: %d types: %s, interfaces: %+v", name, len(types.Levels), types.Matters, interfaces)
		}
		vlan := interfaces.Pairs[0]
		agree(t, name+": VLAN over public", vlan.Log, want.log, 1e-9)
		agree(t, name+": p", vlan.P, want.p, 1e-9)
		if vlan.Holm > 0.05 || vlan.Units != 9 || vlan.Unit != UnitLevels || *interfaces.Largest != vlan {
			t.Errorf("%s: VLAN over public %+v, largest %+v", name, vlan, *interfaces.Largest)
		}
	}
}

func holmOf(p LevelPair) float64 { return p.Holm }

func TestEffectsOfTablesThatShowNothing(t *testing.T) {
	for name, c := range map[string]struct {
		o      Observations
		levels int
	}{
		"no rows":       {Observations{Factors: []Factor{{Name: "a"}}}, 0},
		"one level":     {factorial([]string{"a"}, []int{1}, 5, func([]int, int) float64 { return 1 }), 1},
		"one round":     {factorial([]string{"a"}, []int{2}, 1, func([]int, int) float64 { return 1 }), 2},
		"never at once": {factorial([]string{"a"}, []int{2}, 6, func(at []int, round int) float64 { return math.Log(float64((at[0] + round) % 2)) }), 2},
	} {
		got := effects(c.o, EffectOptions{Threshold: 0.03})
		f := got.Factors[0]
		if len(f.Levels) != c.levels || f.Matters != MattersNotShown {
			t.Errorf("%s: %+v", name, f)
		}
		for _, p := range f.Pairs {
			if !math.IsNaN(p.P) || !math.IsNaN(p.Holm) || !math.IsNaN(p.Low) || p.Equivalent {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
	zeros := effects(factorial([]string{"a"}, []int{2}, 6, func(at []int, round int) float64 { return math.Log(float64((at[0] + round) % 2)) }), EffectOptions{})
	if zeros.NotPositive != 6 || zeros.Factors[0].Largest != nil {
		t.Errorf("figures of 0: %+v", zeros)
	}
	equal := effects(factorial([]string{"a", "b"}, []int{2, 2}, 4, func([]int, int) float64 { return 1 }), EffectOptions{Threshold: 0.03})
	if f := equal.Factors[0]; f.Matters != MattersNo || f.Share != 0 || f.Pairs[0].P != 1 {
		t.Errorf("figures that are all equal: %+v", f)
	}
}

func TestTooManyTetradsAreNotTested(t *testing.T) {
	got := effects(factorial([]string{"a", "b"}, []int{25, 25}, 2, func(at []int, round int) float64 { return float64(at[0]*at[1]*round%5) / 10 }), EffectOptions{})
	if len(got.Interactions) != 1 || got.Interactions[0].Tetrads != nil {
		t.Errorf("%d tetrads", len(got.Interactions[0].Tetrads))
	}
}

// campaign makes a table of 3 x 2 levels in 12 rounds whose noise differs between cells, on
// a drift that all share. The factor a is worth gain a level.
func campaign(seed uint64, gain, deployments float64) Observations {
	r := source(seed)
	shared := drift(r, 12, 0.8, 0.05)
	var hosts [3][2]float64
	o := factorial([]string{"a", "b"}, []int{3, 2}, 12, func(at []int, round int) float64 {
		if round%3 == 0 {
			hosts[at[0]][at[1]] = deployments * r.NormFloat64()
		}
		return gain*float64(at[0]) + 0.5*float64(at[1]) + shared[round] + hosts[at[0]][at[1]] + 0.01*float64(1+at[0]+at[1])*r.NormFloat64()
	})
	for i := range o.Rows {
		o.Rows[i].Deployment = strconv.Itoa(o.Rows[i].Round / 3)
	}
	return o
}

func shown[T any](all []T, holm func(T) float64) bool {
	return slices.ContainsFunc(all, func(v T) bool { return holm(v) <= 0.05 })
}

func TestEffectsFindFewFalseDifferencesAndMostTrueOnes(t *testing.T) {
	const campaigns = 400
	rate := func(gain, deployments float64, known bool) (levels, tetrads float64) {
		levels = share(campaigns, func(seed uint64) bool {
			o := campaign(seed, gain, deployments)
			for i := range o.Rows {
				if !known {
					o.Rows[i].Deployment = ""
				}
			}
			got := effects(o, EffectOptions{Threshold: 0.03})
			if shown(got.Interactions[0].Tetrads, func(t Tetrad) float64 { return t.Holm }) {
				tetrads += 1.0 / campaigns
			}
			return shown(got.Factors[0].Pairs, holmOf)
		})
		return levels, tetrads
	}
	// With 400 campaigns, a rule of 5 % is above 9.5 % one time in 10,000.
	if levels, tetrads := rate(0, 0, false); levels > 0.095 || tetrads > 0.095 {
		t.Errorf("false: levels %.1f %%, interactions %.1f %%", levels*100, tetrads*100)
	}
	if levels, tetrads := rate(0.04, 0, false); levels < 0.9 || tetrads > 0.095 {
		t.Errorf("levels that differ: shown in %.1f %%; false interactions %.1f %%", levels*100, tetrads*100)
	}
	if levels, tetrads := rate(0, 0.03, true); levels > 0.095 || tetrads > 0.095 {
		t.Errorf("false, hosts redeployed: levels %.1f %%, interactions %.1f %%", levels*100, tetrads*100)
	}
	// Where that is not known, it is as bad as it says.
	if levels, _ := rate(0, 0.03, false); levels < 0.12 {
		t.Errorf("unknown deployments: only %.1f %% false", levels*100)
	}
}

func BenchmarkEffectsOfALargeDesign(b *testing.B) {
	r := source(1)
	o := factorial([]string{"a", "b", "c"}, []int{20, 4, 5}, 12, func([]int, int) float64 { return 0.02 * r.NormFloat64() })
	for b.Loop() {
		effects(o, EffectOptions{Threshold: 0.03})
	}
}
