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
}

// Watch reads the counters of this process, this host and the interface, which
// may be empty.
func Watch(iface string) *Watcher {
	return &Watcher{iface: iface, start: readCounters(iface)}
}

// Stop returns the differences since Watch. payloadBytes is what the trial
// moved at this end; 0 leaves CPUSecPerGB out. It may be called more than once.
func (w *Watcher) Stop(payloadBytes int64) measure.Counters {
	return difference(w.start, readCounters(w.iface), payloadBytes)
}

// difference never goes below zero: a counter that went back was reset, and
// the part since the reset is unknown.
func difference(from, to reading, payloadBytes int64) measure.Counters {
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
	if payloadBytes > 0 {
		c.CPUSecPerGB = float64(c.ProcessUserNs+c.ProcessSysNs) / float64(payloadBytes)
	}
	return c
}
