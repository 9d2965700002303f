package report

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/report/outline"
	"soku/internal/stats"
)

// streamSweep is a sweep of 1 to 64 streams on a path of 940 Mbit/s, of which one stream fills
// 250 Mbit/s.
func streamSweep(zones ...string) design {
	var streams []string
	for n := 1; n <= 64; n *= 2 {
		streams = append(streams, fmt.Sprint(n))
	}
	return design{
		factors: []string{"streams", "zone"}, levels: [][]string{streams, zones}, rounds: 8, noise: 0.01,
		bps: func(l []string) float64 {
			n := 0.0
			_, _ = fmt.Sscan(l[0], &n)
			return min(940e6, 250e6*n)
		},
	}
}

func TestTheCurveOfASweepHasKneeAndPlateau(t *testing.T) {
	in := streamSweep("1").input()
	tcp := build(t, in).test(t, "tcp")
	c := tcp.Curve
	if c == nil || tcp.Curves != nil || c.Option != "streams" || len(c.Levels) != 0 || len(c.Points) != 7 {
		t.Fatalf("%+v", c)
	}
	rounds := make([][]float64, 7)
	for i, p := range c.Points {
		if p.Level != fmt.Sprint(1<<i) || p.Value != float64(int(1)<<i) || !(*p.Low < p.Estimate && p.Estimate < *p.High) {
			t.Errorf("point %d is %+v", i, p)
		}
		rounds[i] = make([]float64, 8)
		for _, r := range in.Results {
			if r.Trial.Levels[0].Value == p.Level {
				rounds[i][r.Trial.Round-1] = r.Summary.GoodputBps
			}
		}
	}
	knee, plateau := stats.KneeOf(rounds)
	if *c.Knee != 4 || knee.Level != 2 || *c.Plateau != plateau.Estimate || *c.Low != plateau.Low || *c.High != plateau.High || c.Rising {
		t.Errorf("knee %v, plateau %v (%v to %v), want %+v", *c.Knee, *c.Plateau, *c.Low, *c.High, plateau)
	}
	if got := english(tcp).causes()[0]; !strings.HasPrefix(got, "The goodput levels off from streams 4 on, at ") || !strings.HasSuffix(got, "; 1 alone reaches 26.8 % of that.") {
		t.Error(got)
	}
}

func TestACurveForEachCombinationOfTheOtherFactors(t *testing.T) {
	d := streamSweep("1", "2", "3")
	tcp := build(t, d.input()).test(t, "tcp")
	if tcp.Curve != nil || len(tcp.Curves) != 3 || tcp.Curves[2].Levels[0] != (measure.Level{Factor: "zone", Value: "3"}) {
		t.Fatalf("%+v", tcp.Curves)
	}
	causes := english(tcp).causes()
	if got := causes[len(causes)-1]; !strings.HasPrefix(got, "The goodput levels off from streams 4 on with each of 3 combinations of other levels, at 93") {
		t.Error(got)
	}
	d.levels[0] = []string{"1", "2", "3", "4", "5"}
	d.bps = func(l []string) float64 {
		if l[1] == "3" {
			return 1e8 * float64(l[0][0]-'0')
		}
		return 5e8
	}
	got := english(build(t, d.input()).test(t, "tcp")).levelingOff()
	if !strings.HasPrefix(got, "By zone: the goodput levels off from streams 1 on with 1 and 2 (50") || !strings.Contains(got, "; it still rises at 5, the last level measured, with 3 (50") {
		t.Errorf("%q", got)
	}
}

// kneesBySku is a sweep of streams for skus of which each levels off at a number of its own.
func kneesBySku(knees ...int) design {
	d := streamSweep()
	d.factors[1], d.rounds, d.noise = "sku", 4, 0.002
	for i := range knees {
		d.levels[1] = append(d.levels[1], fmt.Sprintf("s%d", i))
	}
	d.bps = func(l []string) float64 {
		n, sku := 0.0, 0
		_, _ = fmt.Sscan(l[0], &n)
		_, _ = fmt.Sscanf(l[1], "s%d", &sku)
		return 1e8 * min(n, float64(knees[sku]))
	}
	return d
}

