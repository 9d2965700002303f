package report

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"soku/internal/engine/tcp"
	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
	"soku/internal/text"
)

// loaded is the campaign with streams of every TCP trial, whose rates differ by
// the spread, and the latency of the path without and with their load.
func loaded(in Input, streams int, spread float64) Input {
	r := rand.New(rand.NewPCG(3, 3))
	for _, x := range in.Results {
		if x.Test != measure.TestTCP || x.Error != nil {
			continue
		}
		x.Options.Streams, x.Options.Own = streams, tcp.Options{WithLatency: true}
		f := &x.Flows[0]
		var shares []float64
		for i := range streams {
			share := float64(f.Summary.ReceivedBytes) / float64(streams) * math.Exp(spread*r.NormFloat64())
			f.Streams = append(f.Streams, measure.Stream{Index: i, ReceivedBytes: int64(share)})
			shares = append(shares, math.Floor(share))
		}
		if streams > 1 {
			low, high := stats.Range(shares)
			x.Summary.Fairness = &measure.Fairness{JainIndex: stats.Jain(shares), MinBps: low, MedianBps: stats.Median(shares), MaxBps: high}
		}
		base := 4e14 / x.Summary.GoodputBps
		u := &measure.UnderLoad{Before: waits(r, base, 400, 2), During: waits(r, 12*base, 1800, 9), After: waits(r, base, 400, 2)}
		x.UnderLoad = u
		x.Summary.LoadedRTT, x.Summary.RPM = u.During.Histogram.Percentiles(), measure.RPM(u.During.Histogram)
	}
	return in
}

// waits are n round trips about a median, in ns, over some seconds.
func waits(r *rand.Rand, median float64, n int, seconds float64) *measure.Latency {
	l := &measure.Latency{Histogram: measure.NewHistogram()}
	for i := range n {
		v := int64(median * math.Exp(0.2*r.NormFloat64()))
		l.Histogram.Record(v)
		if i%4 == 0 {
			l.Series = append(l.Series, measure.LatencyPoint{AtNs: int64(float64(i) / float64(n) * seconds * 1e9), P50Ns: v, MaxNs: v * 2})
		}
	}
	return l
}

func TestLatencyUnderLoadIsThatOfMergedHistograms(t *testing.T) {
	in := loaded(fourPatterns().input(), 1, 0)
	tcp := build(t, in).test(t, "tcp")
	for _, row := range tcp.Rows {
		idle, during := measure.NewHistogram(), measure.NewHistogram()
		rpm := []float64{}
		for _, x := range in.Results {
			if x.Test == measure.TestTCP && x.Trial.Pattern == row.Pattern {
				idle.Merge(x.UnderLoad.Before.Histogram)
				idle.Merge(x.UnderLoad.After.Histogram)
				during.Merge(x.UnderLoad.During.Histogram)
				rpm = append(rpm, x.Summary.RPM)
			}
		}
		if !row.underLoad() {
			t.Fatalf("%s has no latency under load", row.Pattern)
		}
		for key, want := range map[string]float64{
			"idle_rtt_count": float64(idle.Count()), "idle_rtt_p50_ns": float64(idle.Percentile(50)),
			"loaded_rtt_count": float64(during.Count()), "loaded_rtt_p99_ns": float64(during.Percentile(99)),
		} {
			if got := row.Figure(key).Value; got != want {
				t.Errorf("%s: %s is %v, want %v", row.Pattern, key, got, want)
			}
		}
		if got, want := row.figure(metric.RPM), stats.Mean(rpm); math.Abs(got.Mean-want) > 1e-6 || got.N != len(rpm) {
			t.Errorf("%s: %v RPM of %d trials, want %v of %d", row.Pattern, got.Mean, got.N, want, len(rpm))
		}
		// Each trial has one line before, one during and one after the load.
		if len(row.loads) != len(rpm) || len(row.loads[0].parts) != 3 {
			t.Errorf("%s: %d trials over time", row.Pattern, len(row.loads))
		}
		s := row.loads[0]
		if before, beside, after := s.parts[0], s.parts[1], s.parts[2]; s.from != 2 || before[len(before)-1].at > s.from || beside[0].at < s.from || after[0].at < s.to || s.to < 12 {
			t.Errorf("%s: load from %v to %v s; before to %v, beside from %v, after from %v", row.Pattern, s.from, s.to, before[len(before)-1].at, beside[0].at, after[0].at)
		}
	}
}

func TestAFailedTrialsLatencyUnderLoadIsLeftOut(t *testing.T) {
	in := loaded(fourPatterns().input(), 4, 0.5)
	for _, x := range in.Results {
		failed(x)
	}
	for _, row := range build(t, in).test(t, "tcp").Rows {
		if row.underLoad() || len(row.Figures) > 0 || len(row.sharings) > 0 {
			t.Errorf("%s: %+v", row.Pattern, row)
		}
	}
}

