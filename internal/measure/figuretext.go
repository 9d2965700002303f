package measure

import (
	"slices"
	"strings"
)

// FindMetric is the metric of a name as people write it: its key, or the key without the
// unit at its end. nil if no metric or several have the name.
func FindMetric(name string) *Metric {
	if m := MetricByKey(name); m != nil {
		return m
	}
	all := slices.DeleteFunc(Metrics(), func(m *Metric) bool { return m.Name() != name })
	if len(all) != 1 {
		return nil
	}
	return all[0]
}

// Name is the key without the unit at its end.
func (m *Metric) Name() string { return strings.TrimSuffix(m.Key, "_"+m.Suffix) }

// ParseValue reads a value of the metric as people write it, such as "12 Gbit/s", "5ms" or
// "2%", and returns it in the unit of the metric. The error is of kind usage.
func (m *Metric) ParseValue(text string) (float64, error) {
	switch m.Quantity {
	case QuantityBitRate:
		v, err := ParseRate(text)
		return float64(v), err
	case QuantityTime:
		v, err := ParseDuration(strings.ReplaceAll(text, " ", ""))
		return float64(v), err
	case QuantityBytes:
		v, err := ParseSize(text)
		return float64(v), err
	case QuantityRatio, QuantityIndex:
		v, err := ParsePercent(text)
		return float64(v), err
	}
	v, err := ParseCount(text)
	return float64(v), err
}
