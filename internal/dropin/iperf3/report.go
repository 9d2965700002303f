package iperf3

import "time"

// The events that the writers of text and JSON receive. Times are seconds since the
// start of the measured part, in the omitted start since the start of the test.

// Program is the program that measures, and the system under it.
type Program struct {
	Version string // "iperf 3.21 (soku ...)"
	System  string // from uname(2)
}

// Start is what is known when the data connections are open.
type Start struct {
	At         time.Time
	Peer       Address // client: the server as given; server: the client
	Cookie     string
	ControlMSS int // of the control connection; 0: not known
	// SendBuffer and ReceiveBuffer are those of the data sockets, in bytes.
	SendBuffer, ReceiveBuffer int
	Connected                 []Connected
	Test                      Test
}

// Address is a host, by name or number, and its port.
type Address struct {
	Host string
	Port int
}

// Connected is one data connection. Socket is its number in later events.
type Connected struct {
	Socket        int
	Local, Remote Address
}

// Test has the negotiated parameters of the test.
type Test struct {
	UDP            bool
	Streams        int
	Block          int64 // bytes
	Omit, Duration int   // seconds
	Bytes, Blocks  int64
	Reverse, Bidir bool
	TOS            int
	Rate           int64 // bits a second of one stream
	FQRate         int64 // bits a second of one stream, paced by the kernel
	MSS            int
	Window         int64
	Interval       float64
	GSO, GRO       bool
	Title          string
	ExtraData      string
}

// Interval is one report while the test runs. Streams has one element per stream;
// sending streams come first at the client, last at the server.
type Interval struct {
	Omitted bool
	Streams []StreamInterval
}

// StreamInterval is one stream in an interval. Packets and the members after it are of
// UDP; Packets counts those sent, or those received and lost together.
type StreamInterval struct {
	Socket        int
	Sender        bool // this end sends
	Start, End    float64
	Bytes         int64
	TCP           *SenderState // nil: this end receives, or the system does not report it
	Packets, Lost int64
	JitterMs      float64
}

// SenderState is the sending kernel's state of a connection: retransmits in the
// interval, windows and MTU in bytes, times in microseconds, and the number of
// reordering events.
type SenderState struct {
	Retransmits, Cwnd, Window, RTT, RTTVar, PMTU, Reorder int64
}

// End is what both ends counted.
type End struct {
	// SenderSeconds and ReceiverSeconds are how long the two ends of the first stream
	// moved bytes, OwnSeconds how long this one did.
	SenderSeconds, ReceiverSeconds, OwnSeconds float64
	// OwnRetransmits and PeerRetransmits report whose streams' retransmits are known.
	OwnRetransmits, PeerRetransmits bool
	Streams                         []StreamEnd
	Host, Remote                    CPU
	OwnCongestion, PeerCongestion   string   // empty: not known
	File                            *FileEnd // nil: none
	ServerText                      string   // what the server printed
	ServerJSON                      []byte   // its document
}

// StreamEnd is the outcome of one stream. PacketsSent is 0 if this end does not know it;
// PacketsReceived counts received and lost packets, from the receiver's sequence numbers.
type StreamEnd struct {
	Socket                       int
	Sender                       bool // this end sent
	SentBytes, ReceivedBytes     int64
	Retransmits, Reorder         int64
	MaxCwnd, MaxWindow           int64 // bytes
	MaxRTT, MinRTT, MeanRTT      int64 // microseconds
	JitterMs                     float64
	Lost, OutOfOrder             int64
	PacketsSent, PacketsReceived int64
}

// CPU is the share of one processor in percent.
type CPU struct{ Total, User, System float64 }

// Writer prints one test. One goroutine calls the methods in their order; End and
// Interval may not be called at all. Close returns errors of writing.
type Writer interface {
	Begin(Program)
	Start(Start)
	Interval(Interval)
	End(End)
	// Fail reports why the test failed. Close is still called after it.
	Fail(message string)
	Close() error
}

// per is a rate in bytes a second.
func per(bytes int64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(bytes) / seconds
}

// percent is part of whole, 0 where there is nothing.
func percent(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// sum adds the streams of one direction in an interval. Its times are those of the first
// of all streams, as in iperf3.
func (iv Interval) sum(sender bool) StreamInterval {
	n, total := 0, StreamInterval{Sender: sender}
	if len(iv.Streams) > 0 {
		total.Start, total.End = iv.Streams[0].Start, iv.Streams[0].End
	}
	for _, s := range iv.Streams {
		if s.Sender != sender {
			continue
		}
		n++
		total.Bytes += s.Bytes
		total.Packets += s.Packets
		total.Lost += s.Lost
		total.JitterMs += s.JitterMs
		if s.TCP != nil {
			if total.TCP == nil {
				total.TCP = &SenderState{}
			}
			total.TCP.Retransmits += s.TCP.Retransmits
		}
	}
	if n > 0 {
		total.JitterMs /= float64(n)
	}
	return total
}

// packets is the number of datagrams of a stream that this end knows of.
func (s StreamEnd) packets() int64 {
	if s.PacketsSent != 0 {
		return s.PacketsSent
	}
	return s.PacketsReceived
}

// sum adds the streams of one direction; packets are those of [StreamEnd.packets].
func (e End) sum(sender bool) (total StreamEnd, packets int64) {
	n := 0
	for _, s := range e.Streams {
		if s.Sender != sender {
			continue
		}
		n++
		packets += s.packets()
		total.SentBytes += s.SentBytes
		total.ReceivedBytes += s.ReceivedBytes
		total.Retransmits += s.Retransmits
		total.JitterMs += s.JitterMs
		total.Lost += s.Lost
		total.PacketsSent += s.PacketsSent
		total.PacketsReceived += s.PacketsReceived
	}
	if n > 0 {
		total.JitterMs /= float64(n)
	}
	return total, packets
}

// retransmits reports whether those of the streams that this end sends, or receives, are
// known.
func (e End) retransmits(sender bool) bool {
	if sender {
		return e.OwnRetransmits
	}
	return e.PeerRetransmits
}

// ways are the directions of a test at one end, in the order of its report: true if that
// end sends.
func (t Test) ways(role string) []bool {
	switch {
	case t.Bidir:
		return []bool{role == Client, role != Client}
	case t.Reverse:
		return []bool{role == Server}
	}
	return []bool{role == Client}
}
