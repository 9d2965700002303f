package report

import (
	"encoding/csv"
	"io"
	"iter"
	"slices"
	"strconv"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/store"
)

// ResultsCSV writes a line for each result of a list, for spreadsheets: what it is, and the
// figures that stand for the results of any test, rates in Mbit/s, times in ms and ratios in
// percent. A figure that a result does not have is an empty cell.
func ResultsCSV(w io.Writer, entries iter.Seq2[store.Entry, error]) error {
	figures := headlineMetrics()
	out := csv.NewWriter(w)
	head := []string{"id", "started_at", "test", "client", "server", "direction", "streams", "via", "campaign", "pattern", "label", "round", "repeat"}
	for _, m := range figures {
		column, _ := spreadsheetUnit(m)
		head = append(head, column)
	}
	_ = out.Write(append(head, "error")) // the error is that of out.Error
	for e, err := range entries {
		if err != nil {
			return err
		}
		line := []string{
			csvText(e.ID), e.StartedAt.UTC().Format(time.RFC3339), csvText(string(e.Test)), csvText(e.Client), csvText(e.Server), csvText(string(e.Direction)), counted(e.Streams), csvText(e.Via),
			csvText(e.Campaign), csvText(e.Pattern), csvText(e.Label), counted(e.Round), counted(e.Repeat),
		}
		for _, m := range figures {
			cell := ""
			if v, known := e.Figures[m.Key]; known && m.Supported(e.Figures) {
				_, scale := spreadsheetUnit(m)
				cell = exact(v * scale)
			}
			line = append(line, cell)
		}
		_ = out.Write(append(line, csvText(e.Error)))
	}
	out.Flush()
	return out.Error()
}

// headlineMetrics are the figures that stand for the results of any test, each once.
func headlineMetrics() (out []*metric.Definition) {
	for _, test := range measure.Tests() {
		for _, m := range slices.Concat(metric.Of(test).Headline...) {
			if !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// spreadsheetUnit is the column of a figure, and what its value is multiplied by.
func spreadsheetUnit(m *metric.Definition) (column string, scale float64) {
	switch m.Quantity {
	case metric.QuantityBitRate:
		return m.Name() + "_mbit_s", 1e-6
	case metric.QuantityTime:
		return m.Name() + "_ms", 1e-6
	case metric.QuantityRatio:
		return m.Name() + "_percent", 100
	}
	return m.Key, 1
}

// counted is a number, or empty for 0, which stands for none.
func counted(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
