package text

import (
	"testing"

	"soku/internal/measure"
)

// A metric that has no message of its own is written by its quantity.
func TestAnyMetricCanBeAHeadline(t *testing.T) {
	for _, c := range []struct {
		metric measure.Metric
		value  float64
		want   string
	}{
		{measure.Metric{Quantity: measure.QuantityBitRate}, 1e9, "1.000 Gbit/s"},
		{measure.Metric{Quantity: measure.QuantityTime}, 48_210, "48.21 µs"},
		{measure.Metric{Quantity: measure.QuantityBytes}, 1.25e9, "1.250 GB"},
		{measure.Metric{Quantity: measure.QuantityRatio}, 0.5, "50 %"},
		{measure.Metric{Quantity: measure.QuantityIndex}, 0.98765, "0.9877"},
		{measure.Metric{Quantity: measure.QuantityEventRate, Unit: "files/s"}, 12.5, "12.5 files/s"},
	} {
		if _, got := English().Words(valueHeadline(&c.metric, c.value)); got != c.want {
			t.Errorf("a %s is written as %q, want %q", c.metric.Quantity, got, c.want)
		}
	}
}
