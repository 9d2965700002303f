package cli

import (
	"fmt"
	"io"

	"soku/internal/measure"
)

// printRows writes the table of round trips, a row each N.
func printRows(w io.Writer, l *measure.Latency) {
	if l == nil || len(l.Rows) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%10s %10s %10s %10s %10s %10s %10s %10s %10s\n", "avg", "min", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max")
	for _, row := range l.Rows {
		p := row.RTT
		for i, v := range []float64{p.Mean, p.Min, p.P50, p.P90, p.P95, p.P99, p.P999, p.P9999, p.Max} {
			if i > 0 {
				fmt.Fprint(w, " ")
			}
			fmt.Fprintf(w, "%10s", measure.FormatLatency(v))
		}
		fmt.Fprintln(w)
	}
}
