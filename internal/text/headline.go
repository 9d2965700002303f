package text

import (
	"strings"

	"soku/internal/measure"
)

// Headline is the line of a result in a list: the figure that a person looks for,
// with those that qualify it, or the kind of failure. figures are the metrics of
// the result by their keys.
func Headline(test measure.Test, failed measure.Kind, figures map[string]float64) Line {
	if failed != "" {
		return Line{Key: "headline.failed", Args: Args{"Kind": strings.ReplaceAll(string(failed), "_", " ")}}
	}
	first := measure.MetricsOf(test).Headline[0][0]
	figures = measure.Headline(test, figures)
	switch first {
	case measure.MetricGoodput:
		if _, known := figures[first.Key]; !known {
			return Line{Key: "headline.goodput_unknown"}
		}
		return Line{Key: "headline.goodput", Args: Args{"Goodput": figures[first.Key], "Loss": figures[measure.MetricLoss.Key]}}
	case measure.MetricConnections:
		return connectionsHeadline(figures)
	case measure.MetricRTTP50:
		return roundTripHeadline(figures)
	case measure.MetricHops:
		return hopsHeadline(figures)
	case measure.MetricPathMTU:
		return Line{Key: "headline.path_mtu", Args: Args{"Bytes": int64(figures[first.Key])}}
	}
	return valueHeadline(first, figures[first.Key])
}

func connectionsHeadline(figures map[string]float64) Line {
	rate, known := figures[measure.MetricConnections.Key]
	args := Args{"Rate": rate, "Loss": figures[measure.MetricRTTLoss.Key], "P50": nil, "P99": nil}
	p50, median := figures[measure.MetricRTTP50.Key]
	p99, tail := figures[measure.MetricRTTP99.Key]
	if median && tail {
		args["P50"], args["P99"] = p50, p99
	}
	if !known && median && tail { // of a source that only times set-ups
		return Line{Key: "headline.connections.times", Args: args}
	}
	return Line{Key: "headline.connections", Args: args}
}

// roundTripHeadline is the median with the 99th percentile, or what else the
// source of an ingested result has.
func roundTripHeadline(figures map[string]float64) Line {
	loss, counted := figures[measure.MetricRTTLoss.Key]
	p50, median := figures[measure.MetricRTTP50.Key]
	p99, tail := figures[measure.MetricRTTP99.Key]
	mean, average := figures[measure.MetricRTTMean.Key]
	longest, most := figures[measure.MetricRTTMax.Key]
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
	hops, found := figures[measure.MetricHops.Key]
	p50, reached := figures[measure.MetricRTTP50.Key]
	mean, reported := figures[measure.MetricRTTMean.Key] // of another program
	switch {
	case !found:
		return Line{Key: "headline.hops.none"}
	case !reached && reported:
		return Line{Key: "headline.hops.mean", Args: Args{"Hops": hops, "Mean": mean, "Loss": figures[measure.MetricRTTLoss.Key]}}
	case !reached:
		return Line{Key: "headline.hops.silent", Args: Args{"Hops": hops}}
	}
	return Line{Key: "headline.hops", Args: Args{"Hops": hops, "P50": p50, "Loss": figures[measure.MetricRTTLoss.Key]}}
}

// valueHeadline is any other metric, written as its quantity says.
func valueHeadline(m *measure.Metric, value float64) Line {
	args := Args{"Value": value}
	switch m.Quantity {
	case measure.QuantityBitRate:
		return Line{Key: "headline.rate", Args: args}
	case measure.QuantityTime:
		return Line{Key: "headline.time", Args: args}
	case measure.QuantityBytes:
		return Line{Key: "headline.bytes", Args: args}
	case measure.QuantityRatio:
		return Line{Key: "headline.ratio", Args: args}
	}
	return Line{Key: "headline.value", Args: Args{"Value": value, "Unit": m.Unit}}
}
