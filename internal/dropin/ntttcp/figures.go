package ntttcp

import (
	"runtime"

	"soku/internal/host"
)

// reading has the values of all counters at one moment.
type reading struct {
	totals         host.Totals
	resent         host.Retransmits
	sent, received int64 // packets of the requested interface
	interrupts     int64
}

func read(o *Options) reading {
	r := reading{totals: host.ReadTotals()}
	r.resent, _ = host.ReadRetransmits()
	if o.ShowPackets != "" {
		moved := host.Interfaces()[o.ShowPackets]
		r.sent, r.received = moved.SentPackets, moved.ReceivedPackets
	}
	if o.ShowInterrupts != "" {
		r.interrupts, _ = host.Interrupts(o.ShowInterrupts)
	}
	return r
}

// figures are the results of a test at this end.
type figures struct {
	o           *Options
	seconds     float64
	threads     []int64 // bytes, one element per thread; at a receiver, per port
	connections int     // of a sender
	from, to    reading
	mhz         float64
	rttUs       int64 // average of a TCP sender's connections; -1: unknown
}

func (f *figures) bytes() (n int64) {
	for _, t := range f.threads {
		n += t
	}
	return n
}

func (f *figures) perSecond(from, to int64) float64 {
	if f.seconds <= 0 {
		return 0
	}
	return float64(max(0, to-from)) / f.seconds
}

// share of all processor time, percent.
func (f *figures) share(from, to int64) float64 {
	all := f.to.totals.Time.AllNs() - f.from.totals.Time.AllNs()
	if all <= 0 {
		return 0
	}
	return 100 * float64(max(0, to-from)) / float64(all)
}

func (f *figures) idle() float64 { return f.share(f.from.totals.Time.IdleNs, f.to.totals.Time.IdleNs) }

// spent is a share of all processor time, percent.
type spent struct {
	on    string
	share float64
}

// shares are those of ntttcp's reports, in its order.
func (f *figures) shares() []spent {
	a, b := &f.from.totals.Time, &f.to.totals.Time
	return []spent{
		{"user", f.share(a.UserNs, b.UserNs)}, {"system", f.share(a.SystemNs, b.SystemNs)}, {"idle", f.idle()},
		{"iowait", f.share(a.IOWaitNs, b.IOWaitNs)}, {"softirq", f.share(a.SoftirqNs, b.SoftirqNs)},
	}
}

// busy is the processor time of this process in percent of the test's time.
func (f *figures) busy() float64 {
	if f.seconds <= 0 {
		return 0
	}
	return 100 * float64(f.to.totals.ProcessNs-f.from.totals.ProcessNs) / 1e9 / f.seconds
}

// cycles are those of all processors of the host per byte.
func (f *figures) cycles() float64 {
	if f.bytes() == 0 {
		return 0
	}
	return f.mhz * 1e6 * f.seconds * float64(f.to.totals.CPUs) * (1 - f.idle()/100) / float64(f.bytes())
}

func (f *figures) retransmitted() int64 {
	return max(0, f.to.resent.Segments-f.from.resent.Segments)
}

func (f *figures) packetsSent() int64     { return max(0, f.to.sent-f.from.sent) }
func (f *figures) packetsReceived() int64 { return max(0, f.to.received-f.from.received) }
func (f *figures) interrupts() int64      { return max(0, f.to.interrupts-f.from.interrupts) }

func (f *figures) packetsPerInterrupt() float64 {
	if f.interrupts() == 0 {
		return 0
	}
	return float64(f.packetsSent()+f.packetsReceived()) / float64(f.interrupts())
}

// resent is one kind of TCP retransmission.
type resent struct {
	name      string // of the element
	label     string // on the console
	perSecond float64
}

func (f *figures) resent() []resent {
	a, b := &f.from.resent, &f.to.resent
	return []resent{
		{"retrans_segments_per_sec", "retrans_segments/sec", f.perSecond(a.Segments, b.Segments)},
		{"lost_retrans_per_sec", "lost_retrans/sec", f.perSecond(a.Lost, b.Lost)},
		{"syn_retrans_per_sec", "syn_retrans/sec", f.perSecond(a.SYN, b.SYN)},
		{"fast_retrans_per_sec", "fast_retrans/sec", f.perSecond(a.Fast, b.Fast)},
		{"forward_retrans_per_sec", "forward_retrans/sec", f.perSecond(a.Forward, b.Forward)},
		{"slowStart_retrans_per_sec", "slowStart_retrans/sec", f.perSecond(a.SlowStart, b.SlowStart)},
		{"retrans_fail_per_sec", "retrans_fail/sec", f.perSecond(a.Failed, b.Failed)},
	}
}

// description is the system's description, on Linux as "uname -a" prints it.
func description() string {
	if runtime.GOOS == "linux" {
		return host.Uname() + " GNU/Linux"
	}
	return host.Uname()
}
