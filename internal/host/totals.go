package host

import (
	"context"
	"runtime"
)

// Totals are what this host has done since it started, as programs report it that show a
// whole machine.
type Totals struct {
	CPUs      int      // processors that are online
	Time      CPUTimes // of all of them and all processes; zero if the system does not report it
	ProcessNs int64    // processor time of this process, user and system
}

// ReadTotals reads them now.
func ReadTotals() Totals {
	ctx, cancel := context.WithTimeout(newSource(procRoot).context(), readTime)
	defer cancel()
	t := Totals{CPUs: len(processors(ctx, true))}
	if t.CPUs == 0 {
		t.CPUs = runtime.NumCPU()
	}
	if all := processors(ctx, false); len(all) == 1 {
		t.Time = all[0]
	}
	user, system := processTimes()
	t.ProcessNs = user + system
	return t
}

// Retransmits is what TCP has sent again, IPv4 and IPv6, in the network namespace of the
// calling thread. Apart from Segments, they are the kernel's TcpExt counters.
type Retransmits struct {
	Segments                      int64 // all segments that were sent again
	Lost                          int64 // of those, lost once more
	SYN, Fast, Forward, SlowStart int64 // by reason; SlowStart is after a timeout
	Failed                        int64 // that could not be sent
}

// ReadRetransmits reads the present counters. It returns false if the system does not report them.
func ReadRetransmits() (Retransmits, bool) { return newSource(procRoot).retransmits() }

// Interfaces returns the traffic counters of the interfaces in the network namespace of the
// calling thread, by name. The map is empty if the system does not report them.
func Interfaces() map[string]Traffic {
	s := newSource(procRoot)
	ctx, cancel := context.WithTimeout(s.context(), readTime)
	defer cancel()
	return s.traffic(ctx)
}
