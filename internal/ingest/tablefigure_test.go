package ingest

import (
	"slices"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/metric"
)

func TestAFigureOfATableGoesToTheTestsThatMeasureIt(t *testing.T) {
	want := map[measure.Test][]string{
		measure.TestTCP:     {"goodput", "bytes", "duration", "retransmits"},
		measure.TestUDP:     {"goodput", "bytes", "duration", "loss", "jitter", "packets_per_second"},
		measure.TestConnect: {"duration", "loss", "connections_per_second", "min", "mean", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max", "std_dev", "count"},
		measure.TestPing:    {"duration", "loss", "min", "mean", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max", "std_dev", "count"},
	}
	want[measure.TestLatency] = want[measure.TestPing]
	for test, names := range want {
		var got []string
		for _, f := range tableFigures() {
			if f.fits(test) {
				got = append(got, f.name)
			}
		}
		if !slices.Equal(got, names) {
			t.Errorf("%s takes %q, want %q", test, got, names)
		}
	}
	for _, f := range tableFigures() {
		for _, key := range f.metrics {
			if metric.ByKey(key) == nil {
				t.Errorf("%s becomes %s, which is no metric", f.name, key)
			}
		}
	}
}
