package text

import (
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/metric"
)

// Headline is the line of a result in a list: the figure that a person looks for,
// with those that qualify it, or the kind of failure. figures are the metrics of
// the result by their keys.
func Headline(test measure.Test, failed measure.Kind, figures map[string]float64) Line {
	if failed != "" {
		return Line{Key: "headline.failed", Args: Args{"Kind": strings.ReplaceAll(string(failed), "_", " ")}}
	}
	first := metric.Of(test).Headline[0][0]
	figures = metric.Headline(test, figures)
	switch first {
	case metric.Goodput:
		if _, known := figures[first.Key]; !known {
			return Line{Key: "headline.goodput_unknown"}
		}
		return Line{Key: "headline.goodput", Args: Args{"Goodput": figures[first.Key], "Loss": figures[metric.Loss.Key]}}
	case metric.Connections:
		return connectionsHeadline(figures)
	case metric.RTTP50:
		return roundTripHeadline(figures)
	case metric.Hops:
		return hopsHeadline(figures)
	case metric.PathMTU:
		return Line{Key: "headline.path_mtu", Args: Args{"Bytes": int64(figures[first.Key])}}
	}
	return valueHeadline(first, figures[first.Key])
}

func connectionsHeadline(figures map[string]float64) Line {
	rate, known := figures[metric.Connections.Key]
	p50, median := figures[metric.RTTP50.Key]
	args := Args{"Rate": rate, "Loss": figures[metric.RTTLoss.Key], "P50": p50, "P99": figures[metric.RTTP99.Key]}
	if !known && median { // of a source that only times set-ups
		return Line{Key: "headline.connections.times", Args: args}
	}
	return Line{Key: "headline.connections", Args: args}
}

// roundTripHeadline is the median with the 99th percentile, or what else the
// source of an ingested result has.
func roundTripHeadline(figures map[string]float64) Line {
	loss, counted := figures[metric.RTTLoss.Key]
	p50, median := figures[metric.RTTP50.Key]
	p99, tail := figures[metric.RTTP99.Key]
	mean, average := figures[metric.RTTMean.Key]
	longest, most := figures[metric.RTTMax.Key]
	switch {
	case median && tail:
		return Line{Key: "headline.rtt.percentiles", Args: Args{"P50": p50, "P99": p99, "Loss": loss}}
	case median:
		return Line{Key: "headline.rtt.median", Args: Args{"P50": p50, "Loss": loss}}
	case average:
		return Line{Key: "headline.rtt.mean", Args: Args{"Mean": mean, "Loss": loss}}
	case most:
		return Line{Key: "headline.rtt.max", Args: Args{"Max": longest, "Loss": loss}}
	case counted && loss < 1:
		return Line{Key: "headline.rtt.untimed", Args: Args{"Loss": loss}}
	}
	return Line{Key: "headline.rtt.none", Args: Args{"Loss": loss}}
}

func hopsHeadline(figures map[string]float64) Line {
	hops, found := figures[metric.Hops.Key]
	p50, reached := figures[metric.RTTP50.Key]
	mean, reported := figures[metric.RTTMean.Key] // of another program
	switch {
	case !found:
		return Line{Key: "headline.hops.none"}
	case !reached && reported:
		return Line{Key: "headline.hops.mean", Args: Args{"Hops": hops, "Mean": mean, "Loss": figures[metric.RTTLoss.Key]}}
	case !reached:
		return Line{Key: "headline.hops.silent", Args: Args{"Hops": hops}}
	}
	return Line{Key: "headline.hops", Args: Args{"Hops": hops, "P50": p50, "Loss": figures[metric.RTTLoss.Key]}}
}

// valueHeadline is any other metric, written as its quantity says.
func valueHeadline(m *metric.Definition, value float64) Line {
	args := Args{"Value": value}
	switch m.Quantity {
	case metric.QuantityBitRate:
		return Line{Key: "headline.rate", Args: args}
	case metric.QuantityTime:
		return Line{Key: "headline.time", Args: args}
	case metric.QuantityBytes:
		return Line{Key: "headline.bytes", Args: args}
	case metric.QuantityRatio:
		return Line{Key: "headline.ratio", Args: args}
	}
	return Line{Key: "headline.value", Args: Args{"Value": value, "Unit": m.Unit}}
}
