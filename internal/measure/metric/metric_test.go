package metric

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
)

var update = flag.Bool("update", false, "write the generated files anew")

const metricsFile = "../../../docs/reference/metrics.md"

func TestEveryMetricIsComplete(t *testing.T) {
	keys, members, columns := map[string]bool{}, map[string]bool{}, map[string]bool{}
	once := func(seen map[string]bool, what, name string) {
		if seen[name] {
			t.Errorf("two metrics have the %s %s", what, name)
		}
		seen[name] = true
	}
	for _, m := range All() {
		t.Run(m.Key, func(t *testing.T) {
			once(keys, "key", m.Key)
			if m.Help == "" || strings.HasSuffix(m.Help, ".") {
				t.Errorf("help is %q; a phrase without a full stop is wanted", m.Help)
			}
			if !slices.Contains(Quantities(), m.Quantity) || !slices.Contains(Combinations(), m.Over) {
				t.Errorf("quantity %q, combination %q", m.Quantity, m.Over)
			}
			if unitless := m.Quantity == QuantityRatio || m.Quantity == QuantityIndex; (m.Unit == "") != unitless {
				t.Errorf("a %s has the unit %q", m.Quantity, m.Unit)
			}
			if m.Take == nil && (m.Of == nil || m.Read == nil) || m.Over == Merged && (m.Of == nil || m.Read == nil) || m.Over == RatioOfSums && m.Parts == nil {
				t.Errorf("nothing says how it is taken from results")
			}
			if m.Better == Neither && m.Quantity != QuantityCount {
				t.Error("no direction is better")
			}
			for _, member := range m.ReportMembers() {
				once(members, "member", member.Path)
			}
			for _, c := range m.CSVColumns() {
				once(columns, "column", c.Name)
				if !strings.HasSuffix(c.Name, m.Suffix) {
					t.Errorf("column %s does not end with the unit %s", c.Name, m.Suffix)
				}
			}
			if len(m.Tests()) == 0 {
				t.Error("no test has it")
			}
			if ByKey(m.Key) != m {
				t.Error("it is not found by its key")
			}
		})
	}
	if ByKey("no_such_bps") != nil {
		t.Error("a metric is found that does not exist")
	}
}

// Results that are empty, failed or damaged have no figure, and nothing panics.
func TestMetricsOfAnEmptyResult(t *testing.T) {
	for _, r := range []*measure.Result{
		{}, {Error: measure.TextError(measure.KindBroken, "cut", "")}, {Latency: &measure.Latency{}}, {UnderLoad: &measure.UnderLoad{During: &measure.Latency{}}}, {Flows: make([]measure.Flow, 2)},
		{Latency: &measure.Latency{Histogram: measure.NewHistogram(), Floor: nil}, Origin: &measure.Origin{}},
	} {
		for _, test := range append(measure.Tests(), "") {
			r.Test = test
			for _, m := range All() {
				v, found := m.Value(r)
				if found && m.Key != "packets_per_second" { // none arrived
					t.Errorf("%s of an empty result of %s is %v", m.Key, test, v)
				}
				if m.Parts != nil {
					if _, _, found := m.Parts(r); found {
						t.Errorf("%s of an empty result has parts", m.Key)
					}
				}
				if m.Ranks != nil {
					m.Ranks([]*measure.Result{r})
				}
			}
		}
	}
}

func TestEveryTestHasMetricsThatRankAndHeadlinesOfItsOwn(t *testing.T) {
	for _, test := range append(measure.Tests(), "a test of a later version") {
		own := Of(test)
		has := func(m *Definition) bool {
			return slices.ContainsFunc(own.Families, func(f *Family) bool { return slices.Contains(f.Metrics, m) })
		}
		if len(own.Ranking) == 0 || len(own.Headline) == 0 {
			t.Fatalf("%s is ranked by %d metrics and has a headline of %d", test, len(own.Ranking), len(own.Headline))
		}
		for _, m := range append(slices.Concat(own.Headline...), own.Ranking...) {
			if !has(m) {
				t.Errorf("%s does not have %s", test, m.Key)
			}
		}
		for _, m := range own.Ranking {
			if m.Better == Neither {
				t.Errorf("%s is ranked by %s, of which neither direction is better", test, m.Key)
			}
		}
	}
}

