package ntttcp

import (
	"fmt"

	"soku/internal/measure"
)

// Options are what a command line asks for.
type Options struct {
	Help bool

	Receiver, Sender bool
	Daemon           bool
	Multi            bool // -M
	Last             bool // -L
	Epoll            bool // -e
	Hold             bool // -H
	NoSync           bool // -N
	Quiet, Verbose   bool

	Address string // of the receiver
	Source  string // -a, of the sender's interface
	CPU     int    // to keep to, from -m; -1 for all

	Ports, Threads, Connections int // of the receiver; a port; a thread

	IPv6, UDP  bool
	Port       int // the first of the receiver's
	SourcePort int // the first of the sender's; 0 is any
	Buffer     int // of a read or write, bytes; 0 is the tool's own
	Bandwidth  int64
	FQRate     int64 // --fq-rate-limit, bit/s
	NoDelay    bool

	Warmup, Duration, Cooldown int // seconds; no duration is until interrupted

	ShowRetransmits bool
	ShowPackets     string // of this interface
	ShowInterrupts  string // of the devices with this in their name

	ConsoleFile, XMLFile, JSONFile string // empty: none
}

// Bounds, as ntttcp has them, and those of one process here.
const (
	portsMost       = 512
	threadsMost     = 25600
	connectionsMost = 1000
	allMost         = 1 << 17 // of the connections of all threads; more than a host has ports for
	udpMost         = 65507
	bufferMost      = 1 << 20
	secondsMost     = 86400

	usualReceive = 64 << 10
	usualSend    = 128 << 10
	usualSource  = 25001

	usualConsole = "ntttcp-for-linux-log.log"
	usualXML     = "ntttcp-for-linux-log.xml"
	usualJSON    = "ntttcp-for-linux-log.json"
)

func defaults() *Options {
	return &Options{
		Address: "0.0.0.0", CPU: -1, Ports: 16, Threads: 4, Connections: 1, Port: 5001, Duration: 60,
	}
}

// Cycle is the time of the whole test in seconds; 0 is until interrupted.
func (o *Options) Cycle() int {
	if o.Duration == 0 {
		return 0
	}
	return o.Warmup + o.Duration + o.Cooldown
}

// Total is how many connections a sender makes.
func (o *Options) Total() int { return o.Ports * o.Threads * o.Connections }

// SendBuffer and ReceiveBuffer are what reports say of the buffers.
func (o *Options) SendBuffer() int {
	n := usualSend
	if o.Buffer > 0 {
		n = o.Buffer
	}
	if o.UDP {
		n = min(n, udpMost)
	}
	return n
}

// ReceiveBuffer is the size of the receiver's buffer, bytes.
func (o *Options) ReceiveBuffer() int {
	if o.Buffer > 0 {
		return o.Buffer
	}
	return usualReceive
}

// wrong is a mistake on the command line, in words near to those of ntttcp.
func wrong(format string, args ...any) *measure.Error {
	return advise("see: soku ntttcp -h", format, args...)
}

// advise is a mistake on the command line with what to do next.
func advise(hint, format string, args ...any) *measure.Error {
	return measure.TextError(measure.KindUsage, "ntttcp: "+fmt.Sprintf(format, args...), hint)
}
