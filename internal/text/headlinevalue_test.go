package text

import (
	"testing"

	"soku/internal/measure/metric"
)

// A metric that has no message of its own is written by its quantity.
func TestAnyMetricCanBeAHeadline(t *testing.T) {
	for _, c := range []struct {
		metric metric.Definition
		value  float64
		want   string
	}{
		{metric.Definition{Quantity: metric.QuantityBitRate}, 1e9, "1.000 Gbit/s"},
		{metric.Definition{Quantity: metric.QuantityTime}, 48_210, "48.21 µs"},
		{metric.Definition{Quantity: metric.QuantityBytes}, 1.25e9, "1.250 GB"},
		{metric.Definition{Quantity: metric.QuantityRatio}, 0.5, "50 %"},
		{metric.Definition{Quantity: metric.QuantityIndex}, 0.98765, "0.9877"},
		{metric.Definition{Quantity: metric.QuantityEventRate, Unit: "files/s"}, 12.5, "12.5 files/s"},
	} {
		if _, got := English().Words(valueHeadline(&c.metric, c.value)); got != c.want {
			t.Errorf("a %s is written as %q, want %q", c.metric.Quantity, got, c.want)
		}
	}
}
