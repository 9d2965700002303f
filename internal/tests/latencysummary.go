package tests

import (
	"cmp"
	"slices"

	"soku/internal/measure"
	"soku/internal/text"
)

// distributionSummary writes the middle and the tail of a distribution, whose tail may have no
// percentile that its count supports.
func distributionSummary(out *text.Lines, label string, p *measure.Percentiles) {
	if p == nil {
		return
	}
	args := latencyArgs(p)
	out.Row(label, "summary.middle", args)
	if p.Supported().P90 > 0 {
		out.Row("label.tail", "summary.tail", args)
	}
}

// latencyArgs are the figures of a distribution of round trips. Percentiles that its count does
// not support are 0.
func latencyArgs(all *measure.Percentiles) text.Args {
	p := all.Supported()
	return text.Args{
		"Count": p.Count, "Min": p.Min, "Mean": p.Mean, "Max": p.Max,
		"P50": p.P50, "P90": p.P90, "P95": p.P95, "P99": p.P99, "P999": p.P999, "P9999": p.P9999,
	}
}

func latencySummary(out *text.Lines, r *measure.Result) {
	l := r.Latency
	if l == nil {
		return
	}
	distributionSummary(out, "label.round_trip", r.Summary.RTT)
	if p := r.Summary.ApplicationRTT; p != nil && l.Application.Count() > 0 && (r.Summary.RTT == nil || *p != *r.Summary.RTT) {
		out.Row("label.program", "summary.program", latencyArgs(p))
	}
	if w := l.OneWay; w != nil {
		out.Row("label.one_way", "summary.one_way", text.Args{"Up": w.UpNs.P50, "Down": w.DownNs.P50, "Error": w.ClockErrorNs})
	}
	if l.Split != nil {
		splitSummary(out, l.Split)
	}
	if len(l.Flows) > 0 {
		by := func(a, b measure.LatencyFlow) int { return cmp.Compare(a.RTT.P50, b.RTT.P50) }
		fast, slow := slices.MinFunc(l.Flows, by), slices.MaxFunc(l.Flows, by)
		out.Row("label.flows", "summary.flows", text.Args{"Flows": len(l.Flows), "Fast": fast.RTT.P50, "FastFlow": fast.Local, "Slow": slow.RTT.P50, "SlowFlow": slow.Local})
	}
	out.Row("label.replies", "summary.replies", text.Args{"Received": l.Received, "Sent": l.Sent, "Lost": l.Lost})
	if a := l.Arrivals; a != nil {
		args := latencyArgs(&a.SendErrorNs)
		args["Process"] = a.Process
		out.Row("label.schedule", "summary.schedule", args)
	}
	if l.LateSends > 0 {
		out.Row("label.late", "summary.late", text.Args{"N": l.LateSends})
	}
	if l.Floor != nil {
		out.Row("label.floor", "summary.floor", text.Args{"Median": l.Floor.RTT.P50, "Age": measure.Duration(l.Floor.AgeNs)})
	}
	timing := text.Args{"Timing": l.ClientTiming(), "Stamps": "", "StampedBy": ""}
	if l.Split != nil {
		timing["Stamps"], timing["StampedBy"] = l.Split.Stamps, l.Split.StampedBy
	}
	out.Row("label.method", "summary.timing", timing)
	if t, known := l.EchoTiming(); known {
		out.Row("label.echo", "summary.method", text.Args{"Timing": t})
	}
}

// splitSummary writes where the round trips went. The percentiles of a line are each
// part's own and need not add up.
func splitSummary(out *text.Lines, s *measure.Split) {
	part := func(of func(measure.Percentiles) float64) text.Args {
		args := text.Args{
			"HostSend": of(s.HostSendNs), "Path": of(s.PathNs), "FarHost": of(s.FarHostNs), "HostReceive": of(s.HostReceiveNs), "Interface": nil,
		}
		if s.InterfaceNs != nil {
			args["Interface"] = of(*s.InterfaceNs)
		}
		return args
	}
	out.Row("label.split", "summary.split.p50", part(func(p measure.Percentiles) float64 { return p.P50 }))
	if s.WholeNs.Supported().P99 > 0 {
		out.Under("summary.split.p99", part(func(p measure.Percentiles) float64 { return p.P99 }))
	}
	if s.Unsplit > 0 {
		out.Under("summary.unsplit", text.Args{"N": s.Unsplit})
	}
}
