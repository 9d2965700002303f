package doctor

import (
	"fmt"
	"slices"

	"soku/internal/measure"
)

var kernelChecks = []Check{
	{"congestion", GroupKernel, Warning, measure.Medium, congestion},
	{"window_scaling", GroupKernel, Problem, measure.High, windowScaling},
	{"receive_autotuning", GroupKernel, Problem, measure.High, receiveAutotuning},
	{"sack", GroupKernel, Warning, measure.High, func(s *Subject) Outcome { return mustBeOn(s, "net.ipv4.tcp_sack") }},
	{"timestamps", GroupKernel, Warning, measure.High, func(s *Subject) Outcome { return mustBeOn(s, "net.ipv4.tcp_timestamps") }},
	{"idle_restart", GroupKernel, Note, measure.Medium, idleRestart},
	{"firewall", GroupKernel, Note, measure.Medium, firewall},
}

// congestionUsual are what systems come with and what figures are compared with.
var congestionUsual = []string{"cubic", "bbr"}

func congestion(s *Subject) Outcome {
	name := s.Facts.Congestion
	switch {
	case name == "":
		return not(s.missing())
	case slices.Contains(congestionUsual, name):
		return well
	}
	return found(Finding{
		Figures: measure.Figures{"congestion": name},
		// A person may have chosen it: Fix leaves it.
		Commands: []string{`sysctl -w net.ipv4.tcp_congestion_control="cubic"`},
		Undo:     []string{fmt.Sprintf("sysctl -w net.ipv4.tcp_congestion_control=%q", name)},
	})
}

// unscaledWindow is the largest window without the option of RFC 7323, bytes.
const unscaledWindow = 65535

func windowScaling(s *Subject) Outcome {
	v, ok := s.numbers("net.ipv4.tcp_window_scaling", 1)
	switch {
	case !ok:
		return not(s.missing())
	case v[0] != 0:
		return well
	}
	return found(Finding{
		Figures: measure.Figures{"window_bytes": unscaledWindow, "rtt_ns": s.RTTNs, "reach_bps": reach(unscaledWindow, s)},
		Changes: s.raise("net.ipv4.tcp_window_scaling", "1"),
	})
}

// reach returns the rate in bit/s that all streams together can reach with a window of this number
// of bytes, or 0 if the round trip is unknown.
func reach(window float64, s *Subject) float64 {
	if s.RTTNs == 0 {
		return 0
	}
	return window * float64(max(s.Streams, 1)) * 8e9 / s.RTTNs
}

// receiveAutotuning: without it a connection keeps the buffer that it began with.
func receiveAutotuning(s *Subject) Outcome {
	v, ok := s.numbers("net.ipv4.tcp_moderate_rcvbuf", 1)
	sizes, known := s.numbers("net.ipv4.tcp_rmem", 3)
	switch {
	case !ok || !known:
		return not(s.missing())
	case v[0] != 0:
		return well
	}
	return found(Finding{
		Figures: measure.Figures{"window_bytes": sizes[1], "rtt_ns": s.RTTNs, "reach_bps": reach(sizes[1], s)},
		Changes: s.raise("net.ipv4.tcp_moderate_rcvbuf", "1"),
	})
}

func mustBeOn(s *Subject, setting string) Outcome {
	v, ok := s.numbers(setting, 1)
	switch {
	case !ok:
		return not(s.missing())
	case v[0] != 0:
		return well
	}
	return found(Finding{
		Figures: measure.Figures{"setting": setting}, Changes: s.raise(setting, "1"),
	})
}

// idleRestartLeast is the round trip from which on slow start after a pause is in a figure: it
// takes about ten round trips to fill a path, a tenth of a second then.
const idleRestartLeast = 10e6

// idleRestart: a connection that paused begins with a small window again (RFC 5681, section 4.1).
// Bulk transfers do not pause; requests and replies, and tests with a rate, do.
func idleRestart(s *Subject) Outcome {
	v, ok := s.numbers("net.ipv4.tcp_slow_start_after_idle", 1)
	switch {
	case !ok:
		return not(s.missing())
	case v[0] == 0:
		return well
	case s.RTTNs == 0:
		return not(NoRoundTrip)
	case s.RTTNs < idleRestartLeast:
		return well
	}
	return found(Finding{
		Figures: measure.Figures{"rtt_ns": s.RTTNs},
		Changes: s.raise("net.ipv4.tcp_slow_start_after_idle", "0"),
	})
}

// rulesMany is how many rules of a firewall cost each packet a microsecond and more, at some ns a
// rule.
const rulesMany = 500

// firewall only counts: whether a rule lets a packet through depends on all before it.
func firewall(s *Subject) Outcome {
	switch {
	case s.Extra == nil:
		return not(s.missing())
	case s.Extra.Firewall == nil:
		return not(s.Extra.FirewallNot)
	}
	f := *s.Extra.Firewall
	if f.Rules == 0 && len(f.Legacy) == 0 {
		return well
	}
	commands := []string{}
	if f.Rules > 0 {
		commands = append(commands, "nft list ruleset")
	}
	if len(f.Legacy) > 0 {
		commands = append(commands, "iptables-save")
	}
	return found(Finding{
		Severity: aboveAs(float64(f.Rules), rulesMany, Warning), Commands: commands,
		Figures: measure.Figures{"tables": f.Tables, "rules": f.Rules, "port_rules": f.Port, "port": s.Port, "legacy": f.Legacy},
	})
}
