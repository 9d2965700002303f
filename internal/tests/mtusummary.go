package tests

import (
	"slices"

	"soku/internal/measure"
	"soku/internal/text"
)

// mtuSummary adds the path MTU, what limits it and how that is known.
func mtuSummary(out *text.Lines, r *measure.Result) {
	m := r.PathMTU
	if m == nil {
		return
	}
	least, most, flows := m.Range()
	out.Row("label.path_mtu", "summary.mtu", text.Args{"Bytes": m.Bytes, "Differ": least < most, "Most": most, "Flows": flows})
	out.Rows("label.limited_by", text.MTULimit(m))
	if len(m.Flows) > 1 {
		mtuFlows(out, m)
	}
	for _, report := range m.Reports {
		out.Row("label.report", "summary.mtu.report", text.Args{"Address": report.Address, "Bytes": report.Bytes, "Confirmed": report.Confirmed, "Failed": report.Bytes + 1})
	}
	passed := 0
	for _, s := range m.Sizes {
		if s.Answered {
			passed++
		}
	}
	out.Row("label.sizes", "summary.mtu.sizes", text.Args{"Tried": len(m.Sizes), "Passed": passed, "Failed": len(m.Sizes) - passed})
	out.Row("label.method", "summary.method", text.Args{"Timing": m.ProbeTiming()})
}

// mtuFlows adds the path MTUs of flows, the smallest first; flows with the same one, limited
// at the same place, share a line.
func mtuFlows(out *text.Lines, m *measure.PathMTU) {
	type group struct {
		flow  measure.MTUFlow
		flows []int
	}
	at := func(h *measure.MTUHop) string {
		if h == nil {
			return ""
		}
		return h.Address
	}
	var groups []group
	for _, f := range m.Flows {
		i := slices.IndexFunc(groups, func(g group) bool {
			return g.flow.Bytes == f.Bytes && g.flow.Limit == f.Limit && at(g.flow.After) == at(f.After) && at(g.flow.Before) == at(f.Before)
		})
		if i < 0 {
			i = len(groups)
			groups = append(groups, group{flow: f})
		}
		groups[i].flows = append(groups[i].flows, f.Index)
	}
	slices.SortStableFunc(groups, func(a, b group) int { return a.flow.Bytes - b.flow.Bytes })
	for _, g := range groups {
		out.Rows("label.branches", text.MTUFlows(m, g.flow, len(g.flows), ranges(g.flows)))
	}
}
