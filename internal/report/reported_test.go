package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/metric"
)

func figuresOf(mean, p50, p99 float64) *measure.RTTFigures {
	f := &measure.RTTFigures{Mean: &mean, Count: 100}
	if p50 > 0 {
		f.P50, f.P99 = &p50, &p99
	}
	return f
}

// ingestedInput is a campaign of results as soku ingest makes them: round trips
// without histograms, in two rounds.
func ingestedInput(trials map[string][]*measure.RTTFigures) Input {
	in := Input{Campaign: Meta{ID: "20260301-x", Name: "x"}}
	for _, name := range []string{"A", "B"} {
		for i, f := range trials[name] {
			in.Results = append(in.Results, &measure.Result{
				Schema: measure.Schema, ID: name + string(rune('0'+i)), Test: measure.TestLatency, StartedAt: syntheticStart,
				Tool: measure.Tool{Name: "soku", Version: "1.0.0"},
				Trial: &measure.Trial{
					Campaign: "20260301-x", Pattern: name, Label: "latency", Round: i + 1, Repeat: 1, Order: 1,
					Levels: []measure.Level{{Factor: "sku", Value: name}},
				},
				Origin:  &measure.Origin{File: "f", Record: 1, Line: 1, Tool: "sockperf", ToolVersion: "3.7", Missing: measure.OfPhrases([]string{string(finding.NoHistogram)})},
				Summary: measure.Summary{ReportedRTT: f},
			})
		}
	}
	return in
}

