package report

import (
	"math"
	"slices"

	"soku/internal/engine/tcp"
	"soku/internal/measure"
	"soku/internal/measure/metric"
)

// drawing is what the charts show of one trial.
type drawing struct {
	connections []point // a second
	points      []point // goodput, or the round trips of each slice
	sharings    []sharing
	load        loadSeries
	copied      *copySeries // nil: no files were copied
}

// series is one trial over time: rates in bit/s or round trips in ns.
type series struct {
	round, repeat int
	failed        bool
	points        []point
	until         float64 // seconds that the axis shows at least
}

type point struct{ at, value, high float64 } // seconds; high: latency's maximum

// sharing is what each stream of one direction of a trial got.
type sharing struct {
	round, repeat int
	direction     measure.Direction // of a trial that has both
	index         float64           // Jain's
	bps           []float64         // ascending; of many streams evenly spaced ones of that order
	count         int               // streams
}

// copySeries is one trial of the test copy over time: of the whole copy, or of its only
// stage. Each end has its own clock.
type copySeries struct {
	round, repeat int
	value         float64 // of the figure that ranks; NaN without one
	source, sink  *copyEnd
	network       []point // bit/s
	networkBps    float64 // over the whole stage; 0: no network
}

// copyEnd is the disk of one end: reading at the source, writing at the sink.
type copyEnd struct {
	// device is false where the folder has no block device: then rates are those of the
	// files, and there are no operations.
	device           bool
	rate, operations []point // bit/s, operations a second
	bps, perSecond   float64 // over the whole stage
	busy             float64 // share of the stage with an operation in flight, 0 to 1
}

// loadSeries is one trial's round trips over time. Times count from the first
// message, in seconds; the load is there between from and to.
type loadSeries struct {
	round, repeat int
	from, to      float64
	parts         [][]point // before, during and after the load
}

// A page of many trials stays readable and small: all trials together get
// about this many points, no trial more than most or fewer than least.
const (
	pointBudget = 40_000
	mostPoints  = 200
	leastPoints = 20
	mostMarks   = 1000 // of a chart of every trial
	mostLines   = 25   // of a chart over time
)

// seriesOf is a trial over time: connections per second if they rank trials, otherwise the
// points of [pointsOf].
func seriesOf(r *measure.Result, d drawing, rankedBy *metric.Definition) series {
	s := series{round: roundOf(r), repeat: repeatOf(r), failed: r.Error != nil, points: d.points}
	if rankedBy == metric.Connections {
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

// underLoad reports whether the row has round trips without or with a load.
func (r *Row) underLoad() bool {
	return r.Histogram(metric.IdleRoundTrips) != nil || r.Histogram(metric.LoadedRoundTrips) != nil
}

// loadsOf is each trial's round trips over time.
func (b *Builder) loadsOf(results []*measure.Result) []loadSeries {
	var out []loadSeries
	for _, r := range results {
		if s := b.drawn[r].load; len(s.parts) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// loadSeriesOf puts the three parts of a trial after one another.
func loadSeriesOf(r *measure.Result, most int) loadSeries {
	u := r.UnderLoad
	s := loadSeries{round: roundOf(r), repeat: repeatOf(r)}
	add := func(l *measure.Latency, from float64) (end float64) {
		end = from
		if l == nil {
			return end
		}
		points := thinLatency(l.Series, most)
		for i := range points {
			points[i].at += from
			end = max(end, points[i].at)
		}
		if len(points) > 0 {
			s.parts = append(s.parts, points)
		}
		return end
	}
	o := r.Options
	if u.Before != nil {
		s.from = max(add(u.Before, 0), tcp.IdleProbe(o).Duration.Std().Seconds())
	}
	s.to = add(u.During, s.from+tcp.LoadProbe(o).Omit.Std().Seconds())
	if o.Duration > 0 {
		s.to = max(s.to, s.from+(o.Omit+o.Duration).Std().Seconds())
	}
	add(u.After, s.to)
	return s
}

// connectionSeries is a trial over time: connections a second of each live interval.
func connectionSeries(l *measure.Latency, most int) []point {
	if l == nil || len(l.Rows) == 0 {
		return nil
	}
	per := (len(l.Rows) + most - 1) / most
	var out []point
	for i := 0; i < len(l.Rows); i += per {
		run := l.Rows[i:min(i+per, len(l.Rows))]
		from, to := float64(run[0].StartNs)/1e9, float64(run[len(run)-1].EndNs)/1e9
		var n float64
		for _, row := range run {
			n += float64(metric.BoundedCount(row.RTT.Count))
		}
		if to > from {
			out = append(out, point{at: (from + to) / 2, value: n / (to - from)})
		}
	}
	return out
}
