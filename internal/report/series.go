package report

import (
	"math"
	"slices"

	"soku/internal/measure"
)

// A page of many trials stays readable and small: all trials together get
// about this many points, no trial more than most or fewer than least.
const (
	pointBudget = 40_000
	mostPoints  = 200
	leastPoints = 20
)

// seriesOf is a trial over time: connections per second if they rank trials, otherwise the
// points of [pointsOf].
func seriesOf(r *measure.Result, d drawing, rankedBy *measure.Metric) series {
	s := series{round: roundOf(r), repeat: repeatOf(r), failed: r.Error != nil, points: d.points}
	if rankedBy == measure.MetricConnections {
		s.points = d.connections
	}
	return s
}

// pointsOf is the median and the maximum round trip of each slice of a trial, or
// goodput of all directions together.
func pointsOf(r *measure.Result, allTrials int) []point {
	points := pointsFor(allTrials)
	switch {
	case r.Latency != nil:
		return thinLatency(r.Latency.Series, points)
	case len(r.Flows) == 1:
		return thinRate(drawnSamples(r, r.Flows[0]), points)
	case len(r.Flows) > 1:
		flows := slices.Clone(r.Flows)
		for i := range flows {
			flows[i].Samples = drawnSamples(r, flows[i])
		}
		return thinRate(together(flows), points)
	}
	return nil
}

// drawnSamples are a flow's samples. For an ingested trial with samples of the sender only,
// those are drawn; the list of missing data says so.
func drawnSamples(r *measure.Result, f measure.Flow) []measure.Sample {
	if r.Origin == nil || slices.ContainsFunc(f.Samples, func(s measure.Sample) bool { return s.ReceivedBytes != 0 }) {
		return f.Samples
	}
	out := slices.Clone(f.Samples)
	for i := range out {
		out[i].ReceivedBytes = max(out[i].SentBytes, 0)
	}
	return out
}

// pointsFor is how many points a trial gets in a drawing of that many trials.
func pointsFor(allTrials int) int {
	return min(max(pointBudget/max(allTrials, 1), leastPoints), mostPoints)
}

// together adds the samples of several directions by index: both ends sample
// on the same schedule, and a drawing needs no more than that.
func together(flows []measure.Flow) []measure.Sample {
	out := append([]measure.Sample(nil), flows[0].Samples...)
	for _, f := range flows[1:] {
		for i := range min(len(out), len(f.Samples)) {
			out[i].ReceivedBytes += f.Samples[i].ReceivedBytes
		}
	}
	return out
}

// thinRate joins neighbouring samples, adding bytes and time, which keeps the
// area under the curve.
func thinRate(samples []measure.Sample, most int) []point {
	if len(samples) == 0 {
		return nil
	}
	per := (len(samples) + most - 1) / most
	widest := samples[0].EndNs - samples[0].StartNs
	var out []point
	for i := 0; i < len(samples); i += per {
		var bytes, width int64
		run := samples[i:min(i+per, len(samples))]
		for _, s := range run {
			if w := s.EndNs - s.StartNs; w > 0 && s.ReceivedBytes >= 0 {
				bytes, width = bytes+s.ReceivedBytes, width+w
			}
		}
		widest = max(widest, width)
		// The rate of a sliver at the end is noise.
		if width <= 0 || width < widest/4 && i > 0 {
			continue
		}
		middle := float64(run[0].StartNs)/2e9 + float64(run[len(run)-1].EndNs)/2e9
		out = append(out, point{at: middle, value: float64(bytes) * 8e9 / float64(width)})
	}
	return out
}

// thinLatency joins neighbouring points: the mean of the medians, for the eye
// only, and the largest maximum.
func thinLatency(points []measure.LatencyPoint, most int) []point {
	if len(points) == 0 {
		return nil
	}
	per := (len(points) + most - 1) / most
	var out []point
	for i := 0; i < len(points); i += per {
		run := points[i:min(i+per, len(points))]
		p := point{at: float64(run[0].AtNs) / 1e9}
		for _, q := range run {
			p.value += math.Max(float64(q.P50Ns), 0) / float64(len(run))
			p.high = math.Max(p.high, float64(q.MaxNs))
		}
		out = append(out, p)
	}
	return out
}
