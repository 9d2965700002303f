package cli

import (
	"fmt"
	"io"

	"soku/internal/measure"
	"soku/internal/text"
	"soku/internal/text/messages"
)

// rowWidths are those of the table of round trips.
var rowWidths = []int{10, 10, 10, 10, 10, 10, 10, 10, 10}

// printRows writes the table of round trips, a row each N.
func printRows(c *text.Catalogue, w io.Writer, l *measure.Latency) {
	if l == nil || len(l.Rows) == 0 {
		return
	}
	fmt.Fprintln(w)
	heads := c.Headings("rows.avg", "rows.min", "rows.p50", "rows.p90", "rows.p95", "rows.p99", "rows.p99_9", "rows.p99_99", "rows.max")
	fmt.Fprintln(w, cells(rowWidths, heads...))
	for _, row := range l.Rows {
		p := row.RTT
		var texts []string
		for _, v := range []float64{p.Mean, p.Min, p.P50, p.P90, p.P95, p.P99, p.P999, p.P9999, p.Max} {
			texts = append(texts, messages.FormatLatency(v))
		}
		fmt.Fprintln(w, cells(rowWidths, texts...))
	}
}
