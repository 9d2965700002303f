package report

import (
	"fmt"
	"strconv"
	"strings"

	"soku/internal/measure"
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
func (t testView) addLimit(out *table) {
	out.add(column{Name: "limited by", keep: 1, Why: "of the newest trial"}, func(i int) string {
		if r := t.Rows[i].Route; r != nil && r.PathMTU != nil {
			return limitText(r.PathMTU)
		}
		return "–"
	})
}

func limitText(m *measure.PathMTU) string {
	switch {
	case m.Limit == measure.LimitInterface:
		return "the client's interface"
	case m.Limit == measure.LimitReported && m.After != nil:
		return fmt.Sprintf("hop %d, %s, which reports it", m.After.Hop, m.After.Address)
	case m.Limit == measure.LimitBlackHole && m.After != nil:
		return fmt.Sprintf("a black hole after hop %d, %s", m.After.Hop, m.After.Address)
	}
	return "not known"
}

// hopTable is the hops of every pattern's newest trace, a line a node; without columns
// where no trial traced.
func (t testView) hopTable() table {
	type line struct {
		pattern string
		hop     *measure.TraceHop
		node    *measure.TraceNode // nil: nobody answered
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
		return table{}
	}
	out := table{Rows: make([][]string, len(lines))}
	unit := scaleFor(timeScales, figures...)
	out.add(column{Name: "pattern", Head: true, keep: 2}, func(i int) string { return lines[i].pattern })
	out.add(column{Name: "hop", Number: true}, func(i int) string { return strconv.Itoa(lines[i].hop.Hop) })
	out.add(column{Name: "node"}, func(i int) string { return hopText(lines[i].node) })
	out.add(column{Name: "loss", Number: true, keep: 1, Why: "probes of the hop that nobody answered; a router that answers few is not one that drops"}, func(i int) string {
		if !lines[i].first || lines[i].hop.Sent == 0 {
			return ""
		}
		return ratioText(lines[i].hop.LossRatio)
	})
	for _, c := range []struct {
		name string
		keep int
		pick func(*measure.TraceNode) float64
	}{
		{"mean", 0, func(n *measure.TraceNode) float64 { return n.MeanNs }}, {"best", 3, func(n *measure.TraceNode) float64 { return n.MinNs }},
		{"worst", 4, func(n *measure.TraceNode) float64 { return n.MaxNs }}, {"deviation", 5, func(n *measure.TraceNode) float64 { return n.StdDevNs }},
	} {
		out.add(column{Name: c.name, Unit: unit.unit, Number: true, keep: c.keep}, func(i int) string {
			if lines[i].node == nil {
				return "–"
			}
			return unit.text(c.pick(lines[i].node))
		})
	}
	return out
}

func hopText(n *measure.TraceNode) string {
	if n == nil {
		return "no answer"
	}
	parts := []string{n.Address}
	if n.Name != "" {
		parts = []string{n.Name, "(" + n.Address + ")"}
	}
	if n.Reason != "" {
		parts = append(parts, "– "+n.Reason)
	}
	return strings.Join(parts, " ")
}
