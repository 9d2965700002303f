package main

const (
	sokuLabel      = "soku"
	limitLabel     = "limit"
	limitWideLabel = "limit -w 4M"
	perGB          = "GB"
	perMillion     = "million packets"
)

// The metrics of all contests. Their names are keys in the raw results.
var (
	goodput        = Metric{"goodput_gbps", "Gbit/s", "%.1f", true}
	packetRate     = Metric{"packets_per_second", "packets/s", "%.0f", true}
	connectionRate = Metric{"connections_per_second", "connections/s", "%.0f", true}
	copyRate       = Metric{"copied_mb_per_second", "MB/s", "%.0f", true}
	linkShare      = Metric{"link_percent", "% of the link's payload rate", "%.1f", true}
	coreShare      = Metric{"core_percent", "% of a core per end", "%.2f", false}
	lossRatio      = Metric{"loss_percent", "% lost", "%.3f", false}
	rateError      = Metric{"rate_error_percent", "% off the rate", "%.3f", false}
	mean           = Metric{"mean_us", "µs mean", "%.1f", false}
	p50            = Metric{"p50_us", "µs p50", "%.1f", false}
	p99            = Metric{"p99_us", "µs p99", "%.1f", false}
	p999           = Metric{"p999_us", "µs p99.9", "%.1f", false}
	lateP50        = Metric{"late_p50_us", "µs late p50", "%.1f", false}
	lateP99        = Metric{"late_p99_us", "µs late p99", "%.1f", false}
	lateP999       = Metric{"late_p999_us", "µs late p99.9", "%.1f", false}
	firstPacket    = Metric{"first_packet_ms", "ms to the first packet", "%.1f", false}
	wall           = Metric{"wall_ms", "ms to the exit", "%.1f", false}
)
