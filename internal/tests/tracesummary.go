package tests

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/text"
	"soku/internal/text/messages"
)

// traceSummary adds the findings of a trace without its table of hops. Names of hops come from
// the network, so their control characters are filtered before the terminal.
func traceSummary(out *text.Lines, r *measure.Result) {
	t := r.Trace
	if t == nil {
		return
	}
	switch {
	case t.Reached && r.Summary.RTT != nil:
		nearest, furthest, atMost := distance(t)
		out.Row("label.target", "summary.trace.reached", text.Args{"Nearest": nearest, "Hops": furthest, "AtMost": atMost, "Median": r.Summary.RTT.P50})
	case t.Reached && r.Summary.ReportedRTT != nil && r.Summary.ReportedRTT.Mean != nil: // of another program
		nearest, furthest, atMost := distance(t)
		out.Row("label.target", "summary.trace.reached_mean", text.Args{"Nearest": nearest, "Hops": furthest, "AtMost": atMost, "Mean": *r.Summary.ReportedRTT.Mean})
	case len(t.Hops) > 0:
		out.Row("label.target", "summary.trace.silent", text.Args{"Hop": len(t.Hops)})
	}
	for _, b := range branchesOf(t) {
		out.Row("label.branches", "summary.trace.branch", text.Args{"N": len(b.flows), "Flows": ranges(b.flows), "Path": b.path})
	}
	if flows := unknownFlows(t); len(flows) > 0 && len(t.Flows) > 1 {
		out.Row("label.branches", "summary.trace.unknown", text.Args{"N": len(flows), "Flows": ranges(flows)})
	}
	out.Row("label.probes", "summary.trace.probes", text.Args{"Sent": t.Sent, "Rounds": t.Rounds})
	if t.Foreign > 0 {
		out.Under("summary.trace.foreign", text.Args{"N": t.Foreign})
	}
	out.Row("label.method", "summary.method", text.Args{"Timing": t.ProbeTiming()})
}

// AlignedTrace are the lines of a table of hops.
func AlignedTrace(c *text.Catalogue, rows [][]string) []string {
	return text.Aligned(rows, c.Heading("head.flows"))
}

// TraceTable are the cells of the table of hops, its head first: a row a node that
// answered, or one for a silent hop. Names of hops come from the network: the caller
// filters the table before a terminal.
func TraceTable(c *text.Catalogue, t *measure.Trace) [][]string {
	rows := [][]string{c.Headings(
		"head.hop", "head.node", "head.loss", "head.sent", "head.last", "head.avg", "head.best", "head.worst", "head.deviation", "head.flows",
	)}
	for _, h := range t.Hops {
		number, loss, sent := strconv.Itoa(h.Hop), fmt.Sprintf("%.1f %%", h.LossRatio*100), strconv.FormatInt(h.Sent, 10)
		if !h.LossKnown() {
			loss = ""
		}
		if len(h.Nodes) == 0 {
			rows = append(rows, []string{number, c.Sentence("trace.no_answer", nil), loss, sent})
		}
		for _, n := range h.Nodes {
			line := []string{number, c.SentenceOf(text.TraceNode(&n)), loss, sent}
			for _, ns := range []float64{n.LastNs, n.MeanNs, n.MinNs, n.MaxNs, n.StdDevNs} {
				line = append(line, messages.FormatLatency(ns))
			}
			flows := ""
			if len(t.Flows) > 1 {
				flows = ranges(n.Flows)
			}
			rows = append(rows, append(line, flows))
			number, loss, sent = "", "", ""
		}
	}
	return rows
}

// ranges writes sorted numbers as people do: 0-3,7.
func ranges(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		part := strconv.Itoa(list[i])
		if k > i {
			part += "-" + strconv.Itoa(list[k])
		}
		parts, i = append(parts, part), k+1
	}
	return strings.Join(parts, ",")
}

// branch is one of the paths that flows took.
type branch struct {
	path  string
	flows []int
}

// distance returns the hops to the target over the nearest and the furthest path, and
// whether it may be nearer than that.
func distance(t *measure.Trace) (nearest, furthest int, atMost bool) {
	for _, uncertain := range []bool{false, true} {
		for _, f := range t.Flows {
			if n := len(f.Path); f.Reached && f.Uncertain == uncertain {
				if nearest == 0 || n < nearest {
					nearest = n
				}
				furthest = max(furthest, n)
			}
		}
		if furthest > 0 {
			if uncertain {
				furthest = nearest
			}
			return nearest, furthest, uncertain
		}
	}
	return len(t.Hops), len(t.Hops), false
}

// unknownFlows are the flows whose path is not wholly known.
func unknownFlows(t *measure.Trace) (flows []int) {
	for i, known := range t.Known() {
		if !known {
			flows = append(flows, t.Flows[i].Index)
		}
	}
	return flows
}

// branchesOf are the paths of a trace, the one of most flows first; none where all
// flows took one. Flows whose path is not wholly known are in none.
func branchesOf(t *measure.Trace) []branch {
	var branches []branch
	known := t.Known()
	for i, f := range t.Flows {
		if !known[i] {
			continue
		}
		hops := slices.Clone(f.Path)
		for i := range hops {
			if hops[i] == "" {
				hops[i] = "?"
			}
		}
		path := strings.Join(hops, " > ")
		i := slices.IndexFunc(branches, func(b branch) bool { return b.path == path })
		if i < 0 {
			i = len(branches)
			branches = append(branches, branch{path: path})
		}
		branches[i].flows = append(branches[i].flows, f.Index)
	}
	if len(branches) < 2 {
		return nil
	}
	slices.SortStableFunc(branches, func(a, b branch) int { return len(b.flows) - len(a.flows) })
	return branches
}