func TestEveryFormShowsLatencyUnderLoadAndFairness(t *testing.T) {
	r := build(t, loaded(fourPatterns().input(), 8, 0.4))
	row := r.test(t, "tcp").row(t, "ErGw1AZ")
	rpm, fair := countText(row.figure(metric.RPM).Mean), text.Index(row.Figure("fairness_index").Mean)
	for form, parts := range map[string][]string{
		"txt":  {"Latency under load", "loaded p50", "RPM", rpm},
		"md":   {"Latency under load", "| loaded p50", rpm, "fairness", fair},
		"html": {"Latency under load", "loaded p99", rpm, fair, `id="t1-load-wide"`, `id="t1-load-time-0"`, `id="t1-streams-0"`},
		"json": {`"latency_under_load"`, `"responsiveness_rpm"`, `"fairness_index"`},
	} {
		text := written(t, forms(r)[form])
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s does not show %q", form, part)
			}
		}
	}
	lines, err := csv.NewReader(strings.NewReader(written(t, r.CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range lines[0] {
		load := strings.HasPrefix(name, "idle_rtt") || strings.HasPrefix(name, "loaded_rtt") || strings.HasPrefix(name, "responsiveness") || strings.HasPrefix(name, "fairness")
		for _, line := range lines[1:] {
			if load && (line[i] == "") != (line[2] == "latency") {
				t.Errorf("%s of a %s test is %q", name, line[2], line[i])
			}
		}
	}
}

func TestWithoutLoadOrStreamsTheirPartsAreAbsent(t *testing.T) {
	r := build(t, fourPatterns().input())
	for _, form := range []string{"txt", "md", "html", "json"} {
		if text := written(t, forms(r)[form]); strings.Contains(text, "under load") || strings.Contains(text, "under_load") || strings.Contains(text, "airness") {
			t.Errorf("%s speaks of load or fairness", form)
		}
	}
}

func TestManyStreamsStayReadableAndBounded(t *testing.T) {
	s := fourPatterns()
	s.rounds, s.seconds = 20, 20
	r := build(t, loaded(s.input(), 1024, 0.6))
	for _, row := range r.test(t, "tcp").Rows {
		if len(row.sharings) != 20 || row.sharings[0].count != 1024 || len(row.sharings[0].bps) > mostPoints {
			t.Errorf("%s: %d strips of %d strokes", row.Pattern, len(row.sharings), len(row.sharings[0].bps))
		}
		for _, x := range row.sharings {
			if x.bps[0] > x.bps[len(x.bps)-1]/10 {
				t.Errorf("%s: the slowest and the fastest stream are not among the strokes", row.Pattern)
			}
		}
	}
	if page := written(t, inEnglish(r.HTML)); len(page) > 3_000_000 {
		t.Errorf("160 trials, 80 of them with 1024 streams and latency, make a page of %d bytes", len(page))
	}
	figures := english(r.test(t, "tcp")).sharingFigures("x")
	if n := len(figures[0].Charts[0].Lines); n != mostStrips {
		t.Errorf("%d strips in a panel", n)
	}
}

func TestTheLeastEvenTrialsAreShown(t *testing.T) {
	var all []sharing
	for i := range 30 {
		all = append(all, sharing{round: i, index: float64((i*7)%30) / 30})
	}
	shown := leastFair(all)
	if len(shown) != mostStrips {
		t.Fatalf("%d shown", len(shown))
	}
	for i, s := range shown {
		if s.index >= float64(mostStrips)/30 {
			t.Errorf("round %d with %v is shown", s.round, s.index)
		}
		if i > 0 && shown[i-1].round >= s.round {
			t.Errorf("round %d comes after %d", s.round, shown[i-1].round)
		}
	}
}

func TestResultsByHandShowLatencyUnderLoad(t *testing.T) {
	in := loaded(fourPatterns().input(), 2, 0.1)
	x := in.Results[0]
	x.Trial = nil
	x.Options.Duration = measure.Duration(10 * time.Second)
	row := build(t, Input{Results: []*measure.Result{x}}).Tests[0].Rows[0]
	if !row.underLoad() || row.figure(metric.RPM).N != 1 || len(row.sharings) == 0 {
		t.Errorf("%+v", row.Figures)
	}
}

func TestThePageOfOneTestHasItsLatencyUnderLoadOverTime(t *testing.T) {
	in := loaded(fourPatterns().input(), 1, 0)
	for _, x := range in.Results {
		if x.UnderLoad == nil {
			continue
		}
		x.Trial = nil
		page := written(t, forms(build(t, Input{Results: []*measure.Result{x}}))["html"])
		for _, want := range []string{`id="t1-load-time`, "Latency over time: before, during"} {
			if !strings.Contains(page, want) {
				t.Errorf("no %s", want)
			}
		}
		return
	}
	t.Error("no result has latency under load")
}
