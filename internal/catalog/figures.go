package catalog

import (
	"strings"
	"sync"

	"soku/internal/measure"
	"soku/internal/measure/metric"
)

// figure is a kind of documented figure.
type figure struct {
	name  string
	unit  string
	parse func(string) (float64, error)
	// metric is the key of the metric that trials measure for the figure, or empty if none does.
	metric string
}

// ofMetric is a figure with the values of a metric.
func ofMetric(name string, m *metric.Definition, unit string) figure {
	return figure{name: name, unit: unit, parse: m.ParseValue, metric: m.Key}
}

// figures are all kinds.
var figures = sync.OnceValue(func() []figure {
	packets := metric.ByKey("packets_per_second")
	return []figure{
		ofMetric("goodput", metric.Goodput, "bit/s"),
		ofMetric("packets_per_second", packets, "packets/s"),
		ofMetric("connections_per_second", metric.Connections, "connections/s"),
		{name: "connections", unit: "connections", parse: packets.ParseValue},
		{name: "iops", unit: "operations/s", parse: packets.ParseValue},
		{name: "disk_throughput", unit: "bytes/s", parse: func(text string) (float64, error) {
			v, err := measure.ParseSize(strings.TrimSuffix(strings.TrimSpace(text), "/s"))
			return float64(v), err
		}},
	}
})

// Figures are the names of what can have a limit.
func Figures() (out []string) {
	for _, f := range figures() {
		out = append(out, f.name)
	}
	return out
}

// figureOf is the figure of a name; the zero figure if there is none.
func figureOf(name string) figure {
	for _, f := range figures() {
		if f.name == name {
			return f
		}
	}
	return figure{}
}

// metricOf returns the key of the metric that a figure limits in a direction of a trial, or an
// empty string without one. both reports whether the trial has both directions, whose rates other
// than goodput are sums of both directions.
func metricOf(name string, d measure.Direction, both bool) string {
	f := figureOf(name)
	switch {
	case !both:
		return f.metric
	case f.metric != metric.Goodput.Key:
		return ""
	case d == measure.Reverse:
		return "reverse_bps"
	}
	return "forward_bps"
}
