package report

import (
	"math"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

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
		r.Options, _ = option.Effective(option.Defaults(measure.TestLatency), measure.TestLatency)
		r.Trial.Label = "latency"
		r.Latency = &measure.Latency{Histogram: h, Sent: int64(n) + 1, Received: int64(n), Lost: 1}
		return r
	}
	in := Input{Results: []*measure.Result{trial(1, 99_900, 1e6), trial(2, 100, 100e6)}}
	row := build(t, in).Tests[0].Rows[0]
	value := func(key string) float64 { return row.Figure(key).Value }
	if value("rtt_p99_ns") > 1.01e6 || value("rtt_p99_99_ns") < 99e6 || value("rtt_count") != 100_000 {
		t.Errorf("%+v", row.Figures)
	}
	if means := row.Figure("rtt_run_mean_ns"); math.Abs(means.Min-1e6) > 1e3 || math.Abs(means.Max-100e6) > 1e5 {
		t.Errorf("run means %v to %v", means.Min, means.Max)
	}
	if value("rtt_lost") != 2 || value("rtt_sent") != 100_002 || math.Abs(value("rtt_loss_ratio")-2.0/100_002) > 1e-12 {
		t.Errorf("lost %v of %v, %v", value("rtt_lost"), value("rtt_sent"), value("rtt_loss_ratio"))
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

func TestAPercentileIsOfTenRoundTripsBeyondIt(t *testing.T) {
	trial := tcpTrial("a", 1, 0)
	trial.Test, trial.Trial.Label = measure.TestPing, "ping"
	trial.Latency = &measure.Latency{Histogram: measure.NewHistogram(), Sent: 500, Received: 500}
	for i := range int64(500) {
		trial.Latency.Histogram.Record(1e6 + i)
	}
	r := build(t, Input{Results: []*measure.Result{trial}})
	row := r.Tests[0].Rows[0]
	if row.Figure("rtt_p95_ns") == nil || row.Figure("rtt_p99_ns") != nil || row.Figure("rtt_max_ns") == nil {
		t.Errorf("%+v", row.Figures)
	}
	if text := written(t, r.JSON); !strings.Contains(text, `"p95":`) || strings.Contains(text, `"p99":`) {
		t.Errorf("the document is\n%s", text)
	}
}
