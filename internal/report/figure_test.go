package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/measure/option"
	"soku/internal/text"
)

// everyTest is a campaign with each test, so that every metric of a result has a value.
func everyTest() Input {
	s := fourPatterns()
	s.udp, s.seconds = true, 4
	in := loaded(s.input(), 4, 0.3)
	h := measure.NewHistogram()
	for i := range int64(100_000) { // enough for every percentile
		h.Record(1e6 + i*5)
	}
	trial := *in.Results[0].Trial
	add := func(test measure.Test, fill func(*measure.Result)) {
		t := trial
		t.Label = string(test) + " alone"
		o, err := option.Effective(option.Defaults(test), test)
		if err != nil {
			panic(err)
		}
		r := &measure.Result{Schema: measure.Schema, ID: "x" + string(test), Test: test, Trial: &t, Options: o, StartedAt: syntheticStart}
		fill(r)
		in.Results = append(in.Results, r)
	}
	add(measure.TestConnect, func(r *measure.Result) {
		r.Latency, r.Summary.ConnectionsPerSecond = &measure.Latency{Histogram: h, Sent: 501, Received: 500, Lost: 1}, 1234.5
	})
	add(measure.TestMTU, func(r *measure.Result) { r.Summary.PathMTUBytes = 1400 })
	add(measure.TestPing, func(r *measure.Result) {
		v := 5e6
		r.Origin = &measure.Origin{Tool: "ping"}
		r.Summary.ReportedRTT = &measure.RTTFigures{Min: &v, Mean: &v, P50: &v, P90: &v, P95: &v, P99: &v, P999: &v, P9999: &v, Max: &v}
	})
	add(measure.TestCopy, func(r *measure.Result) {
		r.Summary.GoodputBps = 1e9
		for _, stage := range []string{measure.StageRead, measure.StageNetwork, measure.StageWrite, measure.StageAll} {
			if r.Copy == nil {
				r.Copy = &measure.Copy{Files: 10, Bytes: 1e9}
			}
			r.Copy.Stages = append(r.Copy.Stages, measure.CopyStage{Stage: stage, DurationNs: 8e9, Files: 10, Bytes: 1e9})
		}
	})
	add(measure.TestTCP, func(r *measure.Result) {
		r.Options.Bytes, r.Summary = 1e9, measure.Summary{GoodputBps: 3e9, DurationNs: 2e9}
		r.Flows = []measure.Flow{{Direction: measure.Forward, Summary: measure.Summary{GoodputBps: 1e9}}, {Direction: measure.Reverse, Summary: measure.Summary{GoodputBps: 2e9}}}
	})
	return in
}