func TestCurvesThatLevelOffAtDifferentLevelsAreOneSentenceAndATable(t *testing.T) {
	for name, c := range map[string]struct {
		knees []int
		parts []string
		table []string // one row
	}{
		"few levels": {[]int{2, 4, 4, 64}, []string{
			"By sku: the goodput levels off from streams 2 on with s0 (", "; 4 on with s1 and s2 (", "; it still rises at 64, the last level measured, with s3 (5.8",
		}, []string{"s0", "2", "50."}},
		"many curves of a level": {[]int{4, 4, 4, 4, 8}, []string{"levels off from streams 4 on with 4 combinations of other levels (377.0 Mbit/s to 377.1 Mbit/s); 8 on with s4 ("}, []string{"s4", "8", "12."}},
		"many levels": {[]int{1, 2, 4, 8, 16, 64}, []string{
			"The goodput of 5 combinations of other levels levels off from streams 1 to 16 on, at 95.07 Mbit/s to 1.519 Gbit/s", "; that of 1 combination of other levels still rises at the last level measured.",
		}, []string{"s5", "rises to 64", "1.6"}},
		"all rise":             {[]int{64, 64}, []string{"The goodput still rises at streams 64, the last level measured, with each of 2 combinations of other levels: 6."}, []string{"s1", "rises to 64", "1.5"}},
		"all are full at once": {[]int{1, 1}, []string{"The goodput is at its plateau from streams 1 on, the first level measured, with each of 2 combinations of other levels: "}, []string{"s0", "1", "100"}},
	} {
		r := build(t, kneesBySku(c.knees...).input())
		v := english(r.test(t, "tcp"))
		said := v.levelingOff()
		for _, want := range c.parts {
			if !strings.Contains(said, want) {
				t.Errorf("%s: no %q in %q", name, want, said)
			}
		}
		found := slices.ContainsFunc(texts(v.plateauTable()), func(row []string) bool {
			return row[0] == c.table[0] && row[1] == c.table[1] && strings.HasPrefix(row[len(row)-1], c.table[2][:1])
		})
		if len(v.plateauTable().Rows) != len(c.knees) || !found {
			t.Errorf("%s: no row %q in %q", name, c.table, texts(v.plateauTable()))
		}
		for form, want := range map[string]string{"html": ">plateau of the goodput</h3>", "md": "### tcp: plateau of the goodput\n\n| sku | from streams | plateau (", "txt": "  plateau of the goodput\n  sku  "} {
			if got := written(t, forms(r)[form]); !strings.Contains(got, want) {
				t.Errorf("%s: %s has no table of plateaus", name, form)
			}
		}
	}
	many := build(t, kneesBySku(slices.Repeat([]int{4}, mostSweeps+2)...).input())
	for form, out := range forms(many) {
		for _, table := range []string{"over streams", "plateau of the goodput"} {
			want := table + ": the first 24 of 26 combinations, all of them in the form json"
			if got := strings.Join(strings.Fields(written(t, out)), " "); form != "json" && form != "csv" && !strings.Contains(got, want) {
				t.Errorf("%s has no %q", form, want)
			}
		}
	}
	if one := english(build(t, streamSweep("1").input()).test(t, "tcp")); len(one.plateauTable().Columns) > 0 {
		t.Error("one curve has a table of plateaus")
	}
}

