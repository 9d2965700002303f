package tcp

import (
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

// ProbeConnections is how many connections, in addition to the flow's, carry the messages of a
// test with latency under load: one for each part of [measure.UnderLoad], in order.
const ProbeConnections = 3

// probeRate is how many messages leave a second: enough for a 99th percentile in
// ten seconds, and 0.1 Mbit/s, which is no load.
const probeRate = 200

// idleProbe is how long the path is measured before and after, at most.
const idleProbe = measure.Duration(2 * time.Second)

// IdleProbe returns the effective options of the latency test before and after a flow with
// the options o.
func IdleProbe(o measure.Options) measure.Options {
	p := probe(o)
	p.Duration = idleProbe
	if o.Duration > 0 {
		p.Duration = min(p.Duration, o.Duration)
	}
	return p
}

// LoadProbe returns the options of the probe during the flow. The probe leaves out the flow's
// first second, at most a fifth of it, while the queues of the path fill. If the flow
// has no duration, the probe counts from the flow's start and ends with it.
func LoadProbe(o measure.Options) measure.Options {
	p := probe(o)
	if o.Duration == 0 {
		p.Duration = measure.Duration(24 * time.Hour)
		return p
	}
	start := min(measure.Duration(time.Second), o.Duration/5)
	p.Omit, p.Duration = o.Omit+start, o.Duration-start
	return p
}

func probe(o measure.Options) measure.Options {
	p := option.Defaults(measure.TestLatency)
	p.RequestRate, p.Interval = probeRate, o.Interval
	p.DSCP, p.TOS, p.IPVersion, p.Port, p.ConnectTimeout = o.DSCP, o.TOS, o.IPVersion, o.Port, o.ConnectTimeout
	return p
}
