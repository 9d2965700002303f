package check

import (
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/yamlfile"
)

// figure is the metric of a name: its key, or its key without the unit at the end.
func figure(name string) (*metric.Definition, error) {
	if m := metric.Find(name); m != nil {
		return m, nil
	}
	var known []string
	for _, m := range metric.All() {
		known = append(known, m.Name())
	}
	err := measure.Fail(measure.KindFile, "check.no_figure", measure.Figures{"figure": yamlfile.Shorten(name)})
	if near := yamlfile.Nearest(name, known); near != "" {
		err = err.WithHintCode("similar_choice", measure.Figures{"near": near})
	}
	return nil, err
}

// ParseValue reads a threshold with its unit, in the unit of the metric. Rates and times have a
// unit: a number alone would be read in one that was not meant.
func ParseValue(m *metric.Definition, text string) (v float64, err error) {
	bare := strings.Trim(text, "0123456789. ") == ""
	percent := percentage.FindStringSubmatch(text)
	switch m.Quantity {
	case metric.QuantityRatio, metric.QuantityIndex, metric.QuantityCost: // 0 is possible, and fractions are
		if percent != nil && m.Quantity == metric.QuantityRatio {
			return share(percent[1])
		}
		v, err = strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, m.Unit)), 64)
	default:
		v, err = m.ParseValue(text)
	}
	needsUnit := m.Quantity == metric.QuantityBitRate || m.Quantity == metric.QuantityTime
	if err != nil || bare && needsUnit || !(v >= 0 && v <= 1e18) {
		return 0, measure.Fail(measure.KindFile, "check.value", measure.Figures{
			"text": yamlfile.Shorten(text), "figure": m.Key, "unit": m.Unit, "quantity": string(m.Quantity),
		})
	}
	return v, nil
}
