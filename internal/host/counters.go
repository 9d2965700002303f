package host

import "soku/internal/measure"

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
