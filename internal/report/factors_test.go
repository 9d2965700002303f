package report

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/stats"
	"soku/internal/text"
)

// design is a campaign of every combination of some factors' levels.
type design struct {
	factors []string
	levels  [][]string
	rounds  int
	bps     func(levels []string) float64
	noise   float64 // standard deviation of the logarithm
	boot    func(round int) string
	seed    uint64 // of the noise
}

func (d design) input() Input {
	r := rand.New(rand.NewPCG(5, 5+d.seed))
	in := Input{Campaign: Meta{ID: "20260314-x", Name: "x"}}
	for round := 1; round <= d.rounds; round++ {
		drift := math.Exp(0.1 * r.NormFloat64())
		at := make([]int, len(d.levels))
		for next := true; next; next = d.following(at) {
			var names []string
			var levels []measure.Level
			for f, i := range at {
				names = append(names, d.levels[f][i])
				levels = append(levels, measure.Level{Factor: d.factors[f], Value: d.levels[f][i]})
			}
			res := tcpTrial(measure.JoinLevels(levels), round, d.bps(names)*drift*math.Exp(d.noise*r.NormFloat64()))
			res.Trial.Levels = levels
			res.ID = fmt.Sprintf("r%06d", len(in.Results))
			if d.boot != nil {
				res.Hosts.Client = &measure.Host{Facts: measure.Facts{Deployment: &measure.Deployment{BootID: d.boot(round)}}}
			}
			in.Results = append(in.Results, res)
		}
	}
	return in
}

func (d design) following(at []int) bool {
	for f := range slices.Backward(at) {
		if at[f]++; at[f] < len(d.levels[f]) {
			return true
		}
		at[f] = 0
	}
	return false
}

// gateways has one factor that decides, one that does nothing, and the first once more as a
// published limit.
func gateways() design {
	speed := map[string]float64{"small": 1e9, "medium": 2e9, "large": 4e9}
	return design{
		factors: []string{"sku", "interface"}, levels: [][]string{{"small", "medium", "large"}, {"public", "private"}}, rounds: 6, noise: 0.002,
		bps: func(l []string) float64 { return speed[l[0]] },
	}
}

func TestWhatFactorsDoIsWhatTheStatisticsSay(t *testing.T) {
	in := gateways().input()
	test := build(t, in).test(t, "tcp")
	table := stats.Observations{Factors: []stats.Factor{{Name: "sku"}, {Name: "interface"}}}
	for _, r := range in.Results {
		table.Rows = append(table.Rows, stats.Observation{
			Test: "tcp", Metric: "goodput", Value: r.Summary.GoodputBps, Round: r.Trial.Round, Levels: []string{r.Trial.Levels[0].Value, r.Trial.Levels[1].Value},
		})
	}
	want := stats.FindEffects(table.Cells("tcp", "goodput"), stats.EffectOptions{Threshold: 0.02})
	near := func(a *float64, b float64) bool { return a != nil && math.Abs(*a-b) < 1e-9 }
	for i, f := range want.Factors {
		got := test.FactorEffects[i]
		if got.Factor != f.Name || got.Matters != f.Matters || math.Abs(got.Share-f.Share) > 1e-9 || !near(got.LargestRatio, math.Exp(math.Abs(f.Largest.Log))) {
			t.Errorf("%+v, want %+v", got, f)
		}
		for _, p := range f.Pairs {
			found := false
			for _, e := range test.Effects {
				for _, of := range []struct{ a, b, sign float64 }{{float64(p.Of), float64(p.Over), 1}, {float64(p.Over), float64(p.Of), -1}} {
					if e.Factor == f.Name && e.A == f.Levels[int(of.a)] && e.B == f.Levels[int(of.b)] {
						low, high := math.Exp(of.sign*p.Low), math.Exp(of.sign*p.High)
						found = near(e.Ratio, math.Exp(of.sign*p.Log)) && near(e.Low, min(low, high)) && near(e.High, max(low, high)) && near(e.P, p.Holm) && e.Blocks == 6 && e.Unit == stats.UnitRound
					}
				}
			}
			if !found {
				t.Errorf("%s: no %+v in %+v", f.Name, p, test.Effects)
			}
		}
	}
	if m := []stats.Matters{test.FactorEffects[0].Matters, test.FactorEffects[1].Matters}; !slices.Equal(m, []stats.Matters{stats.MattersYes, stats.MattersNo}) {
		t.Errorf("%q", m)
	}
	for _, e := range test.Effects {
		want := map[[2]string]stats.Decision{
			{"medium", "small"}: stats.Better, {"large", "small"}: stats.Better, {"large", "medium"}: stats.Better,
			{"small", "medium"}: stats.Worse, {"small", "large"}: stats.Worse, {"medium", "large"}: stats.Worse,
			{"private", "public"}: stats.Same, {"public", "private"}: stats.Same,
		}[[2]string{e.A, e.B}]
		if e.Decision != want {
			t.Errorf("%s of %s against %s, want %s", e.Decision, e.A, e.B, want)
		}
	}
	if len(test.Interactions) != 1 || test.Interactions[0].Tested != 3 || test.Interactions[0].Shown != 0 || test.Interactions[0].Ratio == nil {
		t.Errorf("%+v", test.Interactions)
	}
}

