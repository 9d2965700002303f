package ingest

import "soku/internal/measure"

// limits returns the metric whose documented limit a column of the figure can hold, or nil if
// there is none. Only figures where more is better have a limit that can be reached.
func (f tableFigure) limits() *measure.Metric {
	for _, key := range f.metrics {
		m := measure.MetricByKey(key)
		if m.Better == measure.Higher && (f.name == m.Key || f.name == m.Name()) {
			return m
		}
	}
	return nil
}

// checkLimits checks the limits of a result; at is its path.
func (m *Mapping) checkLimits(at string, r *Mapped, test measure.Test) error {
	for _, c := range r.Limits {
		path := at + ".limits." + c.Name
		f, known := figureOf(c.Name)
		if !known || f.limits() == nil || !f.fits(test) {
			return m.fail(path, "ingest.mapping.limit", measure.Figures{"figure": short(c.Name), "figures": limitedFigures(test)})
		}
		if _, ok := f.unit(c.Unit); !ok {
			return m.fail(path, "ingest.mapping.unit", measure.Figures{"figure": c.Name, "unit": short(c.Unit), "units": f.units()})
		}
	}
	return nil
}

// limitedFigures are the figures of a test that can have a limit.
func limitedFigures(test measure.Test) (out []string) {
	for _, f := range tableFigures() {
		if f.limits() != nil && f.fits(test) {
			out = append(out, f.name)
		}
	}
	return out
}

// setLimits gives a result the limits that the mapping names; an empty cell is an unknown limit.
func (m *Mapping) setLimits(s *Source, line int, r *measure.Result, cells Cells, row map[string]string) error {
	for _, c := range cells {
		text := c.text(row)
		if text == "" {
			continue
		}
		f, _ := figureOf(c.Name)
		u, _ := f.unit(c.Unit)
		v, ok := f.read(text, u)
		if !ok || v <= 0 {
			return s.fail(line, "ingest.table.figure", measure.Figures{"figure": c.Name, "text": short(text), "unit": c.Unit})
		}
		r.Origin.Limits = append(r.Origin.Limits, measure.Limit{Metric: f.limits().Key, Value: v})
	}
	return nil
}
