package ntttcp

import (
	"runtime"

	"soku/internal/host"
)

// reading is what counts at one moment.
type reading struct {
	totals         host.Totals
	sent, received int64 // packets of the interface that is asked for
	interrupts     int64
}

func read(o *Options) reading {
	r := reading{totals: host.ReadTotals()}
	if o.ShowPackets != "" {
		r.sent, r.received, _ = host.InterfacePackets(o.ShowPackets)
	}
	if o.ShowInterrupts != "" {
		r.interrupts, _ = host.Interrupts(o.ShowInterrupts)
	}
	return r
}

// figures are what a test came to at this end.
type figures struct {
	o           *Options
	seconds     float64
	threads     []int64 // bytes, one element a thread; of a receiver, a port
	connections int     // of a sender
	from, to    reading
	mhz         float64
	rttUs       int64 // average of a TCP sender's connections; -1 is not known
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
	all := f.to.totals.All - f.from.totals.All
	if all <= 0 {
		return 0
	}
	return 100 * float64(max(0, to-from)) / float64(all)
}

func (f *figures) user() float64   { return f.share(f.from.totals.User, f.to.totals.User) }
func (f *figures) system() float64 { return f.share(f.from.totals.System, f.to.totals.System) }
func (f *figures) idle() float64   { return f.share(f.from.totals.Idle, f.to.totals.Idle) }
func (f *figures) iowait() float64 { return f.share(f.from.totals.IOWait, f.to.totals.IOWait) }
func (f *figures) softirq() float64 {
	return f.share(f.from.totals.Softirq, f.to.totals.Softirq)
}

// busy is the processor time of this process in percent of the test's time.
func (f *figures) busy() float64 {
	if f.seconds <= 0 {
		return 0
	}
	return 100 * float64(f.to.totals.ProcessNs-f.from.totals.ProcessNs) / 1e9 / f.seconds
}

// cycles are those of all processors, of the whole host, for a byte.
func (f *figures) cycles() float64 {
	if f.bytes() == 0 {
		return 0
	}
	return f.mhz * 1e6 * f.seconds * float64(f.to.totals.CPUs) * (1 - f.idle()/100) / float64(f.bytes())
}

func (f *figures) retransmitted() int64 {
	return max(0, f.to.totals.RetransSegs-f.from.totals.RetransSegs)
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

// resent is one of the kinds in which TCP sent again.
type resent struct {
	name      string // of the element
	label     string // on the console
	perSecond float64
}

func (f *figures) resent() []resent {
	a, b := &f.from.totals, &f.to.totals
	return []resent{
		{"retrans_segments_per_sec", "retrans_segments/sec", f.perSecond(a.RetransSegs, b.RetransSegs)},
		{"lost_retrans_per_sec", "lost_retrans/sec", f.perSecond(a.LostRetrans, b.LostRetrans)},
		{"syn_retrans_per_sec", "syn_retrans/sec", f.perSecond(a.SYNRetrans, b.SYNRetrans)},
		{"fast_retrans_per_sec", "fast_retrans/sec", f.perSecond(a.FastRetrans, b.FastRetrans)},
		{"forward_retrans_per_sec", "forward_retrans/sec", f.perSecond(a.ForwardRetrans, b.ForwardRetrans)},
		{"slowStart_retrans_per_sec", "slowStart_retrans/sec", f.perSecond(a.SlowStartRetrans, b.SlowStartRetrans)},
		{"retrans_fail_per_sec", "retrans_fail/sec", f.perSecond(a.RetransFail, b.RetransFail)},
	}
}

// description is the system's line about itself, on Linux as "uname -a" prints it.
func description() string {
	if runtime.GOOS == "linux" {
		return host.Uname() + " GNU/Linux"
	}
	return host.Uname()
}
