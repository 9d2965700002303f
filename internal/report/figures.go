package report

import (
	"cmp"
	"math"
	"slices"

	"soku/internal/measure"
	"soku/internal/stats"
)

// pick takes one figure from a result; false when the result has none.
type pick func(*measure.Result) (float64, bool)

func buildRow(p pattern, factors []string, basis Basis, rounds map[int]int, allTrials int) Row {
	row := Row{Pattern: p.name, Levels: alignLevels(p.levels, factors)}
	slices.SortStableFunc(p.results, func(a, b *measure.Result) int {
		return cmp.Or(cmp.Compare(roundOf(a), roundOf(b)), cmp.Compare(repeatOf(a), repeatOf(b)), a.StartedAt.Compare(b.StartedAt))
	})
	for _, r := range p.results {
		if path := r.Path.String(); !slices.Contains(row.Paths, path) {
			row.Paths = append(row.Paths, path)
		}
		if s := seriesOf(r, basis, allTrials); len(s.points) > 0 {
			row.series = append(row.series, s)
		}
		if r.Origin != nil {
			row.Ingested++
		}
		if r.Error != nil {
			row.Failed++
			continue
		}
		row.sharings = append(row.sharings, sharingOf(r, allTrials)...)
		row.Trials++
		row.Confidence.add(r.Summary.Confidence)
		if v, ok := basisValue(basis, r); ok && plausible(v) {
			row.Values = append(row.Values, Value{Round: roundOf(r), Repeat: repeatOf(r), Value: v, Confidence: r.Summary.Confidence, Result: r.ID})
		}
	}
	spread := func(f pick) *Spread { return spreadOf(p.results, rounds, f) }
	row.CPS = spread(connectionsOf)
	row.Route = routeOf(p.results)
	if basis.Figure == mtuFigure {
		row.MTU = spread(mtuOf)
		return row
	}
	if basis.HigherIsBetter && basis.Figure != connectionsFigure {
		row.Goodput = spread(goodputOf)
		row.Forward = spread(flowRate(measure.Forward))
		row.Reverse = spread(flowRate(measure.Reverse))
		row.PPS = spread(func(r *measure.Result) (float64, bool) {
			return r.Summary.PacketsPerSecond, r.Test == measure.TestUDP
		})
		row.Retrans = spread(func(r *measure.Result) (float64, bool) {
			if r.Summary.Retransmits == nil {
				return 0, false
			}
			return float64(*r.Summary.Retransmits), true
		})
		row.Loss = spread(func(r *measure.Result) (float64, bool) { return value(r.Summary.LossRatio) })
		row.CPU = spread(func(r *measure.Result) (float64, bool) { return value(r.Summary.CPUSecPerGB) })
		row.Fairness = spread(fairnessOf)
		row.UnderLoad = underLoadOf(p.results, rounds, allTrials)
		row.Duration = spread(func(r *measure.Result) (float64, bool) {
			return float64(r.Summary.DurationNs), r.Options.Bytes > 0 && r.Summary.DurationNs > 0
		})
		row.Jitter = spread(func(r *measure.Result) (float64, bool) { return value(r.Summary.JitterNs) })
		return row
	}
	row.RTT = mergeRTT(p.results)
	row.Reported = mergeReported(p.results, rounds)
	row.Floor = floorOf(p.results)
	return row
}

// goodputOf is a result's goodput. Zero is a figure where the receiver counted
// and got nothing, and none where its count is missing.
func goodputOf(r *measure.Result) (float64, bool) {
	s := r.Summary
	return s.GoodputBps, s.GoodputBps > 0 || s.ReceivedBytes > 0 || s.LossRatio != nil
}

func value(p *float64) (float64, bool) {
	if p == nil {
		return 0, false
	}
	return *p, true
}

// flowRate is the goodput of one direction of a trial that has both.
func flowRate(d measure.Direction) pick {
	return func(r *measure.Result) (float64, bool) {
		if len(r.Flows) < 2 {
			return 0, false
		}
		for _, f := range r.Flows {
			if f.Direction == d {
				return f.Summary.GoodputBps, true
			}
		}
		return 0, false
	}
}

