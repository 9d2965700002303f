package measure

import "time"

// UnderLoad is the latency of a path before, while and after a TCP flow loads it,
// each on a TCP connection of its own beside the flow's.
type UnderLoad struct {
	Before *Latency `json:"before,omitempty" jsonschema:"description=The path before the flow began"`
	During *Latency `json:"during,omitempty" jsonschema:"description=Beside the flow, without its start"`
	After  *Latency `json:"after,omitempty" jsonschema:"description=When the flow had ended"`
}

// Probes is how many connections beside the flow's carry the messages: one for
// each part of [UnderLoad], in order.
const Probes = 3

// probeRate is how many messages leave a second: enough for a 99th percentile in
// ten seconds, and 0.1 Mbit/s, which is no load.
const probeRate = 200

// idleProbe is how long the path is measured before and after, at most.
const idleProbe = Duration(2 * time.Second)

// IdleProbe are the effective options of the latency test before and after a flow
// with the options o.
func (o Options) IdleProbe() Options {
	p := o.probe()
	p.Duration = idleProbe
	if o.Duration > 0 {
		p.Duration = min(p.Duration, o.Duration)
	}
	return p
}

// LoadProbe are those of the one beside the flow. It leaves out the flow's first
// second, at most a fifth of it, while the queues of the path fill. Where the flow
// has no duration the probe counts from the flow's start and ends with it.
func (o Options) LoadProbe() Options {
	p := o.probe()
	if o.Duration == 0 {
		p.Duration = Duration(24 * time.Hour)
		return p
	}
	start := min(Duration(time.Second), o.Duration/5)
	p.Omit, p.Duration = o.Omit+start, o.Duration-start
	return p
}

func (o Options) probe() Options {
	p := Defaults(TestLatency)
	p.RequestRate, p.Interval = probeRate, o.Interval
	p.DSCP, p.TOS, p.IPVersion, p.Port, p.ConnectTimeout = o.DSCP, o.TOS, o.IPVersion, o.Port, o.ConnectTimeout
	return p
}

// RPM is the responsiveness that a distribution of round trips stands for: how
// many of them fit into a minute one after another, by their mean without the
// slowest twentieth, as the IETF responsiveness draft trims it; 0 for none.
func RPM(h *Histogram) float64 {
	if h == nil || h.Count() == 0 {
		return 0
	}
	left := h.Count() - h.Count()/20
	var sum, n float64
	for _, b := range h.Buckets() {
		take := min(left, b.Count)
		sum += float64(take) * float64(b.From+b.To) / 2
		n += float64(take)
		if left -= take; left == 0 {
			break
		}
	}
	if sum == 0 {
		return 0
	}
	return float64(time.Minute) * n / sum
}
