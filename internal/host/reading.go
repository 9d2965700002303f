package host

import (
	"context"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/net"

	"soku/internal/measure"
)

// Reading is every counter at one moment. Those of the process count since it started,
// the others since the system did. What the system does not report is zero.
type Reading struct {
	At time.Time

	ProcessUserNs, ProcessSystemNs int64

	Total CPUTimes // of all processors together

	Traffic Traffic // of the sampler's interface

	UDPRcvbufErrors int64 // datagrams dropped at full receive buffers, IPv4 and IPv6; Linux only
	TCPRetransSegs  int64 // segments sent again, IPv4 and IPv6; Linux only

	softirqReported bool
}

// CPUTimes is what processors spent their time on, ns. Time of guests is part of
// UserNs and NiceNs. Linux reports all members; Windows no NiceNs, IOWaitNs, SoftirqNs
// and StealNs; macOS no IOWaitNs, IRQNs, SoftirqNs and StealNs.
type CPUTimes struct {
	CPU int // number of the processor, -1 for all together

	UserNs, NiceNs, SystemNs, IdleNs, IOWaitNs, IRQNs, SoftirqNs, StealNs int64
}

// BusyNs is the time in which the processors worked.
func (t CPUTimes) BusyNs() int64 { return t.UserNs + t.NiceNs + t.SystemNs + t.IRQNs + t.SoftirqNs }

// AllNs is the sum of all times.
func (t CPUTimes) AllNs() int64 { return t.BusyNs() + t.IdleNs + t.IOWaitNs + t.StealNs }

// Traffic is what an interface has moved and dropped.
type Traffic struct {
	SentBytes, ReceivedBytes     int64
	SentPackets, ReceivedPackets int64
	SentDropped, ReceivedDropped int64
}

// readTime bounds the reads of one [Reading] that take a context.
const readTime = 100 * time.Millisecond

// read returns all counters now.
func (s *source) read(iface string) Reading {
	ctx, cancel := context.WithTimeout(s.context(), readTime)
	defer cancel()
	r := Reading{At: time.Now(), softirqReported: softirqReported}
	r.ProcessUserNs, r.ProcessSystemNs = processTimes()
	if total := processors(ctx, false); len(total) == 1 {
		r.Total = total[0]
	}
	if iface != "" {
		r.Traffic = s.traffic(ctx)[iface]
	}
	s.readProtocols(&r)
	return r
}

// processors returns the times of each processor, or one element for all together, or nil if
// the system does not report them.
func processors(ctx context.Context, each bool) []CPUTimes {
	times, err := cpu.TimesWithContext(ctx, each)
	if err != nil {
		return nil
	}
	ns := func(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }
	out := make([]CPUTimes, len(times))
	for i, t := range times {
		number := -1
		if each {
			number, _ = strconv.Atoi(strings.TrimPrefix(t.CPU, "cpu"))
		}
		out[i] = CPUTimes{
			CPU: number, UserNs: ns(t.User), NiceNs: ns(t.Nice), SystemNs: ns(t.System), IdleNs: ns(t.Idle),
			IOWaitNs: ns(t.Iowait), IRQNs: ns(t.Irq), SoftirqNs: ns(t.Softirq), StealNs: ns(t.Steal),
		}
	}
	return out
}

// traffic returns the interfaces' counters by name. The map is empty if the system does not
// report them.
func (s *source) traffic(ctx context.Context) map[string]Traffic {
	all, _ := s.interfaces(ctx)
	out := make(map[string]Traffic, len(all))
	for _, c := range all {
		out[c.Name] = trafficOf(c)
	}
	return out
}

func trafficOf(c net.IOCountersStat) Traffic {
	return Traffic{
		SentBytes: int64(c.BytesSent), ReceivedBytes: int64(c.BytesRecv),
		SentPackets: int64(c.PacketsSent), ReceivedPackets: int64(c.PacketsRecv),
		SentDropped: int64(c.Dropout), ReceivedDropped: int64(c.Dropin),
	}
}

// Difference is what happened between two readings. It never goes below zero: a counter
// that went back was reset, and the part since the reset is unknown.
func Difference(from, to Reading) measure.Counters {
	since := func(a, b int64) int64 { return max(0, b-a) }
	c := measure.Counters{
		WallNs:         int64(to.At.Sub(from.At)),
		ProcessUserNs:  since(from.ProcessUserNs, to.ProcessUserNs),
		ProcessSysNs:   since(from.ProcessSystemNs, to.ProcessSystemNs),
		CPUBusyNs:      since(from.Total.BusyNs(), to.Total.BusyNs()),
		CPUSoftirqNs:   since(from.Total.SoftirqNs, to.Total.SoftirqNs),
		CPUStealNs:     since(from.Total.StealNs, to.Total.StealNs),
		RxBytes:        since(from.Traffic.ReceivedBytes, to.Traffic.ReceivedBytes),
		TxBytes:        since(from.Traffic.SentBytes, to.Traffic.SentBytes),
		RxDropped:      since(from.Traffic.ReceivedDropped, to.Traffic.ReceivedDropped),
		TxDropped:      since(from.Traffic.SentDropped, to.Traffic.SentDropped),
		UDPRcvbufError: since(from.UDPRcvbufErrors, to.UDPRcvbufErrors),
		TCPRetransSegs: since(from.TCPRetransSegs, to.TCPRetransSegs),
	}
	if c.WallNs > 0 {
		c.CoresUsed = float64(c.ProcessUserNs+c.ProcessSysNs) / float64(c.WallNs)
	}
	if from.softirqReported && to.softirqReported && c.CPUBusyNs > 0 {
		ratio := min(float64(c.CPUSoftirqNs)/float64(c.CPUBusyNs), 1)
		c.SoftirqRatio = &ratio
	}
	return c
}

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