func alignLevels(levels []measure.Level, factors []string) []measure.Level {
	out := make([]measure.Level, len(factors))
	for i, f := range factors {
		out[i].Factor = f
		for _, l := range levels {
			if l.Factor == f {
				out[i].Value = l.Value
			}
		}
	}
	return out
}

func (c *Confidences) add(label measure.Confidence) {
	switch label {
	case measure.High:
		c.High++
	case measure.Medium:
		c.Medium++
	case measure.Low:
		c.Low++
	}
}

// perRound sorts a figure of the successful trials into rounds.
func perRound(results []*measure.Result, rounds map[int]int, f pick) [][]float64 {
	out := make([][]float64, len(rounds))
	for _, r := range results {
		if r.Error != nil {
			continue
		}
		if v, ok := f(r); ok && plausible(v) {
			i := rounds[roundOf(r)]
			out[i] = append(out[i], v)
		}
	}
	return out
}

// plausible keeps damaged documents from making sums overflow: no network and
// no wait comes near 1e18 bit/s or ns.
func plausible(v float64) bool { return v >= 0 && v <= 1e18 }

// spreadOf describes a figure over the successful trials, nil where none has it.
func spreadOf(results []*measure.Result, rounds map[int]int, f pick) *Spread {
	var all, means []float64
	for _, round := range perRound(results, rounds, f) {
		if len(round) > 0 {
			all, means = append(all, round...), append(means, stats.Mean(round))
		}
	}
	if len(all) == 0 {
		return nil
	}
	s := &Spread{Mean: stats.Mean(means), N: len(all)}
	s.Min, s.Max = stats.Range(all)
	if cv := finite(stats.CV(all)); cv != nil {
		s.CV = *cv
	}
	return s
}

// histogramOf is a result's histogram, nil for none or an empty one.
func histogramOf(r *measure.Result) *measure.Histogram {
	if r.Latency == nil || r.Latency.Histogram == nil || r.Latency.Histogram.Count() == 0 {
		return nil
	}
	return r.Latency.Histogram
}

func mergeRTT(results []*measure.Result) *RTT {
	out := &RTT{Histogram: measure.NewHistogram(), MeanLow: math.Inf(1), MeanHigh: math.Inf(-1)}
	for _, r := range results {
		if r.Error != nil || r.Latency == nil {
			continue
		}
		out.Sent += counted(r.Latency.Sent)
		out.Received += counted(r.Latency.Received)
		out.Lost += counted(r.Latency.Lost)
		if h := histogramOf(r); h != nil {
			out.Histogram.Merge(h)
			out.MeanLow, out.MeanHigh = min(out.MeanLow, meanOf(h)), max(out.MeanHigh, meanOf(h))
		}
	}
	if out.Sent > 0 {
		out.LossRatio = float64(out.Lost) / float64(out.Sent)
	}
	if out.Histogram.Count() == 0 {
		if out.Sent == 0 {
			return nil
		}
		out.MeanLow, out.MeanHigh = 0, 0
	}
	out.Percentiles = *out.Histogram.Percentiles()
	out.Mean = meanOf(out.Histogram)
	return out
}

// counted bounds a count from a document so that sums stay whole numbers.
func counted(n int64) int64 { return min(max(n, 0), 1<<40) }

// meanOf is a histogram's mean, which travels beside its buckets, held to their range.
func meanOf(h *measure.Histogram) float64 {
	return min(max(h.Mean(), float64(h.Min())), float64(h.Max()))
}

// floorOf describes what the tool itself added in each trial.
func floorOf(results []*measure.Result) *Spread {
	return spreadOf(results, map[int]int{0: 0}, func(r *measure.Result) (float64, bool) {
		if v, ok := value(r.Summary.FloorNs); ok {
			return v, true
		}
		if r.Latency == nil || r.Latency.Floor == nil {
			return 0, false
		}
		return r.Latency.Floor.RTT.P50, true
	})
}

func methodsOf(results []*measure.Result) []string {
	var out []string
	for _, r := range results {
		if r.Latency != nil && r.Latency.Method != "" && !slices.Contains(out, r.Latency.Method) {
			out = append(out, r.Latency.Method)
		}
	}
	slices.Sort(out)
	return out
}

// finite is v for JSON, nil where v is not a number.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
