package host

import (
	"time"

	"soku/internal/measure"
)

// reading is every counter at one moment; 0 for one that cannot be read.
type reading struct {
	at             time.Time
	userNs, sysNs  int64 // this process
	busyNs         int64 // all processors
	softirqNs      int64
	softirqKnown   bool // the system tells it
	stealNs        int64
	rx, tx         int64 // the interface, bytes
	rxDrop, txDrop int64
	udpRcvbuf      int64
	tcpRetrans     int64
}

// Watcher is a reading to compare with. It holds nothing open.
type Watcher struct {
	iface string
	start reading
	share *share
}

// Watch reads the counters of this process, this host and the interface, which
// may be empty. Whoever calls it calls Stop.
func Watch(iface string) *Watcher {
	return &Watcher{iface: iface, share: watched.enter(), start: readCounters(iface)}
}

// Moved is what a trial moved at this end in the time that is watched: what its
// cost is divided by. Zeros leave the quotients out.
type Moved struct{ Bytes, Packets int64 }

// MovedBy is what an end of a trial moved. With an omitted start the end counts
// only what came after it and its processor time began before: no quotient of
// the two means anything, so there is none.
func MovedBy(e *measure.End, o measure.Options) Moved {
	if o.Omit > 0 {
		return Moved{}
	}
	bytes, packets := e.Moved()
	return Moved{Bytes: bytes, Packets: packets}
}

// Stop returns the differences since Watch. It may be called more than once;
// the first call ends the time in which another Watcher shares the process.
func (w *Watcher) Stop(moved Moved) measure.Counters {
	end := readCounters(w.iface)
	c := difference(w.start, end)
	c.Shared = watched.leave(w.share)
	if work := float64(c.ProcessUserNs + c.ProcessSysNs); !c.Shared {
		if moved.Bytes > 0 {
			c.CPUSecPerGB = work / float64(moved.Bytes)
		}
		if moved.Packets > 0 {
			c.CPUNsPerPacket = work / float64(moved.Packets)
		}
	}
	return c
}

// difference never goes below zero: a counter that went back was reset, and
// the part since the reset is unknown.
func difference(from, to reading) measure.Counters {
	since := func(a, b int64) int64 { return max(0, b-a) }
	c := measure.Counters{
		WallNs:         int64(to.at.Sub(from.at)),
		ProcessUserNs:  since(from.userNs, to.userNs),
		ProcessSysNs:   since(from.sysNs, to.sysNs),
		CPUBusyNs:      since(from.busyNs, to.busyNs),
		CPUSoftirqNs:   since(from.softirqNs, to.softirqNs),
		CPUStealNs:     since(from.stealNs, to.stealNs),
		RxBytes:        since(from.rx, to.rx),
		TxBytes:        since(from.tx, to.tx),
		RxDropped:      since(from.rxDrop, to.rxDrop),
		TxDropped:      since(from.txDrop, to.txDrop),
		UDPRcvbufError: since(from.udpRcvbuf, to.udpRcvbuf),
		TCPRetransSegs: since(from.tcpRetrans, to.tcpRetrans),
	}
	if c.WallNs > 0 {
		c.CoresUsed = float64(c.ProcessUserNs+c.ProcessSysNs) / float64(c.WallNs)
	}
	if from.softirqKnown && to.softirqKnown && c.CPUBusyNs > 0 {
		ratio := min(float64(c.CPUSoftirqNs)/float64(c.CPUBusyNs), 1)
		c.SoftirqRatio = &ratio
	}
	return c
}
