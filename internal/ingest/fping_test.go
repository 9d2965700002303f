package ingest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
)

// The figures here were read from the files by hand, in ms.
func TestFpingHasAResultForEachTarget(t *testing.T) {
	type target struct {
		name             string
		sent, received   int64
		min, mean, max   float64 // 0: not printed
		times            int64   // in the histogram
		histogramMaximum float64
	}
	for file, want := range map[string][]target{
		"fping-c.txt": {{"127.0.0.1", 3, 3, 0.038, 0.041, 0.045, 3, 0.045}, {"127.0.0.2", 3, 3, 0.041, 0.082, 0.155, 3, 0.155}},
		"fping-C.txt": {{"127.0.0.1", 3, 3, 0, 0, 0, 3, 0.042}, {"10.9.9.9", 3, 0, 0, 0, 0, 0, 0}},
		"fping-D.txt": {{"127.0.0.1", 2, 2, 0.030, 0.036, 0.042, 2, 0.042}},
		"fping-s.txt": {{"127.0.0.1", 2, 2, 0.017, 0.029, 0.042, 2, 0.042}},
		"fping-Q.txt": {{"127.0.0.1", 4, 4, 0.010, 0.032, 0.041, 0, 0}},
	} {
		results := sample(t, file)
		if len(results) != len(want) {
			t.Errorf("%s: %d results", file, len(results))
			continue
		}
		for i, r := range results {
			got := target{name: r.Path.Server.Name, sent: r.Latency.Sent, received: r.Latency.Received}
			if f := r.Summary.ReportedRTT; f != nil {
				got.min, got.mean, got.max = *f.Min/1e6, *f.Mean/1e6, *f.Max/1e6
			}
			if h := r.Latency.Histogram; h != nil {
				got.times, got.histogramMaximum = h.Count(), math.Round(r.Summary.RTT.Max/1e3)/1e3
			}
			if got != want[i] || r.Test != measure.TestPing || r.Origin.Tool != "fping" {
				t.Errorf("%s: %+v, the file says %+v", file, got, want[i])
			}
		}
	}
	// Targets of one file are compared with each other and not taken as repeats.
	if r := sample(t, "fping-c.txt")[1]; r.Trial.Pattern != "127.0.0.2" || r.Trial.Levels[0].Factor != "target" {
		t.Errorf("%+v", r.Trial)
	}
	if r := one(t, "fping-D.txt"); len(r.Trial.Levels) != 0 {
		t.Errorf("%+v", r.Trial)
	}
	if r := one(t, "fping-D.txt"); r.StartedAt.Unix() != 1795603349 {
		t.Errorf("started %v", r.StartedAt)
	}
}

// With -Q the lines after a time of day count one interval each, and the last lines the whole time.
func TestFpingsIntervalsAreNotItsTotal(t *testing.T) {
	counts := func(target string, n int) string {
		return fmt.Sprintf("%s : xmt/rcv/%%loss = %d/%d/0%%, min/avg/max = 0.02/0.03/0.04\n", target, n, n)
	}
	intervals := "[14:09:14]\n" + counts("a", 3) + counts("b", 3) + "[14:09:15]\n" + counts("a", 2) + counts("b", 2)
	whole := intervals + counts("a", 6) + counts("b", 5)
	for name, c := range map[string]struct {
		text string
		want []int64
	}{
		"intervals":                 {whole, []int64{6, 5}},
		"two runs":                  {whole + whole, []int64{6, 5, 6, 5}},
		"a run without intervals":   {whole + counts("a", 9) + counts("c", 8), []int64{6, 5, 9, 8}},
		"runs of -q alone":          {counts("a", 4) + counts("a", 7), []int64{4, 7}},
		"cut off after an interval": {intervals, nil},
	} {
		results, err := read(t, Auto, c.text)
		var got []int64
		for _, r := range results {
			got = append(got, r.Latency.Sent)
		}
		if !slices.Equal(got, c.want) || (err == nil) != (c.want != nil) || err != nil && !strings.Contains(err.Error(), "cut off") {
			t.Errorf("%s: %d, want %d, %v", name, got, c.want, err)
		}
	}
}

func TestFpingsLinesWithoutAReplyAreNoTimes(t *testing.T) {
	results, err := read(t, Auto, "vm2 (10.0.0.2) : [0], 84 bytes, 1.52 ms (1.52 avg, 0% loss)\nvm2 (10.0.0.2) : duplicate for [0], 84 bytes, 1.6 ms\nvm2 (10.0.0.2) : [1], timed out (1.52 avg, 50% loss)\n\n"+
		"vm2 (10.0.0.2) : xmt/rcv/%loss = 2/1/50%, min/avg/max = 1.52/1.52/1.52\nvm3            : xmt/rcv/%loss = 2/0/100%\n"+
		"vm2 (10.0.0.2) : [0], 84 bytes, 1.7 ms (1.7 avg, 0% loss)\nvm2 (10.0.0.2) : xmt/rcv/%loss = 1/1/0%, min/avg/max = 1.70/1.70/1.70\n")
	if err != nil || len(results) != 3 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	r := results[0]
	if r.Path.Server.Name != "vm2" || r.Path.Server.Address != "10.0.0.2" || r.Latency.Sent != 2 || r.Latency.Received != 1 || r.Latency.Duplicated != 1 || r.Latency.Histogram.Count() != 1 || !close2(*r.Summary.LossRatio, 0.5) {
		t.Errorf("%+v %+v", r.Path, r.Latency)
	}
	if results[1].Latency.Lost != 2 || results[2].Latency.Sent != 1 {
		t.Errorf("%+v %+v", results[1].Latency, results[2].Latency)
	}
	if _, err := read(t, Auto, strings.SplitAfter(text(t, "fping-c.txt"), "\n")[0]); err == nil || !strings.Contains(err.Error(), "standard error") {
		t.Errorf("without its counts: %v", err)
	}
}
