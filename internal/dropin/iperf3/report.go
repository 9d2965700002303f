package iperf3

import "time"

// What happened, as the writers of text and JSON are told it. Times are seconds
// since the measured part began, those of an omitted start since the test began.

// Program is the program that measures, and the system under it.
type Program struct {
	Version string // "iperf 3.21 (soku ...)"
	System  string // as uname(2) tells it
}

// Start is what is known when the data connections stand.
type Start struct {
	At         time.Time
	Peer       Address // client: the server as it was asked for; server: the client
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

// Connected is one data connection. Socket is its number in all that follows.
type Connected struct {
	Socket        int
	Local, Remote Address
}

// Test is what is measured, as both ends agreed.
type Test struct {
	UDP            bool
	Streams        int
	Block          int64 // bytes
	Omit, Duration int   // seconds
	Bytes, Blocks  int64
	Reverse, Bidir bool
	TOS            int
	Rate           int64 // bits a second of one stream
	FQRate         int64 // likewise, that the kernel keeps to
	MSS            int
	Window         int64
	Interval       float64
	GSO, GRO       bool
	Title          string
	ExtraData      string
}

// Interval is one report while the test runs. Streams have one element a stream,
// those that send first where the client reports, last where the server does.
type Interval struct {
	Omitted bool
	Streams []StreamInterval
}

// StreamInterval is one stream in an interval. Packets and what follows are of
// UDP: sent, or received and lost together.
type StreamInterval struct {
	Socket        int
	Sender        bool // this end sends
	Start, End    float64
	Bytes         int64
	TCP           *SenderState // nil: this end receives, or the system does not tell
	Packets, Lost int64
	JitterMs      float64
}

// SenderState is what the sending kernel knows of a connection: retransmits of
// the interval, windows and MTU in bytes, times in microseconds, and how often it
// has seen reordering.
type SenderState struct {
	Retransmits, Cwnd, Window, RTT, RTTVar, PMTU, Reorder int64
}

// End is what both ends counted.
type End struct {
	// SenderSeconds and ReceiverSeconds are how long the two ends of the first stream
	// moved bytes, OwnSeconds how long this one did.
	SenderSeconds, ReceiverSeconds, OwnSeconds float64
	// OwnRetransmits and PeerRetransmits say of whose streams retransmits are known.
	OwnRetransmits, PeerRetransmits bool
	Streams                         []StreamEnd
	Host, Remote                    CPU
	OwnCongestion, PeerCongestion   string   // empty: not known
	File                            *FileEnd // nil: none
	ServerText                      string   // what the server printed
	ServerJSON                      []byte   // its document
}

// StreamEnd is what became of one stream. PacketsSent is 0 where this end was not
// told; PacketsReceived are those that came and those that did not, as the
// receiver knows by their numbers.
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

// Writer shows one test. The calls come in the order of the methods, from one
// goroutine; End and Interval may be left out. Errors of writing are kept until Close.
type Writer interface {
	Begin(Program)
	Start(Start)
	Interval(Interval)
	End(End)
	// Fail tells why the test did not go as it should. It ends with Close all the same.
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

// sum adds the streams of an interval that go one way. Its times are those of the
// first stream of all, as iperf3 has them.
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

// packets is how many datagrams a stream had, as far as this end knows.
func (s StreamEnd) packets() int64 {
	if s.PacketsSent != 0 {
		return s.PacketsSent
	}
	return s.PacketsReceived
}

// sum adds the streams that go one way; packets are those of [StreamEnd.packets].
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

// retransmits says whether those of the streams are known that this end sends, or
// that it receives.
func (e End) retransmits(sender bool) bool {
	if sender {
		return e.OwnRetransmits
	}
	return e.PeerRetransmits
}

// ways are the directions that a test has at one of its ends, in the order of its
// report: true where that end sends.
func (t Test) ways(role string) []bool {
	switch {
	case t.Bidir:
		return []bool{role == Client, role != Client}
	case t.Reverse:
		return []bool{role == Server}
	}
	return []bool{role == Client}
}
