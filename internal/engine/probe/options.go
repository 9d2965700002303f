package probe

import "soku/internal/measure"

// FillPort gives probes the port that nobody asked for: traceroute's first for UDP, and
// that of HTTPS for SYNs, which most firewalls let through.
func FillPort(o *measure.Options) {
	switch {
	case o.Port != 0:
	case o.Probe == "udp":
		o.Port = 33434
	case o.Probe == "tcp":
		o.Port = 443
	}
}

// CheckOptions checks what tests that send single probes have in common.
func CheckOptions(test measure.Test, o *measure.Options) error {
	if o.Count < 1 {
		return measure.Errorf(measure.KindUsage, "count %d: a %s test wants at least 1", o.Count, test).WithHint("leave out --count, or give one")
	}
	if o.Probe == "icmp" && o.Port != 0 {
		return measure.Errorf(measure.KindUsage, "port %d: echo requests have no port", o.Port).WithHint("leave it out, or use --probe udp")
	}
	return nil
}
