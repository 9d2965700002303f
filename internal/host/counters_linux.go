package host

import "time"

// netDir holds the counters of the calling thread's network namespace;
// /proc/net would be those of the process's first thread.
const netDir = "/proc/thread-self/net/"

func readCounters(iface string) reading {
	r := reading{at: time.Now()}
	r.userNs, r.sysNs = processTimes()
	if p, ok := parseStat(read("/proc/stat")); ok {
		r.busyNs, r.softirqNs, r.stealNs, r.softirqKnown = p.busyNs, p.softirqNs, p.stealNs, true
	}
	if iface != "" {
		if t, ok := parseNetDev(read(netDir+"dev"), iface); ok {
			r.rx, r.tx, r.rxDrop, r.txDrop = t.rxBytes, t.txBytes, t.rxDropped, t.txDropped
		}
	}
	snmp := read(netDir + "snmp")
	four, _ := parseSNMP(snmp, "Udp", "RcvbufErrors")
	six, _ := parseSNMP6(read(netDir+"snmp6"), "Udp6RcvbufErrors")
	r.udpRcvbuf = four + six
	r.tcpRetrans, _ = parseSNMP(snmp, "Tcp", "RetransSegs") // IPv4 and IPv6 together
	return r
}
