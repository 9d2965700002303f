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
	v, err := parseScaled("count", text, "packets/s", "connections/s", "/s")
	return float64(v), err
}

// Limit is a documented limit of a figure, such as the bandwidth that a provider publishes
// for a type of machine.
type Limit struct {
	Metric string  `json:"metric" jsonschema:"description=Key of the figure"`
	Value  float64 `json:"value" jsonschema:"description=In the unit of the figure"`
	// Of is what has the limit, such as "sku=high" for a level of a factor; empty for all.
	Of string `json:"of,omitempty" jsonschema:"description=What has the limit: factor=level or the name of an endpoint; absent for all of it"`
	// Component is the name in the catalog of what has the limit; empty for a limit written by hand.
	Component string `json:"component,omitempty" jsonschema:"description=Name of the component in the catalog of documented limits"`
	Source    string `json:"source,omitempty" jsonschema:"description=Who published it: a text\\, or the address of the page"`
	Date      string `json:"date,omitempty" jsonschema:"description=Day on which the page was read"`
}
