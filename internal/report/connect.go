package report

import "soku/internal/measure"

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
			n += float64(measure.BoundedCount(row.RTT.Count))
		}
		if to > from {
			out = append(out, point{at: (from + to) / 2, value: n / (to - from)})
		}
	}
	return out
}
