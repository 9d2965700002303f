package host

import (
	"path"
	"runtime"
	"strconv"
)

func readTotals() Totals {
	t := parseTotals(read("/proc/stat"))
	if t.CPUs == 0 {
		t.CPUs = runtime.NumCPU()
	}
	user, sys := processTimes()
	t.ProcessNs = user + sys
	t.RetransSegs, _ = parseSNMP(read(netDir+"snmp"), "Tcp", "RetransSegs")
	netstat := read(netDir + "netstat")
	for name, into := range map[string]*int64{
		"TCPLostRetransmit": &t.LostRetrans, "TCPSynRetrans": &t.SYNRetrans, "TCPFastRetrans": &t.FastRetrans,
		"TCPForwardRetrans": &t.ForwardRetrans, "TCPSlowStartRetrans": &t.SlowStartRetrans, "TCPRetransFail": &t.RetransFail,
	} {
		*into, _ = parseSNMP(netstat, "TcpExt", name)
	}
	return t
}

// interruptsMost bounds what is read of the list of interrupts, which has a column
// for each processor.
const interruptsMost = 32 << 20

func processorMHz() float64 { return parseMHz(firstProcessor()) }

func interfaceTraffic(name string) (t Traffic, ok bool) {
	if name == "" || name != path.Base(name) || name == "." || name == ".." {
		return t, false
	}
	dir := "/sys/class/net/" + name + "/statistics/"
	for file, to := range map[string]*int64{
		"tx_bytes": &t.SentBytes, "rx_bytes": &t.ReceivedBytes, "tx_packets": &t.SentPackets, "rx_packets": &t.ReceivedPackets,
	} {
		n, err := strconv.ParseInt(read(dir+file), 10, 64)
		if err != nil {
			return Traffic{}, false
		}
		*to = n
	}
	return t, true
}

func interrupts(text string) (int64, bool) {
	list := readMost("/proc/interrupts", interruptsMost)
	return parseInterrupts(list, text), list != ""
}
