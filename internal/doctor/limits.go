package doctor

import (
	"fmt"
	"math"

	"soku/internal/measure"
)

var limitChecks = []Check{
	{"cpu_quota", GroupLimits, Warning, measure.High, cpuQuota},
	{"memory_limit", GroupLimits, Warning, measure.Medium, memoryLimit},
	{"open_files", GroupLimits, Problem, measure.High, openFiles},
	{"receive_buffer", GroupLimits, Warning, measure.Medium, func(s *Subject) Outcome { return tcpBuffer(s, "net.ipv4.tcp_rmem") }},
	{"send_buffer", GroupLimits, Warning, measure.Medium, func(s *Subject) Outcome { return tcpBuffer(s, "net.ipv4.tcp_wmem") }},
	{"udp_receive_buffer", GroupLimits, Warning, measure.Medium, func(s *Subject) Outcome { return udpBuffer(s, "net.core.rmem_max", receiverWaitNs) }},
	{"udp_send_buffer", GroupLimits, Note, measure.Medium, func(s *Subject) Outcome { return udpBuffer(s, "net.core.wmem_max", senderWaitNs) }},
	{"backlog", GroupLimits, Warning, measure.Medium, backlog},
	{"conntrack", GroupLimits, Warning, measure.High, conntrack},
	{"ports", GroupLimits, Warning, measure.High, ports},
	{"accept_queue", GroupLimits, Warning, measure.Medium, acceptQueue},
}

// Processors' time that a test needs: with less than one, the quota stops its loop in every
// period (100 ms); a second one is for whatever else the process does.
const (
	quotaProblem = 1
	quotaWarning = 2
)

func cpuQuota(s *Subject) Outcome {
	l := s.Facts.Limits
	switch {
	case l == nil:
		return not(s.missing())
	case l.CPUQuota == 0 || l.CPUQuota >= quotaWarning:
		return well
	}
	f := Finding{Figures: measure.Figures{"quota": l.CPUQuota}, Commands: s.setUnit("CPUQuota=")}
	if l.CPUQuota < quotaProblem {
		f.Severity = Problem
	}
	return found(f)
}

// setUnit sets a property of the unit of systemd that this process is in, if it is in one, until
// the system restarts.
func (s *Subject) setUnit(property string) []string {
	if s.Extra == nil || s.Extra.Unit == "" {
		return nil
	}
	return []string{"systemctl set-property --runtime " + s.Extra.Unit + " " + property}
}

// processBytes is the approximate memory of a soku server without its sockets.
const processBytes = 64 << 20

func memoryLimit(s *Subject) Outcome {
	l := s.Facts.Limits
	switch {
	case l == nil:
		return not(s.missing())
	case l.MemoryBytes == 0:
		return well
	}
	// Both buffers of every stream count for the group, and a buffer is twice what is in flight.
	need := processBytes + 4*s.BDP()
	if float64(l.MemoryBytes) >= need {
		return well
	}
	return found(Finding{
		Figures:  measure.Figures{"limit_bytes": l.MemoryBytes, "need_bytes": need, "streams": s.Streams},
		Commands: s.setUnit(fmt.Sprintf("MemoryMax=%.0f", roundUp(need))),
	})
}

// filesOfProcess is the number of files that a soku process has open without the connections of
// a test.
const filesOfProcess = 64

func openFiles(s *Subject) Outcome {
	l := s.Facts.Limits
	if l == nil || l.OpenFiles == 0 {
		return not(s.missing())
	}
	need := int64(filesOfProcess + 2*s.Streams) // a connection has a pipe where the kernel moves the bytes
	if l.OpenFiles >= need {
		return well
	}
	return found(Finding{
		Figures:  measure.Figures{"limit": l.OpenFiles, "need": need, "streams": s.Streams},
		Commands: []string{fmt.Sprintf("ulimit -n %d", need)},
		Undo:     []string{fmt.Sprintf("ulimit -n %d", l.OpenFiles)},
	})
}

// tcpBuffer holds the largest buffer that the system gives a connection by itself against what is
// in flight. Of a buffer about half is window, the rest is for what packets cost in memory
// (tcp_adv_win_scale in tcp(7); sndbuf is twice the congestion window in tcp_sndbuf_expand).
func tcpBuffer(s *Subject, setting string) Outcome {
	sizes, ok := s.numbers(setting, 3)
	switch {
	case !ok:
		return not(s.missing())
	case s.RateBps == 0:
		return not(NoRate)
	case s.RTTNs == 0:
		return not(NoRoundTrip)
	}
	streams := float64(max(s.Streams, 1))
	flight, most := s.BDP()/streams, sizes[2]
	if most >= 2*flight {
		return well
	}
	f := Finding{Figures: measure.Figures{
		"setting": setting, "limit_bytes": most, "bdp_bytes": s.BDP(), "streams": streams, "rate_bps": s.RateBps, "rtt_ns": s.RTTNs,
		"reach_bps": most / 2 * streams * 8e9 / s.RTTNs,
	}}
	if most < flight { // not even if all of it were window
		f.Severity, f.Confidence = Problem, measure.High
	}
	f.Changes = s.raise(setting, fmt.Sprintf("%.0f %.0f %.0f", sizes[0], sizes[1], roundUp(2*flight)))
	return found(f)
}

