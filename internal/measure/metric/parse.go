package metric

import (
	"slices"
	"strings"

	"soku/internal/measure"
)

// Find is the metric of a name as people write it: its key, or the key without the
// unit at its end. nil if no metric or several have the name.
func Find(name string) *Definition {
	if m := ByKey(name); m != nil {
		return m
	}
	all := slices.DeleteFunc(All(), func(m *Definition) bool { return m.Name() != name })
	if len(all) != 1 {
		return nil
	}
	return all[0]
}

// Name is the key without the unit at its end.
func (m *Definition) Name() string { return strings.TrimSuffix(m.Key, "_"+m.Suffix) }

// ParseValue reads a value of the metric as people write it, such as "12 Gbit/s", "5ms" or
// "2%", and returns it in the unit of the metric. The error is of kind usage.
func (m *Definition) ParseValue(text string) (float64, error) {
	switch m.Quantity {
	case QuantityBitRate:
		v, err := measure.ParseRate(text)
		return float64(v), err
	case QuantityTime:
		v, err := measure.ParseDuration(strings.ReplaceAll(text, " ", ""))
		return float64(v), err
	case QuantityBytes:
		v, err := measure.ParseSize(text)
		return float64(v), err
	case QuantityRatio, QuantityIndex:
		v, err := measure.ParsePercent(text)
		return float64(v), err
	}
	v, err := measure.ParseCount(text)
	return float64(v), err
}
