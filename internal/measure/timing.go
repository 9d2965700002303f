package measure

import (
	"strconv"
	"strings"
)

// Timing is how one end of a test timed its messages: what it waited for, how it
// waited, and who took the times.
type Timing struct {
	Loop      string `json:"loop,omitempty" jsonschema:"enum=closed,enum=open,enum=hops,description=closed: each request waits for the previous reply; open: requests are sent on a schedule; hops: probes with a hop limit. Absent at the end that answers"`
	Flows     int    `json:"flows,omitempty" jsonschema:"description=Number of flows\\, used in turn; absent for one"`
	Clock     string `json:"clock,omitempty" jsonschema:"enum=program,enum=kernel_arrival,enum=kernel,description=program: the program's own clock; kernel_arrival: the kernel's time stamps of arrivals (SO_TIMESTAMPNS); kernel: also of departures (SO_TIMESTAMPING)"`
	Wait      string `json:"wait,omitempty" jsonschema:"enum=spinning,enum=blocking,enum=poller,description=spinning: polls without pause; blocking: sleeps in the system call; poller: sleeps in the Go runtime's poller"`
	OwnThread bool   `json:"own_thread,omitempty" jsonschema:"description=On a dedicated thread"`
	Socket    string `json:"socket,omitempty" jsonschema:"description=Kind of socket of probes\\, such as icmp datagram\\, raw udp or tcp connect"`
	Call      string `json:"call,omitempty" jsonschema:"description=Test connect: the times are those around this call"`
	Tool      string `json:"tool,omitempty" jsonschema:"description=The times are those of another program"`
}

// Values of [Timing].Loop.
const (
	LoopClosed = "closed"
	LoopOpen   = "open"
	LoopHops   = "hops"
)

// Values of [Timing].Clock.
const (
	ClockProgram       = "program"
	ClockKernelArrival = "kernel_arrival"
	ClockKernel        = "kernel"
)

// Values of [Timing].Wait.
const (
	WaitSpinning = "spinning"
	WaitBlocking = "blocking"
	WaitPoller   = "poller"
)

// Values of [Split].Stamps.
const (
	StampsSoftware = "software"
	StampsHardware = "hardware"
)

// Spins reports whether the end looked for messages without a pause.
func (t Timing) Spins() bool { return t.Wait == WaitSpinning }

// StampsArrivals reports whether the kernel's time stamps of arrivals were used.
func (t Timing) StampsArrivals() bool { return t.Clock == ClockKernelArrival || t.Clock == ClockKernel }

// StampsDepartures reports whether the kernel's time stamps of departures were used.
func (t Timing) StampsDepartures() bool { return t.Clock == ClockKernel }

// timingOf is the timing of a document or a message: t where it has one, otherwise
// what the phrase of an earlier version says.
func timingOf(t *Timing, phrase string) Timing {
	if t != nil {
		return *t
	}
	return TimingOfPhrase(phrase)
}

// TimingOfPhrase reads how earlier versions wrote a timing, such as "closed loop,
// replies stamped by the kernel (SO_TIMESTAMPNS), spinning on a thread of its own".
// Words that it does not know are left out.
func TimingOfPhrase(phrase string) Timing {
	t := Timing{OwnThread: strings.Contains(phrase, "on a thread of its own")}
	if tool, rest, found := strings.Cut(phrase, "'s "); found && (rest == "own times" || rest == "transactions") {
		return Timing{Tool: tool}
	}
	for _, p := range []struct {
		phrase string
		field  *string
		value  string
	}{
		{"closed loop", &t.Loop, LoopClosed}, {"open loop", &t.Loop, LoopOpen}, {"hop-limited probes", &t.Loop, LoopHops},
		{"user clock", &t.Clock, ClockProgram}, {"(SO_TIMESTAMPNS)", &t.Clock, ClockKernelArrival}, {"(SO_TIMESTAMPING", &t.Clock, ClockKernel},
		{"spinning", &t.Wait, WaitSpinning}, {"blocking socket", &t.Wait, WaitBlocking}, {"net poller", &t.Wait, WaitPoller},
		{"raw ICMP socket", &t.Socket, "raw icmp"}, {"ICMP datagram socket", &t.Socket, "icmp datagram"},
		{"raw icmp socket", &t.Socket, "raw icmp"}, {"icmp datagram socket", &t.Socket, "icmp datagram"},
		{"raw udp socket", &t.Socket, "raw udp"}, {"udp datagram socket", &t.Socket, "udp datagram"}, {"raw tcp socket", &t.Socket, "raw tcp"},
		{"connection attempts", &t.Socket, "tcp connect"},
		{"around connect(2)", &t.Call, "connect(2)"}, {"around net.Dialer", &t.Call, "net.Dialer"},
	} {
		if strings.Contains(phrase, p.phrase) {
			*p.field = p.value
		}
	}
	if _, rest, found := strings.Cut(phrase, "loop of "); found {
		number, _, _ := strings.Cut(rest, " ")
		t.Flows, _ = strconv.Atoi(number)
	}
	return t
}
