package ethr

import (
	"fmt"
	"io"
	"time"

	"soku/internal/measure"
)

// WriteTable writes rows of round trips as Ethr's latency table, for scripts that read it.
// The figures are soku's: percentiles of histograms.
func WriteTable(w io.Writer, rows []measure.Percentiles) error {
	if _, err := fmt.Fprintf(w, "%s\n%s\n", rule, tripsHeadRow()); err != nil {
		return err
	}
	for _, p := range rows {
		var cells []string
		for _, ns := range []float64{p.Mean, p.Min, p.P50, p.P90, p.P95, p.P99, p.P999, p.P9999, p.Max} {
			cells = append(cells, duration(time.Duration(ns)))
		}
		if _, err := fmt.Fprintln(w, columns(cells...)); err != nil {
			return err
		}
	}
	return nil
}