func TestOfALatencyTheSmallerIsBetter(t *testing.T) {
	in := gateways().input()
	for _, r := range in.Results {
		r.Test, r.Trial.Label = measure.TestLatency, "latency"
		h := measure.NewHistogram()
		h.Record(int64(r.Summary.GoodputBps / 1e3))
		r.Latency, r.Summary = &measure.Latency{Histogram: h, Sent: 1, Received: 1}, measure.Summary{}
	}
	effects := build(t, in).test(t, "latency").Effects
	if len(effects) != 4 {
		t.Fatalf("%+v", effects)
	}
	for _, e := range effects {
		want := stats.Worse
		if e.A == "small" || e.A == "medium" && e.B == "large" {
			want = stats.Better
		}
		if e.Factor == "sku" && e.Decision != want {
			t.Errorf("%+v, want %s", e, want)
		}
	}
}

func TestAFactorThatIsALabelOfAnotherIsNoSecondCause(t *testing.T) {
	rows := [][]string{
		{"a", "1", "x", "s", "k"}, {"a", "1", "y", "s", "k"}, {"b", "2", "x", "s", "k"}, {"b", "2", "y", "s", "k"}, {"c", "3", "x", "l", "k"}, {"c", "3", "y", "l", "k"},
	}
	// The second is another name of the first, the fourth a class of it, the last one constant.
	if got := separable(rows, 5); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("%v", got)
	}
	in := gateways().input()
	for _, r := range in.Results {
		limit := map[string]string{"small": "1", "medium": "2", "large": "4"}[r.Trial.Levels[0].Value]
		r.Trial.Levels = []measure.Level{r.Trial.Levels[0], {Factor: "limit", Value: limit}, r.Trial.Levels[1]}
		r.Trial.Pattern = measure.JoinLevels(r.Trial.Levels)
	}
	var names []string
	for _, f := range build(t, in).test(t, "tcp").FactorEffects {
		names = append(names, f.Factor)
	}
	if !slices.Equal(names, []string{"sku", "interface"}) {
		t.Errorf("%q", names)
	}
}

func TestOneFactorIsLeftToTheRanking(t *testing.T) {
	one := gateways()
	one.factors, one.levels = one.factors[:1], one.levels[:1]
	test := build(t, one.input()).test(t, "tcp")
	if len(test.FactorEffects)+len(test.Effects)+len(test.Interactions) > 0 {
		t.Errorf("%+v", test.FactorEffects)
	}
	byHand := gateways().input()
	for _, r := range byHand.Results {
		r.Trial = nil
	}
	if test := build(t, byHand).Tests[0]; len(test.FactorEffects) > 0 {
		t.Errorf("%+v", test.FactorEffects)
	}
}