func TestCurvesThatAllRiseToDifferentLevelsLevelOffNowhere(t *testing.T) {
	rise := func(level string) plateauGroup {
		return plateauGroup{level: CurvePoint{Level: level}, rising: true, curves: make([]Curve, 2), low: 1e9, high: 2e9}
	}
	v := english(&Test{Basis: Basis{metric.Goodput}})
	groups := []plateauGroup{{level: CurvePoint{Level: "4"}, curves: make([]Curve, 3), low: 1e9, high: 2e9}, rise("8"), rise("16")}
	for want, some := range map[string][]plateauGroup{
		"The goodput of 4 combinations of other levels still rises at the last level measured.":                                                                                                       groups[1:],
		"The goodput of 3 combinations of other levels levels off from streams 4 on, at 1.000 Gbit/s to 2.000 Gbit/s; that of 4 combinations of other levels still rises at the last level measured.": groups,
	} {
		if got := v.levelOffApart("streams", some); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestLevelsThatAreNumbers(t *testing.T) {
	for _, c := range []struct {
		levels []string
		want   []float64
	}{
		{[]string{"1", "2", "0.5"}, []float64{1, 2, 0.5}},
		{[]string{"100M", "1.5 Gbit/s", "800k"}, []float64{1e8, 1.5e9, 8e5}},
		{[]string{"64KiB", "1MB"}, []float64{65536, 1e6}},
		{[]string{"10s", "1m"}, []float64{1e10, 6e10}},
		{[]string{"1000", "1k"}, nil},
		{[]string{"1", "all"}, nil},
		{[]string{"NaN", "1"}, nil},
		{[]string{"Standard_D2s"}, nil},
	} {
		got := numbersOf(c.levels)
		if len(got) != len(c.want) {
			t.Errorf("%q: %v", c.levels, got)
			continue
		}
		for i, v := range c.want {
			if got[c.levels[i]] != v {
				t.Errorf("%s is %v, want %v", c.levels[i], got[c.levels[i]], v)
			}
		}
	}
}

func TestThereIsNoCurveOfNamesOfFewLevelsOrOfALabel(t *testing.T) {
	few := streamSweep("1")
	few.levels[0] = few.levels[0][:3]
	label := streamSweep("1")
	label.factors[0] = "sku"
	label.levels[0] = []string{"small", "medium", "large", "huge"}
	in := label.input()
	for _, r := range in.Results { // the limit of each SKU
		r.Trial.Levels = append(r.Trial.Levels, measure.Level{Factor: "published limit", Value: map[string]string{"small": "1", "medium": "2", "large": "4", "huge": "8"}[r.Trial.Levels[0].Value]})
	}
	for name, in := range map[string]Input{"three levels": few.input(), "a label": in} {
		if tcp := build(t, in).test(t, "tcp"); tcp.Curve != nil || tcp.Curves != nil {
			t.Errorf("%s: %+v", name, tcp.allCurves())
		}
	}
}

func TestACurveOfLatencyHasNoPlateau(t *testing.T) {
	in := streamSweep("1").input()
	for _, r := range in.Results {
		r.Test, r.Trial.Label = measure.TestLatency, "latency"
		r.Latency = &measure.Latency{Timing: &measure.Timing{}, Histogram: measure.NewHistogram()}
		r.Latency.Histogram.Record(int64(1e15 / r.Summary.GoodputBps))
		r.Summary = measure.Summary{RTT: r.Latency.Histogram.Percentiles()}
	}
	r := build(t, in)
	if c := r.test(t, "latency").Curve; c == nil || c.Knee != nil || c.Plateau != nil || len(c.Points) != 7 {
		t.Errorf("%+v", c)
	}
	if html := written(t, forms(r)["html"]); !strings.Contains(html, `id="t1-sweep-wide"`) || strings.Contains(html, `class="knee`) {
		t.Error("the page has no curve, or one with a knee")
	}
}

func TestASweepIsDrawnOnTheAxisOnWhichItsLevelsAreEven(t *testing.T) {
	for name, c := range map[string]struct {
		xs   []float64
		want bool
	}{"doubled": {[]float64{1, 2, 4, 8}, true}, "even": {[]float64{1, 2, 3, 4}, false}, "from zero": {[]float64{0, 1, 10, 100}, false}, "by ten": {[]float64{0.1, 1, 10, 100}, true}} {
		if got := spreadByFactors(c.xs); got != c.want {
			t.Errorf("%s: logarithmic %v", name, got)
		}
	}
	c := english(build(t, streamSweep("1").input()).test(t, "tcp"))
	one := c.sweepCharts("x").Figures[0]
	marks := one.Charts[0].Marks
	for i := 2; i < len(marks); i++ {
		if math.Abs((marks[i].X-marks[i-1].X)-(marks[1].X-marks[0].X)) > 0.01 {
			t.Errorf("doubled levels are %v and %v apart", marks[i].X-marks[i-1].X, marks[1].X-marks[0].X)
		}
	}
	if y := marks[6].Y; y >= marks[0].Y {
		t.Error("more is drawn lower")
	}
}

func TestTheDocumentedLimitIsALineOfTheCurve(t *testing.T) {
	in := streamSweep("1").input()
	in.Design.Limits = func(*measure.Result) []measure.Limit {
		return []measure.Limit{{Metric: "goodput_bps", Value: 2e9, Source: "page"}}
	}
	tcp := build(t, in).test(t, "tcp")
	if p := tcp.Curve.Points[3]; p.Limit == nil || *p.Limit != 2e9 {
		t.Errorf("%+v", p)
	}
	one := english(tcp).sweepCharts("x").Figures[0]
	for _, c := range one.Charts {
		at := slices.IndexFunc(c.Lines, func(s outline.Shape) bool { return s.Class == "limit" })
		if at < 0 || c.Lines[at].Title != "published limit 2.000 Gbit/s" || !slices.ContainsFunc(c.Texts, func(x outline.ChartText) bool {
			return x.Text == "published limit 2.000 Gbit/s" && x.Y > 0 && x.Y < c.Marks[6].Y
		}) {
			t.Errorf("%s has no line of the limit above its points", c.ID)
		}
	}
}

func TestCurvesAreInEveryForm(t *testing.T) {
	one, many := build(t, streamSweep("1").input()), build(t, streamSweep("a", "b").input())
	for form, want := range map[string][2]string{
		"html": {`class="plateau `, `id="t1-sweep-1"`},
		"md":   {"### tcp: Goodput over streams\n\n| streams | goodput (Mbit/s) | 95 % interval (Mbit/s) | of plateau |", "| streams | a | b |"},
		"txt":  {"streams  goodput (Mbit/s)  95 % interval (Mbit/s)  of plateau", "streams      a      b"},
	} {
		for i, r := range []*Report{one, many} {
			if got := written(t, forms(r)[form]); !strings.Contains(got, want[i]) {
				t.Errorf("%s has no %s", form, want[i])
			}
		}
	}
	var got struct {
		Tests []struct {
			Curve struct {
				Option                   string
				Points                   []map[string]any
				Knee, Plateau, Low, High float64
			}
		}
	}
	if err := json.Unmarshal([]byte(written(t, one.JSON)), &got); err != nil {
		t.Fatal(err)
	}
	if c := got.Tests[0].Curve; c.Option != "streams" || len(c.Points) != 7 || c.Knee != 4 || !(c.Low < c.Plateau && c.Plateau < c.High) {
		t.Errorf("%+v", c)
	}
	in := streamSweep("a", "b").input()
	slices.Reverse(in.Results)
	reversed := build(t, in)
	for form := range forms(many) {
		if written(t, forms(many)[form]) != written(t, forms(reversed)[form]) {
			t.Errorf("%s depends on the order of results", form)
		}
	}
}

// searchedSweep is what a search leaves: every level up to 32 once, in round 1, and three of
// them again. lucky is the ratio by which the first trial of 8 streams was better.
func searchedSweep(lucky float64) Input {
	in := streamSweep("1").input()
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool {
		level := r.Trial.Levels[0].Value
		return r.Trial.Round > 4 || r.Trial.Round > 1 && level != "4" && level != "8" && level != "16" || level == "64"
	})
	for _, r := range in.Results {
		if r.Trial.Round == 1 && r.Trial.Levels[0].Value == "8" {
			r.Summary.GoodputBps *= lucky
		}
	}
	return in
}

func TestThePlateauOfASearchIsOfWhatWasMeasuredAfterIt(t *testing.T) {
	var plateaus []float64
	for _, lucky := range []float64{1, 1.5} {
		in := searchedSweep(lucky)
		in.Design.Searched = "streams"
		c := build(t, in).test(t, "tcp").Curve
		if c == nil || !c.Searched || len(c.Points) != 6 || *c.Knee != 4 || c.Rising {
			t.Fatalf("%+v", c)
		}
		plateaus = append(plateaus, *c.Plateau)
	}
	if plateaus[0] != plateaus[1] || math.Abs(plateaus[0]/940e6-1) > 0.06 {
		t.Errorf("plateaus are %v: the search counts", plateaus)
	}
	// Of a full list all trials count, the lucky one too.
	if c := build(t, searchedSweep(1.5)).test(t, "tcp").Curve; c.Searched || *c.Plateau < 1.01*plateaus[0] {
		t.Errorf("plateau %v of a full list, %v of a search", *c.Plateau, plateaus[0])
	}
}

func TestASearchThatEndsAfterThreeLevelsHasACurve(t *testing.T) {
	in := streamSweep("1").input()
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool {
		return !slices.Contains([]string{"1", "2", "4"}, r.Trial.Levels[0].Value)
	})
	if c := build(t, in).test(t, "tcp").Curve; c != nil {
		t.Errorf("three levels of a list make %+v", c)
	}
	in.Design.Searched = "streams"
	if c := build(t, in).test(t, "tcp").Curve; c == nil || len(c.Points) != 3 {
		t.Errorf("three levels of a search make %+v", c)
	}
}
