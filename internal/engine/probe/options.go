package probe

import "soku/internal/measure"

// FillPort sets the default port of probes: traceroute's first for UDP, and that of HTTPS
// for SYNs, which most firewalls pass.
func FillPort(o *measure.Options) {
	switch {
	case o.Port != 0:
	case o.Probe == "udp":
		o.Port = 33434
	case o.Probe == "tcp":
		o.Port = 443
	}
}

// CheckOptions checks the options that all tests with single probes share.
func CheckOptions(test measure.Test, o *measure.Options) error {
	if o.Count < 1 {
		return measure.Errorf(measure.KindUsage, "count %d: a %s test needs at least 1", o.Count, test).WithHint("leave out --count, or give one")
	}
	if o.Probe == "icmp" && o.Port != 0 {
		return measure.Errorf(measure.KindUsage, "port %d: echo requests have no port", o.Port).WithHint("leave it out, or use --probe udp")
	}
	return nil
}