func TestEveryMetricOfTheTableIsInTheReport(t *testing.T) {
	r := build(t, everyTest())
	text := written(t, r.JSON)
	lines, err := csv.NewReader(strings.NewReader(written(t, r.CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	filled := map[string]bool{}
	for _, line := range lines[1:] {
		for i, cell := range line {
			filled[lines[0][i]] = filled[lines[0][i]] || cell != ""
		}
	}
	for _, m := range metric.All() {
		if len(formOf(m.Quantity).scales) == 0 {
			t.Errorf("%s: a %s has no form", m.Key, m.Quantity)
		}
		for _, c := range m.CSVColumns() {
			if !filled[c.Name] {
				t.Errorf("%s: the CSV has no value under %s", m.Key, c.Name)
			}
		}
		for _, x := range m.ReportMembers() {
			name := x.Path[strings.LastIndexByte(x.Path, '.')+1:]
			if !strings.Contains(text, `"`+name+`":`) {
				t.Errorf("%s: the JSON has no member %s", m.Key, x.Path)
			}
		}
	}
}

// A new figure of results is one entry of the table, and a message where the words of
// its key are no good heading.
func TestAMetricMoreIsInEveryForm(t *testing.T) {
	family := metric.Of(measure.TestTCP).Families[0]
	before := family.Metrics
	defer func() { family.Metrics = before }()
	family.Metrics = append(slices.Clone(before), &metric.Definition{
		Key: "largest_stream_bytes", Help: "bytes of the stream that got most", Quantity: metric.QuantityBytes, Unit: "bytes", Suffix: "bytes",
		Better: metric.Higher, Over: metric.MeanOfRounds, Member: "largest_stream_bytes",
		Take: func(r *measure.Result) (float64, bool) {
			if r.Test != measure.TestTCP {
				return 0, false
			}
			return 4711, true
		},
		Column: &metric.Column{Drop: 9},
	})
	r := build(t, fourPatterns().input())
	wide := func(w io.Writer) error { return r.Text(w, text.English(), 300) }
	for _, c := range []struct {
		name  string
		write func(io.Writer) error
		want  string
	}{
		{"text", wide, "largest stream (bytes)"}, {"Markdown", inEnglish(r.Markdown), "| largest stream (bytes) |"}, {"HTML", inEnglish(r.HTML), ">largest stream <"},
		{"JSON", r.JSON, `"largest_stream_bytes": {`},
		{"CSV", r.CSV, ",largest_stream_mean_bytes,largest_stream_min_bytes,largest_stream_max_bytes"},
	} {
		if text := written(t, c.write); !strings.Contains(text, c.want) || !strings.Contains(text, "4711") {
			t.Errorf("the %s does not show the figure", c.name)
		}
	}
}

func TestMembersAndColumnsOfTheFirstVersionKeepTheirOrder(t *testing.T) {
	for _, key := range csvFirst {
		if metric.ByKey(key) == nil {
			t.Errorf("there is no metric %s for the CSV", key)
		}
	}
	known := map[string]bool{}
	for _, f := range rowFields() {
		for path := f.member; path != ""; path = path[:max(strings.LastIndexByte(path, '.'), 0)] {
			known[path] = true
		}
	}
	for _, path := range append(slices.Clone(rowMembers), lastMembers...) {
		if !known[path] {
			t.Errorf("no field is the member %s", path)
		}
	}
	order := []string{
		"pattern", "levels", "paths", "trials", "failed", "ingested", "rank", "goodput_bps", "forward_bps", "reverse_bps", "retransmits", "loss_ratio",
		"jitter_ns", "packets_per_second", "cpu_seconds_per_gb", "connections_per_second", "path_mtu_bytes", "route", "fairness_index",
		"latency_under_load", "rtt_ns", "rtt_reported_ns", "duration_ns", "floor_ns",
		"copy_ns", "files_per_second", "copy_read_bps", "copy_network_bps", "copy_write_bps", "confidence", "values",
	}
	for _, test := range build(t, everyTest()).Tests {
		for _, row := range test.Rows {
			names := memberNames(t, row)
			sorted := slices.SortedStableFunc(slices.Values(names), func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
			if !slices.Equal(names, sorted) {
				t.Errorf("%s: the members of a row are %q", test.Label, names)
			}
		}
	}
}

// memberNames are the members of a row's JSON form in the order in which they stand there.
func memberNames(t *testing.T, r Row) (names []string) {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprint(name))
	}
	return names
}

func TestARowSurvivesWritingAndReading(t *testing.T) {
	for _, test := range build(t, everyTest()).Tests {
		for _, row := range test.Rows {
			data, err := json.Marshal(row)
			if err != nil {
				t.Fatal(err)
			}
			var back Row
			if err := json.Unmarshal(data, &back); err != nil {
				t.Fatal(err)
			}
			for _, f := range row.Figures {
				g := back.figure(f.Metric)
				if g == nil || g.Value != f.Value || g.Metric.Of == nil && g.Spread != f.Spread || f.Metric.Over == metric.Range && (g.Min != f.Min || g.Max != f.Max) {
					t.Errorf("%s %s: %s was %+v and is %+v", test.Label, row.Pattern, f.Metric.Key, f, g)
				}
			}
			if len(back.Figures) != len(row.Figures) {
				t.Errorf("%s %s: %d figures, were %d", test.Label, row.Pattern, len(back.Figures), len(row.Figures))
			}
			row.Figures, back.Figures = nil, nil
			if back.Pattern != row.Pattern || back.Trials != row.Trials || back.Rank != row.Rank || !reflect.DeepEqual(back.Values, row.Values) || !reflect.DeepEqual(back.Reported, row.Reported) {
				t.Errorf("%+v\nwas %+v", back, row)
			}
		}
	}
}

// Without any reply there are no percentiles. A table has dashes; the JSON form has
// zeros, because the first version of the format had them.
func TestUnansweredRequests(t *testing.T) {
	trial := tcpTrial("a", 1, 0)
	trial.Test, trial.Trial.Label, trial.Latency = measure.TestPing, "ping", &measure.Latency{Histogram: measure.NewHistogram(), Sent: 5, Lost: 5}
	r := build(t, Input{Results: []*measure.Result{trial}})
	row := r.Tests[0].Rows[0]
	if row.Figure("rtt_p50_ns") != nil || row.Figure("rtt_loss_ratio").Value != 1 || row.Figure("rtt_count").Value != 0 {
		t.Errorf("%+v", row.Figures)
	}
	if text := written(t, r.JSON); !strings.Contains(text, `"p50": 0,`) || !strings.Contains(text, `"lost": 5,`) || !strings.Contains(text, `"histogram": {`) {
		t.Errorf("the document is\n%s", text)
	}
	if text := written(t, inEnglish(r.Markdown)); !strings.Contains(text, "| – | – | 100 % |") {
		t.Errorf("the page is\n%s", text)
	}
}

func TestPercentilesOfSetUpsAreTimesWhateverTheRankingRestsOn(t *testing.T) {
	test := build(t, everyTest()).test(t, "connect alone")
	if test.Basis.Metric != metric.Connections {
		t.Fatalf("ranked by %s", test.Basis.Metric.Key)
	}
	drawing := english(test).curveFigure("x")
	if drawing == nil {
		t.Fatal("no curve is drawn")
	}
	if title := drawing.Charts[0].Lines[0].Title; !strings.Contains(title, "p50 1.2") || !strings.Contains(title, "ms") || strings.Contains(title, "connections") {
		t.Errorf("the curve's title is %q", title)
	}
}

func TestAMetricOfALaterVersionIsABasis(t *testing.T) {
	var b Basis
	if err := json.Unmarshal([]byte(`{"figure":"energy_joules","higher_is_better":false,"text":"energy, lower is better"}`), &b); err != nil {
		t.Fatal(err)
	}
	if b.Metric.Key != "energy_joules" || b.Metric.Better != metric.Lower {
		t.Errorf("%+v", b)
	}
	if got := english(&Test{Basis: b}).basis(); got != "energy_joules, lower is better" {
		t.Errorf("%q", got)
	}
}
