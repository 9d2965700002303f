package report

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/text"
)

func build(t *testing.T, in Input) *Report {
	t.Helper()
	r, err := Build(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *Report) test(t *testing.T, label string) *Test {
	t.Helper()
	for i := range r.Tests {
		if r.Tests[i].Label == label {
			return &r.Tests[i]
		}
	}
	t.Fatalf("no test %s in the report", label)
	return nil
}

// english is a test with its texts.
func english(t *Test) testView { return testView{t, text.English()} }

func (t *Test) row(tb testing.TB, pattern string) *Row {
	tb.Helper()
	for i := range t.Rows {
		if strings.HasPrefix(t.Rows[i].Pattern, pattern) {
			return &t.Rows[i]
		}
	}
	tb.Fatalf("no row %s", pattern)
	return nil
}

// tcpTrial is a plain throughput result in a campaign.
func tcpTrial(pattern string, round int, bps float64) *measure.Result {
	o, _ := measure.Defaults(measure.TestTCP).Effective(measure.TestTCP)
	return &measure.Result{
		Schema: measure.Schema, ID: fmt.Sprintf("%s-%d-%f", pattern, round, bps), Test: measure.TestTCP, Options: o,
		StartedAt: syntheticStart.Add(time.Duration(round) * time.Minute),
		Trial:     &measure.Trial{Campaign: "c", Pattern: pattern, Label: "tcp", Round: round, Repeat: 1, Levels: []measure.Level{{Factor: "path", Value: pattern}}},
		Summary:   measure.Summary{GoodputBps: bps, Confidence: measure.High},
	}
}

func campaignOf(rounds map[string][]float64) Input {
	in := Input{Campaign: Meta{ID: "c", Name: "c", Seed: 1}}
	for pattern, values := range rounds {
		for i, v := range values {
			in.Results = append(in.Results, tcpTrial(pattern, i+1, v))
		}
	}
	return in
}

// Levels of a factor that sets nothing in a test are one pattern there.
func TestPatternsAreNotComparedByAFactorThatSetsNothing(t *testing.T) {
	in := Input{Campaign: Meta{ID: "c", Name: "c", Seed: 1}, Unvaried: map[string][]string{"rtt": {"streams"}, "ping": {"streams", "path"}}}
	for _, path := range []string{"vpc", "public"} {
		for i, streams := range []string{"1", "16"} {
			levels := []measure.Level{{Factor: "path", Value: path}, {Factor: "streams", Value: streams}}
			in.Patterns = append(in.Patterns, levels)
			for _, label := range []string{"up", "rtt", "ping"} {
				for round := 1; round <= 2; round++ {
					r := tcpTrial(path+" / "+streams, round, 100e6+1e6*float64(i+round))
					r.ID, r.Trial.Label, r.Trial.Levels = label+r.ID, label, levels
					in.Results = append(in.Results, r)
				}
			}
		}
	}
	r := build(t, in)
	for label, want := range map[string]struct {
		patterns []string
		caveat   string
	}{
		"up":   {[]string{"vpc / 1", "vpc / 16", "public / 1", "public / 16"}, ""},
		"rtt":  {[]string{"vpc", "public"}, "streams sets nothing in this test: trials of all its levels are counted together."},
		"ping": {[]string{"all"}, "streams and path set nothing in this test: trials of all their levels are counted together."},
	} {
		test := r.test(t, label)
		var got []string
		for _, row := range test.Rows {
			got = append(got, row.Pattern)
			if all := len(test.Rows) * row.Trials; all != 8 {
				t.Errorf("%s: %s has %d trials", label, row.Pattern, row.Trials)
			}
		}
		if !slices.Equal(got, want.patterns) || len(test.Ranking) != len(want.patterns) {
			t.Errorf("%s: rows %q, ranking %+v", label, got, test.Ranking)
		}
		if said := strings.Join(english(test).caveats(), ""); said != want.caveat {
			t.Errorf("%s: caveats %q", label, said)
		}
	}
}

func TestAReportGroupsTrialsByLabelAndPattern(t *testing.T) {
	r := build(t, campaignWithFailure())
	if len(r.Tests) != 2 || r.Tests[0].Label != "tcp" || r.Tests[1].Label != "latency" {
		t.Fatalf("tests %+v", r.Tests)
	}
	if r.Trials != 24 || r.Failed != 1 || r.Rounds != 3 {
		t.Errorf("%d trials, %d failed, %d rounds", r.Trials, r.Failed, r.Rounds)
	}
	tcp := r.test(t, "tcp")
	if !slices.Equal(tcp.Factors, []string{"gateway SKU", "zone"}) || len(tcp.Rows) != 4 {
		t.Errorf("factors %v, %d rows", tcp.Factors, len(tcp.Rows))
	}
	for _, row := range tcp.Rows {
		if row.Trials+row.Failed != 3 {
			t.Errorf("%s: %d trials", row.Pattern, row.Trials+row.Failed)
		}
	}
}

func TestTestsComeInThePlansOrder(t *testing.T) {
	in := fourPatterns().input()
	for _, r := range in.Results {
		r.Trial.Label = map[measure.Test]string{measure.TestTCP: "b", measure.TestLatency: "c"}[r.Test]
		if r.Test == measure.TestTCP && r.Trial.Round == 1 {
			r.Trial.Label = "a"
		}
	}
	labels := func() (out []string) {
		for _, x := range build(t, in).Tests {
			out = append(out, x.Label)
		}
		return out
	}
	if got := labels(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("without a plan the tests are %q", got)
	}
	in.Tests = []string{"c", "b"}
	if got := labels(); !slices.Equal(got, []string{"c", "b", "a"}) {
		t.Errorf("tests are %q", got)
	}
}

func TestBytesDroppedAndBytesReadAreNeverCompared(t *testing.T) {
	results := func(paths ...string) []*measure.Result {
		var in []*measure.Result
		for _, x := range fourPatterns().input().Results {
			if x.Test != measure.TestTCP {
				continue
			}
			x.Flows[0].RXPath = paths[len(in)%len(paths)]
			in = append(in, x)
		}
		return in
	}
	labels := func(in []*measure.Result) (out []string) {
		r, err := Build(Input{Results: in})
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Tests {
			out = append(out, english(&r.Tests[i]).label())
		}
		return out
	}
	if got := labels(results("discard", "read")); !slices.Equal(got, []string{"tcp, bytes discarded", "tcp, bytes read"}) {
		t.Errorf("two kinds of receiving make the tests %q", got)
	}
	if got := labels(results("discard", "")); !slices.Equal(got, []string{"tcp"}) {
		t.Errorf("a trial that took no byte is of a kind of its own: %q", got)
	}
}

func TestPercentilesAreThoseOfMergedHistograms(t *testing.T) {
	// One quiet and one slow trial: the mean of their p99 would be about 50 ms,
	// the p99 of all round trips is that of the slow one's bulk.
	trial := func(round, n int, ns int64) *measure.Result {
		h := measure.NewHistogram()
		for range n {
			h.Record(ns)
		}
		r := tcpTrial("a", round, 0)
		r.Test = measure.TestLatency
		r.Options, _ = measure.Defaults(measure.TestLatency).Effective(measure.TestLatency)
		r.Trial.Label = "latency"
		r.Latency = &measure.Latency{Histogram: h, Sent: int64(n) + 1, Received: int64(n), Lost: 1}
		return r
	}
	in := Input{Results: []*measure.Result{trial(1, 9990, 1e6), trial(2, 10, 100e6)}}
	row := build(t, in).Tests[0].Rows[0]
	value := func(key string) float64 { return row.Figure(key).Value }
	if value("rtt_p99_ns") > 1.01e6 || value("rtt_p99_99_ns") < 99e6 || value("rtt_count") != 10000 {
		t.Errorf("%+v", row.Figures)
	}
	if means := row.Figure("rtt_run_mean_ns"); math.Abs(means.Min-1e6) > 1e3 || math.Abs(means.Max-100e6) > 1e5 {
		t.Errorf("run means %v to %v", means.Min, means.Max)
	}
	if value("rtt_lost") != 2 || value("rtt_sent") != 10002 || math.Abs(value("rtt_loss_ratio")-2.0/10002) > 1e-12 {
		t.Errorf("lost %v of %v, %v", value("rtt_lost"), value("rtt_sent"), value("rtt_loss_ratio"))
	}
}

func TestTheOrderOfResultsDoesNotMatter(t *testing.T) {
	in := campaignWithFailure()
	write := func() string {
		var b bytes.Buffer
		if err := build(t, in).JSON(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := write()
	rand.New(rand.NewPCG(3, 3)).Shuffle(len(in.Results), func(i, j int) { in.Results[i], in.Results[j] = in.Results[j], in.Results[i] })
	in.Results = append(in.Results, in.Results[5], nil) // stored twice
	if write() != want {
		t.Error("another order or a repeated result changes the report")
	}
}

func TestRowsComeInThePlansOrder(t *testing.T) {
	in := fourPatterns().input()
	names := func(order []string) (out []string) {
		in.Patterns = nil
		for _, name := range order {
			levels := []measure.Level{{Factor: "sku", Value: name}}
			for _, r := range in.Results {
				if r.Trial.Pattern == name {
					levels = r.Trial.Levels
				}
			}
			in.Patterns = append(in.Patterns, levels)
		}
		for _, row := range build(t, in).Tests[0].Rows {
			out = append(out, row.Pattern)
		}
		return out
	}
	sorted := names(nil)
	order := []string{sorted[2], "not run yet", sorted[0]}
	if got, want := names(order), []string{sorted[2], sorted[0], sorted[1], sorted[3]}; !slices.Equal(got, want) {
		t.Errorf("in the order of %q: rows %q, want %q", order, got, want)
	}
}

func TestTrialsByHandAreNamedByPathAndOptions(t *testing.T) {
	in := Input{}
	for i, streams := range []int{16, 2, 16} {
		r := tcpTrial("x", 1, float64(100+i))
		r.Trial = nil
		r.Options.Streams = streams
		r.Path = measure.Path{Client: measure.Endpoint{Name: "me"}, Server: measure.Endpoint{Name: "vm"}}
		in.Results = append(in.Results, r)
	}
	report := build(t, in)
	test := report.Tests[0]
	if title := (reportView{report, text.English()}).title(); title != "Trials run by hand" || !slices.Equal(test.Factors, []string{"path", "streams"}) || len(test.Rows) != 2 {
		t.Fatalf("%q %v %d rows", title, test.Factors, len(test.Rows))
	}
	if test.Rows[0].Pattern != "me → vm, streams 2" || test.Rows[1].Trials != 2 {
		t.Errorf("%+v", test.Rows)
	}
	if !strings.Contains(english(&test).answer(), "not tested") || !slices.ContainsFunc(english(&test).caveats(), func(s string) bool { return strings.Contains(s, "by hand") }) {
		t.Errorf("%+v %+v", test.Answer, test.Caveats)
	}
}

func TestRoundsWithAnyNumberPairUp(t *testing.T) {
	in := Input{}
	for _, pattern := range []string{"a", "b"} {
		for i, round := range []int{3, math.MaxInt32, -7} {
			drift := float64(i) * 50e6
			v := 100e6 + drift
			if pattern == "b" {
				v += 5e6 + float64(i)*1e4
			}
			in.Results = append(in.Results, tcpTrial(pattern, round, v))
		}
	}
	test := build(t, in).Tests[0]
	if test.Rounds != 3 || !strings.HasPrefix(english(&test).answer(), "b is fastest") {
		t.Errorf("%d rounds: %+v", test.Rounds, test.Answer)
	}
}

func TestBothDirectionsHaveTheirOwnFigures(t *testing.T) {
	in := campaignOf(map[string][]float64{"a": {300e6, 310e6}})
	for _, r := range in.Results {
		r.Flows = []measure.Flow{
			{Direction: measure.Forward, Summary: measure.Summary{GoodputBps: 100e6}, Samples: []measure.Sample{{EndNs: 1e9, ReceivedBytes: 12.5e6}}},
			{Direction: measure.Reverse, Summary: measure.Summary{GoodputBps: 200e6}, Samples: []measure.Sample{{EndNs: 1e9, ReceivedBytes: 25e6}}},
		}
	}
	row := build(t, in).Tests[0].Rows[0]
	if row.Figure("forward_bps").Mean != 100e6 || row.Figure("reverse_bps").Mean != 200e6 || row.Figure("goodput_bps").Mean != 305e6 {
		t.Errorf("%+v", row.Figures)
	}
	if p := row.series[0].points[0]; p.value != 300e6 {
		t.Errorf("the drawing shows %v bit/s", p.value)
	}
}

func TestHostsThatChangeShowBothValues(t *testing.T) {
	in := fourPatterns().input()
	in.Results[3].Hosts.Client.Facts.MTU = 9000
	for _, h := range build(t, in).Hosts {
		for _, f := range h.Facts {
			if f.Key == "fact.mtu" && (h.Name == "office") != (len(f.Values) == 2) {
				t.Errorf("%s: MTU %v", h.Name, f.Values)
			}
		}
	}
}

func TestAHostShowsItsOwnLimitsWhereTheyAreKept(t *testing.T) {
	in := fourPatterns().input()
	for _, r := range in.Results {
		r.Hosts.Client.Floor = &measure.HostFloor{
			MeasuredAt: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
			RoundTrips: []measure.FloorRoundTrip{{RTT: measure.Percentiles{P50: 21_000}}, {RTT: measure.Percentiles{P50: 12_000}}},
			Goodput:    []measure.FloorGoodput{{GoodputBps: 20e9}, {GoodputBps: 41e9}},
			Packets:    []measure.FloorPackets{{PacketsPerSecond: 412_345}},
		}
	}
	found := map[string][]string{}
	for _, h := range build(t, in).Hosts {
		for _, f := range h.Facts {
			if f.Key == "fact.own_limits" {
				found[h.Name] = factValues(text.English(), f)
			}
		}
	}
	want := []string{"41.00 Gbit/s, 412k packets/s, 12.00 µs round trip, on 2026-03-01"}
	if len(found) != 1 || !slices.Equal(found["office"], want) {
		t.Errorf("%v, want %v for the client only", found, want)
	}
}

func TestPatternsOfOneNameStayApart(t *testing.T) {
	a, b := tcpTrial("p", 1, 1e6), tcpTrial("p", 1, 2e6)
	b.Trial.Levels = []measure.Level{{Factor: "path", Value: "other"}}
	test := build(t, Input{Results: []*measure.Result{a, b}}).Tests[0]
	if len(test.Rows) != 2 || test.Rows[0].Pattern == test.Rows[1].Pattern {
		t.Errorf("%+v", test.Rows)
	}
}

func TestNoResultsIsNotFound(t *testing.T) {
	if _, err := Build(Input{}); measure.KindOf(err) != measure.KindNotFound {
		t.Errorf("%v", err)
	}
}

func TestNaturalOrder(t *testing.T) {
	list := []string{"P16", "P2", "P02a", "VpnGw10", "VpnGw1", "P"}
	slices.SortFunc(list, natural)
	if want := []string{"P", "P2", "P02a", "P16", "VpnGw1", "VpnGw10"}; !slices.Equal(list, want) {
		t.Errorf("%v", list)
	}
}

// FuzzReport writes every form of a report on whatever document parses.
func FuzzReport(f *testing.F) {
	for _, r := range campaignWithFailure().Results[:6] {
		r.Flows = nil
		b, err := r.MarshalJSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"schema":"soku.result/1","test":"tcp","flows":[{"samples":[{"end_ns":-5},{"start_ns":3}]}],"summary":{"goodput_bps":-1e300}}`))
	f.Add([]byte(`{"schema":"soku.result/1","test":"udp","flows":[{"samples":[{"end_ns":9223372036854775807,"received_bytes":9223372036854775807}]}],"summary":{"goodput_bps":1.7e308,"jitter_ns":1.7e308,"loss_ratio":-3}}`))
	f.Add([]byte(`{"schema":"soku.result/1","test":"x","latency":{"series":[{"at_ns":-9223372036854775808}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r measure.Result
		if r.UnmarshalJSON(b) != nil {
			return
		}
		other := tcpTrial("other", 1, 5)
		other.Test = r.Test
		report, err := Build(Input{Results: []*measure.Result{&r, other}})
		if err != nil {
			t.Fatal(err)
		}
		for name, write := range forms(report) {
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if bytes.Contains(out.Bytes(), []byte("NaN")) && !bytes.Contains(b, []byte("NaN")) {
				t.Fatalf("%s has a figure that is none: %s", name, out.Bytes())
			}
		}
	})
}

func TestAPatternIsItsLevelsWhateverItIsCalled(t *testing.T) {
	a, b := tcpTrial("p", 1, 1e6), tcpTrial("p", 2, 2e6)
	b.Trial.Pattern = `"p"`
	test := build(t, Input{Results: []*measure.Result{a, b}}).Tests[0]
	if len(test.Rows) != 1 || test.Rows[0].Trials != 2 {
		t.Errorf("%+v", test.Rows)
	}
}
