package ntttcp

import (
	"soku/internal/measure"
)

// Options are the options of a command line.
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
	CPU     int    // to pin to, from -m; -1: all

	Ports, Threads, Connections int // of the receiver; per port; per thread

	IPv6, UDP  bool
	Port       int // the receiver's first
	SourcePort int // the sender's first; 0: any
	Buffer     int // of a read or write, bytes; 0: soku's default
	Bandwidth  int64
	FQRate     int64 // --fq-rate-limit, bit/s
	NoDelay    bool

	Warmup, Duration, Cooldown int // seconds; duration 0: until interrupted

	ShowRetransmits bool
	ShowPackets     string // of this interface
	ShowInterrupts  string // of devices whose name contains this

	ConsoleFile, XMLFile, JSONFile string // empty: none
}

// Limits of ntttcp, and those of one process of soku.
const (
	portsMost       = 512
	threadsMost     = 25600
	connectionsMost = 1000
	allMost         = 1 << 17 // connections of all threads; more than a host has ports
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

// Cycle is the duration of the whole test in seconds; 0: until interrupted.
func (o *Options) Cycle() int {
	if o.Duration == 0 {
		return 0
	}
	return o.Warmup + o.Duration + o.Cooldown
}

// Total is the number of connections of a sender.
func (o *Options) Total() int { return o.Ports * o.Threads * o.Connections }

// SendBuffer is the size of the sender's buffer in reports, bytes.
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

// fail is a mistake on the command line, with where to read about the options.
func fail(code string, figures measure.Figures) *measure.Error {
	return measure.Fail(measure.KindUsage, code, figures).WithHintCode("ntttcp.options", nil)
}