func TestTripsAreRankedByWhatEverySourceGives(t *testing.T) {
	mean, p50 := 2e6, 1e6
	reported := func(part string, f measure.RTTFigures) *measure.Result {
		return &measure.Result{Test: measure.TestLatency, Origin: &measure.Origin{Part: part}, Summary: measure.Summary{ReportedRTT: &f}}
	}
	h := measure.NewHistogram()
	h.Record(1000)
	own := &measure.Result{Test: measure.TestLatency, Latency: &measure.Latency{Histogram: h}}
	for name, c := range map[string]struct {
		results []*measure.Result
		want    *Definition
	}{
		"histograms":                   {[]*measure.Result{own}, RTTP50},
		"medians":                      {[]*measure.Result{own, reported("", measure.RTTFigures{Mean: &mean, P50: &p50})}, RTTP50},
		"one source has no median":     {[]*measure.Result{own, reported("", measure.RTTFigures{Mean: &mean})}, RTTMean},
		"one source has neither":       {[]*measure.Result{reported("", measure.RTTFigures{Mean: &mean}), reported("", measure.RTTFigures{})}, RTTP50},
		"the ends of a range of means": {[]*measure.Result{reported("low", measure.RTTFigures{Mean: &mean}), reported("high", measure.RTTFigures{Mean: &mean})}, RTTMeanMiddle},
		"nothing":                      {nil, RTTP50},
	} {
		if got := Ranking(measure.TestLatency, c.results); got != c.want {
			t.Errorf("%s: ranked by %s, want %s", name, got.Key, c.want.Key)
		}
	}
}

func TestConnectionsAreRankedBySetUpsWhereEveryTrialHadARateToKeep(t *testing.T) {
	paced := &measure.Result{Test: measure.TestConnect, Options: measure.Options{RequestRate: 100}, Summary: measure.Summary{ConnectionsPerSecond: 100}}
	free := &measure.Result{Test: measure.TestConnect, Summary: measure.Summary{ConnectionsPerSecond: 9000}}
	setUps := &measure.Result{Test: measure.TestConnect, Origin: &measure.Origin{}}
	for _, c := range []struct {
		results []*measure.Result
		want    *Definition
	}{{[]*measure.Result{free, paced}, Connections}, {[]*measure.Result{paced}, RTTP50}, {[]*measure.Result{setUps}, RTTP50}} {
		if got := Ranking(measure.TestConnect, c.results); got != c.want {
			t.Errorf("ranked by %s, want %s", got.Key, c.want.Key)
		}
	}
}

func TestHeadlines(t *testing.T) {
	type figures map[string]float64
	for _, c := range []struct {
		test       measure.Test
		have, want figures
	}{
		{measure.TestTCP, figures{"goodput_bps": 5e8, "retransmits": 3}, figures{"goodput_bps": 5e8}},
		{measure.TestTCP, nil, figures{}},
		{measure.TestUDP, figures{"goodput_bps": 5e8, "loss_ratio": 0.25, "jitter_ns": 7}, figures{"goodput_bps": 5e8, "loss_ratio": 0.25}},
		{measure.TestPing, figures{"rtt_p50_ns": 1, "rtt_mean_ns": 2, "rtt_p99_ns": 3, "rtt_loss_ratio": 0.25}, figures{"rtt_p50_ns": 1, "rtt_p99_ns": 3, "rtt_loss_ratio": 0.25}},
		{measure.TestPing, figures{"rtt_mean_ns": 3e6, "rtt_max_ns": 5e6}, figures{"rtt_mean_ns": 3e6}},
		{measure.TestPing, figures{"rtt_max_ns": 5e6}, figures{"rtt_max_ns": 5e6}},
		{measure.TestConnect, figures{"connections_per_second": 900, "rtt_p50_ns": 1000, "rtt_p99_ns": 1000}, figures{"connections_per_second": 900, "rtt_p50_ns": 1000, "rtt_p99_ns": 1000}},
		{measure.TestTrace, figures{"hops": 3, "rtt_min_ns": 5}, figures{"hops": 3}},
		{measure.TestMTU, figures{"path_mtu_bytes": 1400}, figures{"path_mtu_bytes": 1400}},
	} {
		if got := Headline(c.test, c.have); !maps.Equal(figures(got), c.want) {
			t.Errorf("%s: %v, want %v", c.test, got, c.want)
		}
	}
}

