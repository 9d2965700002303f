package host

import (
	"path"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
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

func interfacePackets(name string) (sent, received int64, ok bool) {
	if name == "" || name != path.Base(name) || name == "." || name == ".." {
		return 0, 0, false
	}
	dir := "/sys/class/net/" + name + "/statistics/"
	sent, err := strconv.ParseInt(read(dir+"tx_packets"), 10, 64)
	if err != nil {
		return 0, 0, false
	}
	received, err = strconv.ParseInt(read(dir+"rx_packets"), 10, 64)
	return sent, received, err == nil
}

func interrupts(text string) (int64, bool) {
	list := readMost("/proc/interrupts", interruptsMost)
	return parseInterrupts(list, text), list != ""
}

func description() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "Linux"
	}
	text := unix.ByteSliceToString
	return strings.Join([]string{text(u.Sysname[:]), text(u.Nodename[:]), text(u.Release[:]), text(u.Version[:]), text(u.Machine[:]), "GNU/Linux"}, " ")
}
