package tests

import (
	"maps"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/text"
)

func connectSummary(out *text.Lines, r *measure.Result) {
	c, l := r.Connect, r.Latency
	if c == nil || l == nil {
		return
	}
	args := text.Args{"Rate": r.Summary.ConnectionsPerSecond, "Client": c.OpenedPerSecond}
	if c.Accepted != nil {
		out.Row("label.rate", "summary.connect.server", args)
		out.Row("label.counted", "summary.connect.both", text.Args{"Opened": c.Opened, "Accepted": *c.Accepted, "Failed": c.Failed, "Unfinished": c.Unfinished})
	} else {
		delete(args, "Rate")
		out.Row("label.rate", "summary.connect.client", args)
		out.Row("label.counted", "summary.connect.one", text.Args{"Opened": c.Opened, "Failed": c.Failed, "Unfinished": c.Unfinished})
	}
	label := "label.failures"
	for _, kind := range slices.Sorted(maps.Keys(c.Failures)) {
		out.Row(label, "summary.connect.failure", text.Args{"Count": c.Failures[kind], "Kind": strings.ReplaceAll(kind, "_", " ")})
		label = ""
	}
	distributionSummary(out, "label.set_up", r.Summary.RTT)
	if l.LateSends > 0 {
		out.Row("label.late", "summary.connect.late", text.Args{"N": l.LateSends})
	}
	if l.Floor != nil {
		out.Row("label.floor", "summary.floor", text.Args{"Median": l.Floor.RTT.P50, "Age": measure.Duration(l.Floor.AgeNs)})
	}
	out.Row("label.method", "summary.connect.method", text.Args{"Timing": l.ClientTiming(), "Client": c.ClientPath, "Server": c.ServerPath, "Main": c.Entry == "main"})
}
