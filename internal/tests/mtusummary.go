package tests

import (
	"soku/internal/measure"
	"soku/internal/text"
)

// mtuSummary adds the path MTU, what limits it and how that is known.
func mtuSummary(out *text.Lines, r *measure.Result) {
	m := r.PathMTU
	if m == nil {
		return
	}
	out.Row("label.path_mtu", "summary.mtu", text.Args{"Bytes": m.Bytes})
	out.Rows("label.limited_by", text.MTULimit(m))
	for _, said := range m.Reports {
		out.Row("label.report", "summary.mtu.report", text.Args{"Address": said.Address, "Bytes": said.Bytes, "Confirmed": said.Confirmed, "Failed": m.FailedBytes})
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