func TestHostsThatWereRestartedAreTheUnitsOfEffects(t *testing.T) {
	d := gateways()
	d.boot = func(round int) string { return fmt.Sprint("boot ", (round-1)/2) }
	for _, e := range build(t, d.input()).test(t, "tcp").Effects {
		if e.Unit != stats.UnitDeployment || e.Blocks != 3 {
			t.Errorf("%+v", e)
		}
	}
	in := d.input()
	in.Results[0].Hosts.Server = &measure.Host{} // does not say
	if got := deploymentOf(in.Results[0]); got != "" {
		t.Errorf("%q", got)
	}
}

func TestTrialsOfOneRoundAreComparedOverOtherLevels(t *testing.T) {
	d := gateways()
	d.rounds = 1
	test := build(t, d.input()).test(t, "tcp")
	for _, e := range test.Effects {
		if want := map[string]int{"sku": 2, "interface": 3}[e.Factor]; e.Unit != stats.UnitLevels || e.Blocks != want {
			t.Errorf("%+v", e)
		}
	}
	if len(test.Interactions) > 0 {
		t.Errorf("%+v", test.Interactions)
	}
}

func TestObservationsOfAnEffectAreCountedInWords(t *testing.T) {
	view := english(build(t, design{factors: []string{"a", "b"}, levels: [][]string{{"1", "2"}, {"1", "2"}}, rounds: 1, bps: func([]string) float64 { return 1e9 }}.input()).test(t, "tcp"))
	for unit, want := range map[stats.Unit]string{stats.UnitRound: "1 round", stats.UnitDeployment: "1 deployment", stats.UnitLevels: "1 combination of other levels"} {
		if got := view.units(EffectRatio{Unit: unit, Blocks: 1}); got != want {
			t.Errorf("%s: %q, want %q", unit, got, want)
		}
	}
}