func TestPercentilesWithoutAHistogramAreARangeAndNoAverage(t *testing.T) {
	r := build(t, ingestedInput(map[string][]*measure.RTTFigures{
		"A": {figuresOf(11e3, 10e3, 20e3), figuresOf(13e3, 12e3, 40e3)}, "B": {figuresOf(31e3, 30e3, 60e3), figuresOf(33e3, 32e3, 70e3)},
	}))
	test := r.test(t, "latency")
	row := test.Rows[0]
	if p99 := row.Figure("rtt_reported_p99_ns"); row.Figure("rtt_p99_ns") != nil || row.Reported == nil || p99.Min != 20e3 || p99.Max != 40e3 || row.Figure("rtt_reported_mean_ns").Value != 12e3 {
		t.Fatalf("%+v", row.Figures)
	}
	if test.Basis.Metric != metric.RTTP50 || test.Ranking[0].Pattern != "A" || math.Abs(*test.Ranking[0].Estimate-math.Sqrt(10e3*12e3)) > 1e-6 || len(row.Values) != 2 {
		t.Errorf("%+v %+v", test.Basis, test.Ranking[0])
	}
	page := written(t, inEnglish(r.Markdown))
	for _, want := range []string{"20.00 to 40.00", "10.00 to 12.00", "All trials were ingested, not measured by soku: sockperf 3.7.", "Missing in ingested trials: no histogram, only summary figures"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
	for _, bad := range []string{"30.00 |", "p95", "in an order drawn with seed"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	records, err := csv.NewReader(strings.NewReader(written(t, r.CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]string{}
	for i, name := range records[0] {
		cells[name] = records[1][i]
	}
	if cells["rtt_p99_ns"] != "" || cells["rtt_reported_p99_low_ns"] != "20000" || cells["rtt_reported_p99_high_ns"] != "40000" || cells["ingested"] != "2" {
		t.Errorf("%v", cells)
	}
	if written(t, inEnglish(r.HTML)) == "" || written(t, r.JSON) == "" {
		t.Error("nothing written")
	}
}

func TestWhereOneSourceHasNoMedianAllAreRankedByTheirMeans(t *testing.T) {
	in := ingestedInput(map[string][]*measure.RTTFigures{"A": {figuresOf(11e3, 10e3, 20e3)}, "B": {figuresOf(9e3, 0, 0)}})
	in.Results = append(in.Results, func() *measure.Result { // and one with a histogram: its mean counts
		h := measure.NewHistogram()
		h.Record(1000)
		h.Record(7000)
		r := *in.Results[0]
		r.ID, r.Origin, r.Summary.ReportedRTT = "C", nil, nil
		trial := *r.Trial
		trial.Pattern, trial.Levels = "C", []measure.Level{{Factor: "sku", Value: "C"}}
		r.Trial, r.Latency = &trial, &measure.Latency{Histogram: h, Sent: 2, Received: 2}
		return &r
	}())
	test := build(t, in).test(t, "latency")
	if test.Basis.Metric != metric.RTTMean || test.Ranking[0].Pattern != "C" || *test.Ranking[0].Estimate != 4000 || test.Ranking[1].Pattern != "B" {
		t.Errorf("%+v %+v", test.Basis, test.Ranking)
	}
	if !strings.Contains(strings.Join(english(test).caveats(), " "), "2 of 3 trials were ingested") {
		t.Errorf("%+v", test.Caveats)
	}
}

func TestTheSendersSamplesOfAnIngestedTrialAreDrawn(t *testing.T) {
	f := measure.Flow{Direction: measure.Forward, Samples: []measure.Sample{{EndNs: 1e9, SentBytes: 125e6}, {StartNs: 1e9, EndNs: 2e9, SentBytes: 250e6}}}
	r := &measure.Result{Test: measure.TestTCP, Flows: []measure.Flow{f}, Origin: &measure.Origin{}}
	s := seriesOf(r, draw(r, 1), metric.Goodput)
	if len(s.points) != 2 || s.points[0].value != 1e9 || s.points[1].value != 2e9 {
		t.Errorf("%+v", s.points)
	}
	if f.Samples[0].ReceivedBytes != 0 {
		t.Error("the result was changed")
	}
	r.Origin = nil // of soku's own a receiver that got nothing is no receiver that is not known
	if s := seriesOf(r, draw(r, 1), metric.Goodput); s.points[0].value != 0 {
		t.Errorf("%+v", s.points)
	}
}

func TestWhatIngestedTrialsDoNotHaveIsSaidOnceAndStaysShort(t *testing.T) {
	in := ingestedInput(map[string][]*measure.RTTFigures{"A": {figuresOf(11e3, 10e3, 20e3), figuresOf(13e3, 12e3, 40e3)}, "B": {figuresOf(31e3, 30e3, 60e3)}})
	codes := []string{string(finding.NoHistogram)}
	for i := range mostMissing {
		codes = append(codes, fmt.Sprint("no figure ", i))
	}
	for i, r := range in.Results {
		r.Origin.Missing = measure.OfPhrases(codes[:len(codes)-i])
		if r.Trial.Pattern == "B" {
			r.Trial.Label = "again"
		}
	}
	r := build(t, in)
	if len(r.Tests) != 2 {
		t.Fatalf("%d tests", len(r.Tests))
	}
	want := "Missing in ingested trials: no histogram, only summary figures; no figure 0; no figure 1; no figure 2; no figure 3 (2 trials); and 1 more, in the form json."
	for form, out := range forms(r) {
		got := html.UnescapeString(strings.Join(strings.Fields(written(t, out)), " "))
		if form == "json" || form == "csv" {
			continue
		}
		if n := strings.Count(got, "Missing in ingested trials"); n != 1 || !strings.Contains(got, want) {
			t.Errorf("%s says it %d times: %s", form, n, got)
		}
	}
	var document struct {
		Tests []struct {
			Caveats []string
			Facts   []Caveat `json:"caveat_facts"`
			Missing []Missing
		}
	}
	if err := json.Unmarshal([]byte(written(t, r.JSON)), &document); err != nil {
		t.Fatal(err)
	}
	for _, test := range document.Tests {
		at := slices.IndexFunc(test.Facts, func(c Caveat) bool { return c.Code == CaveatMissing })
		if len(test.Caveats) != len(test.Facts) || at < 0 || !strings.HasPrefix(test.Caveats[at], "Missing in ingested trials: no histogram") || len(test.Missing) < mostMissing-1 {
			t.Errorf("%+v", test)
		}
	}
}
