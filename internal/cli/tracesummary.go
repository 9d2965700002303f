package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"

	"soku/internal/measure"
)

// probeText is what the path line says of the tests trace and mtu.
func probeText(o measure.Options) []string {
	parts := []string{strings.ToUpper(o.Probe)}
	if o.Port > 0 {
		parts[0] += fmt.Sprintf(" to port %d", o.Port)
	}
	if o.Flows > 1 {
		parts = append(parts, measure.Plural(o.Flows, "flow"))
	}
	return parts
}

// printTraceSummary writes the hops of a path. Names of hops come from the network, so
// nothing of them reaches the terminal as a control character.
func printTraceSummary(w io.Writer, row rowPrinter, r *measure.Result) {
	t := r.Trace
	fmt.Fprintln(w)
	for _, line := range traceLines(t) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	switch {
	case t.Reached && r.Summary.RTT != nil:
		row("target", "%s away, median %s", measure.Plural(len(t.Hops), "hop"), measure.FormatLatency(r.Summary.RTT.P50))
	case len(t.Hops) > 0:
		row("target", "did not answer; the last answer is of hop %d. A filter may drop the probes: try another --probe or --port", len(t.Hops))
	}
	for _, line := range branchLines(t) {
		row("branches", "%s", line)
	}
	row("probes", "%d sent in %s", t.Sent, measure.Plural(t.Rounds, "round"))
	if t.Foreign > 0 {
		row("", "%d ICMP messages about other packets were left out", t.Foreign)
	}
	row("method", "%s", t.Method)
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
			rows = append(rows, []string{number, "no answer", loss, sent})
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
	text := n.Address
	if n.Name != "" {
		text = n.Name + " (" + n.Address + ")"
	}
	if len(n.MPLS) > 0 {
		var labels []string
		for _, l := range n.MPLS {
			labels = append(labels, strconv.Itoa(l.Label))
		}
		text += " MPLS " + strings.Join(labels, "/")
	}
	if n.Reason != "" {
		text += ": " + n.Reason
	}
	return terminalText(text)
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

// branchLines says which flows went which way, the way of most flows first; none where
// all went one way.
func branchLines(t *measure.Trace) []string {
	type branch struct {
		way   string
		flows []int
	}
	var branches []branch
	for _, f := range t.Flows {
		hops := slices.Clone(f.Path)
		for i := range hops {
			if hops[i] == "" {
				hops[i] = "?"
			}
		}
		way := strings.Join(hops, " > ")
		i := slices.IndexFunc(branches, func(b branch) bool { return b.way == way })
		if i < 0 {
			i = len(branches)
			branches = append(branches, branch{way: way})
		}
		branches[i].flows = append(branches[i].flows, f.Index)
	}
	if len(branches) < 2 {
		return nil
	}
	slices.SortStableFunc(branches, func(a, b branch) int { return len(b.flows) - len(a.flows) })
	var out []string
	for _, b := range branches {
		out = append(out, fmt.Sprintf("%s %s: %s", map[bool]string{true: "flow", false: "flows"}[len(b.flows) == 1], ranges(b.flows), b.way))
	}
	return out
}
