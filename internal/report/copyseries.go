package report

import (
	"math"

	"soku/internal/measure"
	"soku/internal/stats"
)

// copySeriesOf is nil for a trial without a copy.
func copySeriesOf(r *measure.Result, most int) *copySeries {
	if r.Copy == nil {
		return nil
	}
	stage := r.Copy.Stage()
	if stage == nil || stage.DurationNs <= 0 {
		return nil
	}
	s := &copySeries{round: roundOf(r), repeat: repeatOf(r), value: math.NaN()}
	s.source = copyEndOf(stage, stage.Source, most, func(d *measure.DiskCount) (bytes, operations int64) { return d.ReadBytes, d.Reads })
	s.sink = copyEndOf(stage, stage.Sink, most, func(d *measure.DiskCount) (bytes, operations int64) { return d.WrittenBytes, d.Writes })
	network := func(x measure.CopySample) float64 { return float64(x.NetworkBytes) }
	for _, end := range []*measure.CopyWork{stage.Source, stage.Sink} { // as sent, if that is known
		if end == nil || s.networkBps > 0 {
			continue
		}
		if s.networkBps = 8 * perSecondOf(stage, end.Samples, network); s.networkBps > 0 {
			s.network = thinCopy(end.Samples, most, 8, network)
		}
	}
	if s.source == nil && s.sink == nil && s.networkBps == 0 {
		return nil
	}
	return s
}

// copyEndOf is nil for an end that has no files.
func copyEndOf(stage *measure.CopyStage, w *measure.CopyWork, most int, of func(*measure.DiskCount) (bytes, operations int64)) *copyEnd {
	if w == nil {
		return nil
	}
	e := &copyEnd{}
	for _, x := range w.Samples {
		e.device = e.device || x.Device != nil
	}
	bytes := func(x measure.CopySample) float64 {
		switch {
		case !e.device:
			return float64(x.FileBytes)
		case x.Device == nil:
			return 0
		}
		n, _ := of(x.Device)
		return float64(n)
	}
	operations := func(x measure.CopySample) float64 {
		if x.Device == nil {
			return 0
		}
		_, n := of(x.Device)
		return float64(n)
	}
	busy := func(x measure.CopySample) float64 {
		if x.Device == nil {
			return 0
		}
		return float64(x.Device.BusyNs) / 1e9
	}
	e.bps, e.rate = 8*perSecondOf(stage, w.Samples, bytes), thinCopy(w.Samples, most, 8, bytes)
	if e.device {
		e.perSecond, e.operations = perSecondOf(stage, w.Samples, operations), thinCopy(w.Samples, most, 1, operations)
		e.busy = min(perSecondOf(stage, w.Samples, busy), 1)
	} else if e.bps == 0 {
		return nil
	}
	return e
}

// perSecondOf is a count over the duration of the stage.
func perSecondOf(stage *measure.CopyStage, samples []measure.CopySample, count func(measure.CopySample) float64) float64 {
	sum := 0.0
	for _, x := range samples {
		sum += max(count(x), 0)
	}
	return sum * 1e9 / float64(stage.DurationNs)
}

// thinCopy joins neighbouring samples to at most most points. A point is a count per second,
// times factor.
func thinCopy(samples []measure.CopySample, most int, factor float64, count func(measure.CopySample) float64) (out []point) {
	if len(samples) == 0 {
		return nil
	}
	per, widest := (len(samples)+most-1)/most, 0.0
	for i := 0; i < len(samples); i += per {
		run := samples[i:min(i+per, len(samples))]
		from, to := float64(run[0].StartNs)/1e9, float64(run[len(run)-1].EndNs)/1e9
		sum := 0.0
		for _, x := range run {
			sum += max(count(x), 0)
		}
		widest = max(widest, to-from)
		// The rate of a sliver at the end is noise.
		if from < 0 || to <= from || to-from < widest/4 && i > 0 {
			continue
		}
		out = append(out, point{at: (from + to) / 2, value: sum * factor / (to - from)})
	}
	return out
}

// typicalCopy is the trial whose figure that ranks is nearest to the median of the row's
// trials, the first of several; nil without one.
func (r *Row) typicalCopy() *copySeries {
	var values []float64
	for _, s := range r.copies {
		if !math.IsNaN(s.value) {
			values = append(values, s.value)
		}
	}
	median, least := stats.Median(values), math.Inf(1)
	var typical *copySeries
	for _, s := range r.copies {
		if d := math.Abs(s.value - median); d < least {
			typical, least = s, d
		}
	}
	return typical
}

// typicalCopies are the rows that have a typical trial, each with it.
func typicalCopies(rows []*Row) (with []*Row, typical []*copySeries) {
	for _, r := range rows {
		if s := r.typicalCopy(); s != nil {
			with, typical = append(with, r), append(typical, s)
		}
	}
	return with, typical
}
