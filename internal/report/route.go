package report

import (
	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/text"
)

// Route is what the newest trial of a pattern found that found anything.
type Route struct {
	Result  string           `json:"result"` // its ID
	Trace   *measure.Trace   `json:"trace,omitempty"`
	PathMTU *measure.PathMTU `json:"path_mtu,omitempty"`
}

// routeOf is nil where no trial looked for a route; the results are of trials that
// succeeded.
func routeOf(results []*measure.Result) *Route {
	var newest *measure.Result
	for _, r := range results {
		if (r.Trace != nil || r.PathMTU != nil) && (newest == nil || !r.StartedAt.Before(newest.StartedAt)) {
			newest = r
		}
	}
	if newest == nil {
		return nil
	}
	return &Route{Result: newest.ID, Trace: newest.Trace, PathMTU: newest.PathMTU}
}

// addLimit adds what limits the path MTU.
func (t testView) addLimit(out *outline.Table) {
	out.AddText(t.named("column.limited_by", outline.Column{Drop: 1}), func(i int) string {
		if r := t.Rows[i].Route; r != nil && r.PathMTU != nil {
			return t.SentenceOf(text.MTULimitShort(r.PathMTU))
		}
		return text.Absent
	})
}

// hopTable is the hops of every pattern's newest trace, a line a node; without columns
// where no trial traced.
func (t testView) hopTable() outline.Table {
	type line struct {
		pattern string
		hop     *measure.TraceHop
		node    *measure.TraceNode // nil: no answer
		first   bool               // of its hop
	}
	var lines []line
	var figures []float64
	for i := range t.Rows {
		route := t.Rows[i].Route
		if route == nil || route.Trace == nil {
			continue
		}
		for k := range route.Trace.Hops {
			h := &route.Trace.Hops[k]
			if len(h.Nodes) == 0 {
				lines = append(lines, line{t.Rows[i].Pattern, h, nil, true})
			}
			for n := range h.Nodes {
				lines = append(lines, line{t.Rows[i].Pattern, h, &h.Nodes[n], n == 0})
				figures = append(figures, h.Nodes[n].MeanNs)
			}
		}
	}
	if len(lines) == 0 {
		return outline.Table{}
	}
	out := outline.NewTable(len(lines))
	unit := scaleFor(timeScales, figures...)
	out.AddText(t.named("column.pattern", outline.Column{Head: true, Drop: 2}), func(i int) string { return lines[i].pattern })
	addCounts(&out, t.named("column.hop", outline.Column{Number: true}), func(i int) int { return lines[i].hop.Hop })
	out.AddText(t.named("column.node", outline.Column{}), func(i int) string {
		if lines[i].node == nil {
			return t.Sentence("trace.no_answer", nil)
		}
		return t.SentenceOf(text.TraceNode(lines[i].node))
	})
	out.Add(t.named("column.hop_loss", outline.Column{Number: true, Drop: 1}), func(i int) outline.Cell {
		if !lines[i].first || !lines[i].hop.LossKnown() {
			return outline.Cell{}
		}
		return figureCell(&lines[i].hop.LossRatio, percent, text.Percent)
	})
	for _, c := range []struct {
		name string
		keep int
		pick func(*measure.TraceNode) float64
	}{
		{"column.hop_mean", 0, func(n *measure.TraceNode) float64 { return n.MeanNs }}, {"column.hop_best", 3, func(n *measure.TraceNode) float64 { return n.MinNs }},
		{"column.hop_worst", 4, func(n *measure.TraceNode) float64 { return n.MaxNs }}, {"column.hop_deviation", 5, func(n *measure.TraceNode) float64 { return n.StdDevNs }},
	} {
		addFigures(&out, t.named(c.name, outline.Column{Unit: t.unit(unit), Number: true, Drop: c.keep}), unit, func(i int) *float64 {
			if lines[i].node == nil {
				return nil
			}
			v := c.pick(lines[i].node)
			return &v
		})
	}
	return out
}
