package probe

import "soku/internal/measure"

// Options are those that only tests with single probes have, trace and mtu.
type Options struct {
	Probe   string `json:"probe,omitempty" yaml:"probe" flag:"probe" enum:"icmp udp tcp" help:"kind of probes: icmp (echo), udp, or for trace tcp (SYN)" help.trace:"kind of probes: icmp (echo), udp or tcp (SYN)" help.mtu:"kind of probes: icmp (echo) or udp"`
	MaxHops int    `json:"max_hops,omitempty" yaml:"max_hops" flag:"max-hops" min:"1" max:"64" help:"maximum number of hops"`
	Names   bool   `json:"names,omitempty" yaml:"names" flag:"names" help:"look up the names of hops by reverse DNS"`
}

// OptionsOf returns the options that only tests with single probes have.
func OptionsOf(o measure.Options) Options { return measure.OwnOptions[Options](o) }

// FillPort sets the default port of probes: traceroute's first for UDP, and that of HTTPS
// for SYNs, which most firewalls pass.
func FillPort(o *measure.Options) {
	kind := OptionsOf(*o).Probe
	switch {
	case o.Port != 0:
	case kind == "udp":
		o.Port = 33434
	case kind == "tcp":
		o.Port = 443
	}
}

// MaxFlows is the most flows of a test with single probes.
const MaxFlows = 64

// CheckOptions checks the options that all tests with single probes share.
func CheckOptions(test measure.Test, o *measure.Options) error {
	if o.Flows > MaxFlows {
		return measure.Fail(measure.KindUsage, "probe.flows", measure.Figures{"flows": o.Flows, "most": MaxFlows, "test": test})
	}
	if o.Count < 1 {
		return measure.Fail(measure.KindUsage, "probe.count", measure.Figures{"count": o.Count, "test": test})
	}
	if OptionsOf(*o).Probe == "icmp" && o.Port != 0 {
		return measure.Fail(measure.KindUsage, "probe.port", measure.Figures{"port": o.Port})
	}
	return nil
}