// raise is the change of a kernel setting, on whichever end.
func (s *Subject) raise(setting, to string) []Change {
	was, _ := s.sysctl(setting)
	return []Change{{Kind: KindSysctl, Key: setting, Was: was, To: to}}
}

// largestSetting is the most that a size in a kernel setting may be.
const largestSetting = 1 << 30

// roundUp is the next power of two of bytes.
func roundUp(bytes float64) float64 {
	return math.Min(math.Exp2(math.Ceil(math.Log2(math.Max(bytes, 1)))), largestSetting)
}

// A receiver of datagrams that waits for a processor must have room for what arrives meanwhile: a
// slice of the scheduler is 3 to 4 ms. A datagram takes about twice its bytes in the buffer
// (SO_RCVBUF in socket(7)).
const (
	receiverWaitNs = 4e6
	bufferPerByte  = 2
)

// senderWaitNs: a sender with a full buffer waits, so that a short one costs evenness and no
// packets.
const senderWaitNs = 1e6

func udpBuffer(s *Subject, setting string, waitNs float64) Outcome {
	size, ok := s.numbers(setting, 1)
	switch {
	case !ok:
		return not(s.missing())
	case s.RateBps == 0:
		return not(NoRate)
	}
	need := s.RateBps / 8 * waitNs / 1e9 * bufferPerByte
	if size[0] >= need {
		return well
	}
	return found(Finding{
		Figures: measure.Figures{
			"setting": setting, "limit_bytes": size[0], "need_bytes": need, "rate_bps": s.RateBps,
			"room_ns": size[0] / bufferPerByte * 8e9 / s.RateBps, "wait_ns": waitNs,
		},
		Changes: s.raise(setting, fmt.Sprintf("%.0f", roundUp(need))),
	})
}

// backlogNs: the queue of a processor must hold what arrives while its softirq has another round
// to finish, half of net.core.netdev_budget_usecs.
const backlogNs = 1e6

// backlog is the queue between an interface and the stack. Devices of a bus poll and have none,
// unless packets are steered to other processors (RPS).
func backlog(s *Subject) Outcome {
	most, ok := s.numbers("net.core.netdev_max_backlog", 1)
	steered := s.Facts.NIC != nil && s.Facts.NIC.RPS != nil
	switch {
	case !ok:
		return not(s.missing())
	case s.Facts.Interface == "":
		return not(NoInterface)
	case s.physical() && !steered:
		return not(NotApplicable)
	case s.RateBps == 0:
		return not(NoRate)
	}
	need := s.RateBps / 8 / s.mtu() * backlogNs / 1e9
	if most[0] >= need {
		return well
	}
	return found(Finding{
		Figures: measure.Figures{"limit": most[0], "need": math.Ceil(need), "rate_bps": s.RateBps},
		Changes: s.raise("net.core.netdev_max_backlog", fmt.Sprintf("%.0f", roundUp(need))),
	})
}

// Shares of the table of tracked connections that are in use. A full table drops the first
// packet of every new connection.
const (
	conntrackWarning = 0.70
	conntrackProblem = 0.90
)

func conntrack(s *Subject) Outcome {
	switch {
	case s.Extra == nil:
		return not(s.missing())
	case s.Extra.Conntrack == nil:
		return not(NotApplicable) // the kernel tracks none
	}
	c := *s.Extra.Conntrack
	if c.Most <= 0 {
		return not(Unreadable)
	}
	used := float64(c.Count) / float64(c.Most)
	if used < conntrackWarning {
		return well
	}
	return found(Finding{
		Severity: aboveAs(used, conntrackProblem, Problem),
		Figures:  measure.Figures{"count": c.Count, "limit": c.Most, "used_ratio": used},
		Commands: []string{fmt.Sprintf("sysctl -w net.netfilter.nf_conntrack_max=%d", 2*c.Most)},
		Undo:     []string{fmt.Sprintf("sysctl -w net.netfilter.nf_conntrack_max=%d", c.Most)},
	})
}

// A port stays in use for 60 s after its connection has ended (TIME-WAIT), so a connect test that
// opens more a minute waits for ports.
const (
	portsLeast      = 10_000
	timeWaitSeconds = 60
)

func ports(s *Subject) Outcome {
	between, ok := s.numbers("net.ipv4.ip_local_port_range", 2)
	if !ok {
		return not(s.missing())
	}
	n := between[1] - between[0] + 1
	if n >= portsLeast && n > float64(s.Streams) {
		return well
	}
	return found(Finding{
		Severity: aboveAs(float64(s.Streams), n, Problem),
		Figures:  measure.Figures{"ports": n, "streams": s.Streams, "connections_per_second": n / timeWaitSeconds},
		Changes:  s.raise("net.ipv4.ip_local_port_range", "32768 60999"), // the kernel's default
	})
}

// acceptLeast is the least length of a server's queue of connections that are not accepted yet:
// the connections that arrive in 10 ms at 100,000 a second, which a connect test reaches.
const acceptLeast = 1000

func acceptQueue(s *Subject) Outcome {
	most, ok := s.numbers("net.core.somaxconn", 1)
	need := float64(max(acceptLeast, s.Streams))
	switch {
	case !ok:
		return not(s.missing())
	case most[0] >= need:
		return well
	}
	return found(Finding{
		Figures: measure.Figures{"limit": most[0], "need": need},
		Changes: s.raise("net.core.somaxconn", fmt.Sprintf("%.0f", roundUp(need))),
	})
}
