package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"

	"soku/internal/measure"
	"soku/internal/text"
)

// traceSummary adds what a trace found beside its table of hops. Names of hops come from
// the network, so nothing of them reaches the terminal as a control character.
func traceSummary(out *text.Lines, r *measure.Result) {
	t := r.Trace
	switch {
	case t.Reached && r.Summary.RTT != nil:
		out.Row("label.target", "summary.trace.reached", text.Args{"Hops": len(t.Hops), "Median": r.Summary.RTT.P50})
	case len(t.Hops) > 0:
		out.Row("label.target", "summary.trace.silent", text.Args{"Hop": len(t.Hops)})
	}
	for _, b := range branchesOf(t) {
		out.Row("label.branches", "summary.trace.branch", text.Args{"N": len(b.flows), "Flows": ranges(b.flows), "Path": b.path})
	}
	out.Row("label.probes", "summary.trace.probes", text.Args{"Sent": t.Sent, "Rounds": t.Rounds})
	if t.Foreign > 0 {
		out.Under("summary.trace.foreign", text.Args{"N": t.Foreign})
	}
	out.Row("label.method", "summary.text", text.Args{"Text": t.Method})
}

// printBelow writes lines, and a table between blank lines below them.
func printBelow(w io.Writer, columns int, head text.Lines, table []string) {
	printLines(w, columns, head)
	fmt.Fprintln(w)
	for _, line := range table {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
}

// traceLines is the table of hops: a line a node that answered, or one for a silent hop.
func traceLines(t *measure.Trace) []string { return aligned(traceRows(t)) }

// traceRows are the cells of the table of hops, its head first.
func traceRows(t *measure.Trace) [][]string {
	rows := [][]string{{"HOP", "NODE", "LOSS", "SENT", "LAST", "AVG", "BEST", "WORST", "STDDEV", "FLOWS"}}
	for _, h := range t.Hops {
		number, loss, sent := strconv.Itoa(h.Hop), fmt.Sprintf("%.1f %%", h.LossRatio*100), strconv.FormatInt(h.Sent, 10)
		if h.Sent == 0 {
			loss = ""
		}
		if len(h.Nodes) == 0 {
			rows = append(rows, []string{number, text.English().Say("trace.no_answer", nil), loss, sent})
		}
		for _, n := range h.Nodes {
			line := []string{number, nodeText(n), loss, sent}
			for _, ns := range []float64{n.LastNs, n.MeanNs, n.MinNs, n.MaxNs, n.StdDevNs} {
				line = append(line, measure.FormatLatency(ns))
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

// nodeText names who answered, and why the probe went no further.
func nodeText(n measure.TraceNode) string {
	node := n.Address
	if n.Name != "" {
		node = n.Name + " (" + n.Address + ")"
	}
	if len(n.MPLS) > 0 {
		var labels []string
		for _, l := range n.MPLS {
			labels = append(labels, strconv.Itoa(l.Label))
		}
		node += " MPLS " + strings.Join(labels, "/")
	}
	if n.Reason != "" {
		node += ": " + n.Reason
	}
	return terminalText(node)
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

// aligned pads columns; names begin at the left, numbers end at the right. Columns with
// nothing but a head are left out.
func aligned(rows [][]string) []string {
	widths := make([]int, len(rows[0]))
	for i, row := range rows {
		for c, cell := range row {
			if i > 0 && cell != "" {
				widths[c] = max(widths[c], runewidth.StringWidth(cell), runewidth.StringWidth(rows[0][c]))
			}
		}
	}
	var out []string
	for _, row := range rows {
		line := ""
		for c, cell := range row {
			switch {
			case widths[c] == 0:
			case c == 1 || rows[0][c] == "FLOWS":
				line += runewidth.FillRight(cell, widths[c]) + "  "
			default:
				line += runewidth.FillLeft(cell, widths[c]) + "  "
			}
		}
		out = append(out, strings.TrimRight(line, " "))
	}
	return out
}

// branch is one of the paths that flows took.
type branch struct {
	path  string
	flows []int
}

// branchesOf are the paths of a trace, the one of most flows first; none where all
// flows took one.
func branchesOf(t *measure.Trace) []branch {
	var branches []branch
	for _, f := range t.Flows {
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