func TestEveryFormSaysWhatFactorsDo(t *testing.T) {
	d := gateways()
	d.levels[0] = []string{"small", "medium", "large", "s4", "s5", "s6", "s7"} // 21 pairs
	speed := d.bps
	d.bps = func(l []string) float64 {
		v := max(speed(l), 1.5e9)
		if l[0] == "large" && l[1] == "private" {
			v *= 1.2
		}
		return v
	}
	r := build(t, d.input())
	test := english(&r.Tests[0])
	said := strings.Join(test.causes(), "\n")
	for _, want := range []string{"sku sets the goodput: on average 2.92 × from s", " to large (95 % interval 2.92 to 2.93 ×), in 6 rounds. After correction for 21 comparisons 11 pairs of levels differ.", "What sku does depends on interface: from s7 to large the goodput is 3.20 × with private (95 % interval 3.19 to 3.21 ×), and 2.67 × with public (95 % interval 2.66 to 2.67 ×), in 6 rounds."} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if table := test.levelTable(); len(table.Rows) != mostPairs || len(test.Effects) != 22 {
		t.Errorf("%d rows of %d", len(table.Rows), len(test.Effects))
	}
	for form, title := range map[string]string{"html": "What each factor does", "md": "### tcp: What each factor does", "txt": "What each factor does"} {
		page := written(t, forms(r)[form])
		for _, want := range []string{title, "of each factor the 12 pairs that differ most", "Sku sets the goodput"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %q", form, want)
			}
		}
	}
	for _, width := range []int{40, 49, 50, 60, 100} {
		var page strings.Builder
		if err := r.Text(&page, text.English(), width); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(page.String()) {
			if n := text.Terminal.StringWidth(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
	}
	var back Report
	if err := json.Unmarshal([]byte(written(t, r.JSON)), &back); err != nil {
		t.Fatal(err)
	}
	if got := back.Tests[0]; len(got.Effects) != 22 || got.FactorEffects[0].Matters != stats.MattersYes || got.Interactions[0].Shown == 0 || got.Interactions[0].A == nil {
		t.Errorf("%+v %+v", got.FactorEffects, got.Interactions)
	}
}

// Scripts count on these names.
func TestTheJSONFormHasWhatEachFactorDoesByName(t *testing.T) {
	type document struct {
		Tests []struct {
			Factors []map[string]any
			Effects []map[string]any
		}
	}
	read := func(in Input) (d document) {
		if err := json.Unmarshal([]byte(written(t, build(t, in).JSON)), &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	test := read(gateways().input()).Tests[0]
	if len(test.Factors) != 2 {
		t.Fatalf("%v", test.Factors)
	}
	for key, want := range map[string]any{"factor": "sku", "matters": "yes"} {
		if got := test.Factors[0][key]; got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	for _, key := range []string{"share", "largest_ratio"} {
		if v, ok := test.Factors[0][key].(float64); !ok || v <= 0 {
			t.Errorf("%s is %v", key, test.Factors[0][key])
		}
	}
	for _, key := range []string{"factor", "a", "b", "ratio", "low", "high", "p", "decision", "blocks"} {
		if test.Effects[0][key] == nil {
			t.Errorf("an effect has no %s: %v", key, test.Effects[0])
		}
	}
	// A ranking compares the levels of one factor already.
	if one := read(campaignOf(map[string][]float64{"a": {1e8, 1.1e8}, "b": {2e8, 2.1e8}})).Tests[0]; one.Factors == nil || len(one.Factors) != 0 {
		t.Errorf("%v", one.Factors)
	}
}

func TestAFactorThatMakesNoDifferenceIsSaidToMakeNone(t *testing.T) {
	r := build(t, gateways().input())
	said := english(&r.Tests[0]).causes()
	if len(said) != 2 || !strings.HasPrefix(said[1], "interface makes no practical difference to the goodput: +0.") || !strings.HasSuffix(said[1], " % at most, in 6 rounds; 2 % or more is ruled out.") {
		t.Errorf("%q", said)
	}
}

func TestAFactorWhoseEffectsCancelOutMakesNoDifferenceOnAverage(t *testing.T) {
	d := gateways()
	d.levels[0] = []string{"small", "medium"}
	d.bps = func(l []string) float64 { // private is faster with one and slower with the other
		if (l[0] == "small") == (l[1] == "private") {
			return 1.1e9
		}
		return 1e9
	}
	said := strings.Join(english(&build(t, d.input()).Tests[0]).causes(), "\n")
	for _, want := range []string{
		"interface makes no practical difference to the goodput on average: ",
		"What sku does depends on interface: from medium to small the goodput is 10.0 % higher with private (95 % interval 9.6 to 10.4 %), and 9.1 % lower with public (95 % interval −9.5 to −8.7 %), in 6 rounds.",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

func TestWhereAFactorDoesNothingAtALevelOfAnotherIsSaid(t *testing.T) {
	d := gateways()
	d.levels[0] = []string{"off", "on"}
	d.bps = func(l []string) float64 { // what limits with public is something else
		if l[0] == "on" && l[1] == "private" {
			return 2.5e9
		}
		return 1e9
	}
	r := build(t, d.input())
	said := strings.Join(english(&r.Tests[0]).causes(), "\n")
	for _, want := range []string{
		"sku changes the goodput: on average 1.581 × from off to on",
		"What sku does depends on interface: from off to on the goodput is 2.50 × with private (95 % interval ", " ×), and practically the same with public (95 % interval −0.",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	at := r.Tests[0].Interactions[0].At
	if len(at) != 2 || at[0].Decision == at[1].Decision || at[0].Blocks != 6 {
		t.Errorf("%+v", at)
	}
}

func TestAReversedComparisonDecidesTheReverse(t *testing.T) {
	ratio, low, high := 2.0, 1.6, 2.5
	e := LevelEffect{A: "on", B: "off", EffectRatio: EffectRatio{Ratio: &ratio, Low: &low, High: &high}, Decision: stats.Better}
	r := e.reversed()
	if r.A != "off" || r.B != "on" || *r.Ratio != 0.5 || *r.Low != 0.4 || *r.High != 0.625 || r.Decision != stats.Worse {
		t.Errorf("%+v", r)
	}
	if back := r.reversed(); back.A != e.A || *back.Ratio != ratio || back.Decision != e.Decision {
		t.Errorf("%+v", back)
	}
	if e.Decision = stats.Same; e.reversed().Decision != stats.Same {
		t.Error("the same is not the same the other way round")
	}
}