func TestThePageOfMetricsIsWrittenFromTheTable(t *testing.T) {
	want := metricsPage()
	if *update {
		if err := os.WriteFile(metricsFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(metricsFile)
	if err != nil || strings.ReplaceAll(string(got), "\r\n", "\n") != want {
		t.Errorf("docs/reference/metrics.md is not what the table says (%v); run: go test ./internal/measure/metric -update", err)
	}
}

// metricsPage is the reference of metrics.
func metricsPage() string {
	var b strings.Builder
	b.WriteString(`# Metrics

Every figure of a report, a ranking or a list of results is one of these. This page is written from the table in the
sources (` + "`internal/measure/metric`" + `); [result](result.md) and [report](report.md) say where the figures come from and what
else the documents hold.

- **Key**: its name in documents, the unit at the end.
- **Over trials**: how the figures of a pattern's trials become one. A round's trials are averaged first, then the
  rounds. Percentiles are read from the histograms of all trials together and are never averaged.
- **CSV columns** and **JSON**: where a [report](report.md) has it, in the file and in a row of the document. There members of
  ` + "`rtt_ns`, `latency_under_load.idle` and `latency_under_load.loaded`" + ` are numbers, and all others objects of ` + "`mean`, `min`, `max`, `cv`" + `
  (standard deviation divided by the mean) and ` + "`n`" + ` (trials).

`)
	for _, f := range families() {
		fmt.Fprintf(&b, "## %s\n\n", f.Title)
		if f.Note != "" {
			fmt.Fprintf(&b, "%s\n\n", f.Note)
		}
		b.WriteString("| key | meaning | unit | better | over trials | tests | CSV columns | JSON |\n|---|---|---|---|---|---|---|---|\n")
		for _, m := range f.Metrics {
			var tests, columns, members []string
			for _, t := range m.Tests() {
				tests = append(tests, string(t))
			}
			for _, c := range m.CSVColumns() {
				columns = append(columns, "`"+c.Name+"`")
			}
			for _, member := range m.ReportMembers() {
				members = append(members, "`"+member.Path+"`")
			}
			unit := m.Unit
			if unit == "" {
				unit = "0 to 1"
			}
			cells := []string{"`" + m.Key + "`", m.Help, unit, string(m.Better), string(m.Over), strings.Join(tests, ", "), strings.Join(columns, ", "), strings.Join(members, ", ")}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		}
		b.WriteString("\n")
	}
	b.WriteString("## What a test is ranked by, and what stands for a result in a list\n\n| test | ranking | in a list |\n|---|---|---|\n")
	for _, t := range measure.Tests() {
		own := Of(t)
		var ranking, headline []string
		for _, m := range own.Ranking {
			ranking = append(ranking, "`"+m.Key+"`")
		}
		for _, list := range own.Headline {
			var keys []string
			for _, m := range list {
				keys = append(keys, "`"+m.Key+"`")
			}
			headline = append(headline, strings.Join(keys, " or "))
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", t, strings.Join(ranking, ", "), strings.Join(headline, ", "))
	}
	b.WriteString(`
Of several metrics the first that fits the trials ranks them: ` + "`connections_per_second`" + ` unless every trial had a rate to keep
or its source gives none, ` + "`rtt_mean_middle_ns`" + ` and ` + "`rtt_mean_ns`" + ` where a source gives means and no medians, of a range or of every
trial, and ` + "`rtt_p50_ns`" + ` in all other cases.
`)
	return b.String()
}
