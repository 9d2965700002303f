package report

import (
	"cmp"
	"slices"

	"soku/internal/measure"
)

func (b *Builder) row(p pattern, t *Test, rounds map[int]int) Row {
	row := Row{Pattern: p.name, Levels: alignLevels(p.levels, t.Factors)}
	slices.SortStableFunc(p.results, func(a, b *measure.Result) int {
		return cmp.Or(cmp.Compare(roundOf(a), roundOf(b)), cmp.Compare(repeatOf(a), repeatOf(b)), a.StartedAt.Compare(b.StartedAt))
	})
	row.results = p.results
	for _, r := range p.results {
		row.Paths = addOnce(row.Paths, r.Path.String())
		drawn := b.drawn[r]
		if s := seriesOf(r, drawn, t.Basis.Metric); len(s.points) > 0 {
			row.series = append(row.series, s)
		}
		if r.Origin != nil {
			row.Ingested++
		}
		if r.Error != nil {
			row.Failed++
			continue
		}
		row.sharings = append(row.sharings, drawn.sharings...)
		if drawn.copied != nil {
			row.copies = append(row.copies, drawn.copied)
		}
		row.Trials++
		row.Confidence.add(r.Summary.Confidence)
		if v, ok := t.Basis.Metric.Value(r); ok && plausible(v) {
			if drawn.copied != nil {
				drawn.copied.value = v
			}
			row.Values = append(row.Values, Value{Round: roundOf(r), Repeat: repeatOf(r), Value: v, Confidence: r.Summary.Confidence, Result: r.ID})
		}
	}
	row.limit(p.results, b.design)
	succeeded := successful(p.results)
	row.combine(t.Test, succeeded, rounds)
	row.Route = routeOf(succeeded)
	row.Verdict = verdictOf(p.results)
	row.Reported = reportedOf(succeeded)
	if row.underLoad() {
		row.loads = b.loadsOf(succeeded)
	}
	return row
}

func successful(results []*measure.Result) []*measure.Result {
	var out []*measure.Result
	for _, r := range results {
		if r.Error == nil {
			out = append(out, r)
		}
	}
	return out
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

// timingsOf are the ways in which round trips were timed, in the order of the results.
func timingsOf(results []*measure.Result) []measure.Timing {
	var out []measure.Timing
	for _, r := range results {
		if r.Latency == nil {
			continue
		}
		if t := r.Latency.ClientTiming(); t != (measure.Timing{}) && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// timings are in words how round trips were timed.
func (t testView) timings() (out []string) {
	for _, x := range t.Timings {
		out = append(out, t.Timing(x))
	}
	return out
}
