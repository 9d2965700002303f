package report

import (
	"bytes"
	"encoding/csv"
	"slices"
	"testing"

	"soku/internal/measure"
	"soku/internal/store"
)

func TestResultsAsCSVHaveOnlyPercentilesThatTheirCountSupports(t *testing.T) {
	cell := func(count float64, column string) string {
		e := store.Entry{ID: "x", Test: measure.TestPing, Figures: map[string]float64{"rtt_p50_ns": 1e6, "rtt_p99_ns": 2e6, "rtt_count": count}}
		var b bytes.Buffer
		if err := ResultsCSV(&b, func(yield func(store.Entry, error) bool) { yield(e, nil) }); err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(lines) != 2 {
			t.Fatal(lines, err)
		}
		return lines[1][slices.Index(lines[0], column)]
	}
	for _, c := range []struct {
		count        float64
		median, tail string
	}{{5, "1", ""}, {1000, "1", "2"}} {
		if median, tail := cell(c.count, "rtt_p50_ms"), cell(c.count, "rtt_p99_ms"); median != c.median || tail != c.tail {
			t.Errorf("of %v round trips the median is %q and the 99th percentile %q, want %q and %q", c.count, median, tail, c.median, c.tail)
		}
	}
}
