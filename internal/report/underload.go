package report

import (
	"soku/internal/engine/tcp"
	"soku/internal/measure"
)

// underLoad reports whether the row has round trips without or with a load.
func (r *Row) underLoad() bool {
	return r.Histogram(measure.IdleRoundTrips) != nil || r.Histogram(measure.LoadedRoundTrips) != nil
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

// loadTable is what a load does to the latency of each pattern's path; without
// columns where no trial measured it.
func (t testView) loadTable(factors bool) table {
	var rows []*Row
	for i := range t.Rows {
		if t.Rows[i].underLoad() {
			rows = append(rows, &t.Rows[i])
		}
	}
	if len(rows) == 0 {
		return table{}
	}
	out := table{Rows: make([][]string, len(rows))}
	if factors && !t.ByHand && len(t.Factors) > 0 {
		for f, name := range t.Factors {
			out.add(column{Name: name, Head: true}, func(i int) string { return rows[i].Levels[f].Value })
		}
	} else {
		out.add(t.named("column.pattern", column{Head: true}), func(i int) string { return rows[i].Pattern })
	}
	t.addFamily(&out, rows, measure.UnderLoadFamily)
	return out
}
