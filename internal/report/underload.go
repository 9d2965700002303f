package report

import (
	"slices"

	"soku/internal/measure"
)

// UnderLoad is the latency of the path without the load and beside it, of all
// trials of a pattern together. Either is nil where no trial has it.
type UnderLoad struct {
	Idle   *LatencyStats `json:"idle,omitempty"` // before and after the load
	Loaded *LatencyStats `json:"loaded,omitempty"`
	RPM    *Spread       `json:"responsiveness_rpm,omitempty"` // round trips per minute

	series []loadSeries
}

// LatencyStats are merged round trips, in ns.
type LatencyStats struct {
	measure.Percentiles
	Histogram *measure.Histogram `json:"histogram"`
}

// loadSeries is one trial's round trips over time. Times count from the first
// message, in seconds; the load is there between from and to.
type loadSeries struct {
	round, repeat int
	from, to      float64
	parts         [][]point // before, beside and after the load
}

func underLoadOf(results []*measure.Result, rounds map[int]int, allTrials int) *UnderLoad {
	out := &UnderLoad{}
	idle, loaded := measure.NewHistogram(), measure.NewHistogram()
	for _, r := range results {
		u := r.UnderLoad
		if r.Error != nil || u == nil {
			continue
		}
		for _, part := range []struct {
			into *measure.Histogram
			of   *measure.Latency
		}{{idle, u.Before}, {loaded, u.During}, {idle, u.After}} {
			if part.of != nil && part.of.Histogram != nil {
				part.into.Merge(part.of.Histogram)
			}
		}
		if s := loadSeriesOf(r, pointsFor(allTrials)); len(s.parts) > 0 {
			out.series = append(out.series, s)
		}
	}
	out.Idle, out.Loaded = latencyStatsOf(idle), latencyStatsOf(loaded)
	if out.Idle == nil && out.Loaded == nil {
		return nil
	}
	out.RPM = spreadOf(results, rounds, func(r *measure.Result) (float64, bool) { return r.Summary.RPM, r.Summary.RPM > 0 })
	return out
}

func latencyStatsOf(h *measure.Histogram) *LatencyStats {
	if h.Count() == 0 {
		return nil
	}
	w := &LatencyStats{Percentiles: *h.Percentiles(), Histogram: h}
	w.Mean = meanOf(h)
	return w
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
		s.from = max(add(u.Before, 0), o.IdleProbe().Duration.Std().Seconds())
	}
	s.to = add(u.During, s.from+o.LoadProbe().Omit.Std().Seconds())
	if o.Duration > 0 {
		s.to = max(s.to, s.from+(o.Omit+o.Duration).Std().Seconds())
	}
	add(u.After, s.to)
	return s
}

// loadTable is what a load does to the latency of each pattern's path; without
// columns where no trial measured it.
func (t *Test) loadTable(factors bool) table {
	var rows []*Row
	var figures []float64
	for i := range t.Rows {
		if u := t.Rows[i].UnderLoad; u != nil {
			rows = append(rows, &t.Rows[i])
			for _, w := range []*LatencyStats{u.Idle, u.Loaded} {
				if w != nil {
					figures = append(figures, w.P50)
				}
			}
		}
	}
	out := table{Rows: make([][]string, len(rows))}
	if len(rows) == 0 {
		return table{}
	}
	if factors && !t.ByHand && len(t.Factors) > 0 {
		for f, name := range t.Factors {
			out.add(column{Name: name, Head: true}, func(i int) string { return rows[i].Levels[f].Value })
		}
	} else {
		out.add(column{Name: "pattern", Head: true}, func(i int) string { return rows[i].Pattern })
	}
	rpm := func(i int) *Spread { return rows[i].UnderLoad.RPM }
	out.add(column{Name: "RPM", Number: true, Why: "responsiveness: round trips per minute under load, mean of the round means; higher is better"}, func(i int) string { return countText(rpm(i)) })
	if slices.ContainsFunc(rows, func(r *Row) bool { return r.UnderLoad.RPM != nil && r.UnderLoad.RPM.N > 1 }) {
		out.add(column{Name: "RPM range", Number: true, keep: 4, Why: "smallest and largest trial"}, func(i int) string {
			if s := rpm(i); s != nil {
				return rangeText(s, scale{per: 1})
			}
			return "–"
		})
	}
	loadWaits(&out, rows, scaleFor(timeScales, figures...))
	return out
}

// loadWaits adds the round trips of rows that have them.
func loadWaits(out *table, rows []*Row, unit scale) {
	for _, c := range []struct {
		name, why string
		keep      int
		waits     func(*UnderLoad) *LatencyStats
		pick      func(*LatencyStats) float64
	}{
		{"idle p50", "of the round trips before and after the load", 1, idleOf, func(w *LatencyStats) float64 { return w.P50 }},
		{"idle p99", "of the round trips before and after the load", 5, idleOf, func(w *LatencyStats) float64 { return w.P99 }},
		{"loaded p50", "of the round trips beside the load", 0, loadedOf, func(w *LatencyStats) float64 { return w.P50 }},
		{"loaded p99", "of the round trips beside the load", 2, loadedOf, func(w *LatencyStats) float64 { return w.P99 }},
		{"loaded max", "of the round trips beside the load", 6, loadedOf, func(w *LatencyStats) float64 { return w.Max }},
	} {
		out.add(column{Name: c.name, Unit: unit.unit, Number: true, keep: c.keep, Why: c.why}, func(i int) string {
			if w := c.waits(rows[i].UnderLoad); w != nil {
				return unit.text(c.pick(w))
			}
			return "–"
		})
	}
}

func idleOf(u *UnderLoad) *LatencyStats   { return u.Idle }
func loadedOf(u *UnderLoad) *LatencyStats { return u.Loaded }
