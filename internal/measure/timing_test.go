package measure

import "testing"

// The phrases are those of documents that earlier versions wrote.
func TestPhrasesOfEarlierVersionsAreTimings(t *testing.T) {
	for phrase, want := range map[string]Timing{
		"closed loop, replies stamped by the kernel (SO_TIMESTAMPNS), blocking socket on a thread of its own": {
			Loop: LoopClosed, Clock: ClockKernelArrival, Wait: WaitBlocking, OwnThread: true},
		"closed loop of 3 flows in turn, user clock, spinning on a thread of its own": {
			Loop: LoopClosed, Flows: 3, Clock: ClockProgram, Wait: WaitSpinning, OwnThread: true},
		"closed loop, requests and replies stamped by the kernel (SO_TIMESTAMPING), blocking socket on a thread of its own; software stamps": {
			Loop: LoopClosed, Clock: ClockKernel, Wait: WaitBlocking, OwnThread: true},
		"open loop, requests and replies stamped by the kernel (SO_TIMESTAMPING, SO_TIMESTAMPNS), raw ICMP socket": {
			Loop: LoopOpen, Clock: ClockKernel, Socket: "raw icmp"},
		"open loop, user clock, ICMP datagram socket":                                        {Loop: LoopOpen, Clock: ClockProgram, Socket: "icmp datagram"},
		"user clock, net poller":                                                             {Clock: ClockProgram, Wait: WaitPoller},
		"requests stamped by the kernel (SO_TIMESTAMPNS), blocking socket":                   {Clock: ClockKernelArrival, Wait: WaitBlocking},
		"hop-limited probes, answers stamped by the kernel (SO_TIMESTAMPNS), raw udp socket": {Loop: LoopHops, Clock: ClockKernelArrival, Socket: "raw udp"},
		"closed loop, SYN to SYN-ACK by the user clock around connect(2)":                    {Loop: LoopClosed, Clock: ClockProgram, Call: "connect(2)"},
		"open loop, from when it was due to SYN-ACK by the user clock around net.Dialer":     {Loop: LoopOpen, Clock: ClockProgram, Call: "net.Dialer"},
		"user clock, connection attempts":                                                    {Clock: ClockProgram, Socket: "tcp connect"},
		"sockperf's own times":                                                               {Tool: "sockperf"},
		"netperf's transactions":                                                             {Tool: "netperf"},
		"":                                                                                   {},
		"something else":                                                                     {},
	} {
		if got := TimingOfPhrase(phrase); got != want {
			t.Errorf("%q: %+v, want %+v", phrase, got, want)
		}
	}
}

func TestADocumentHasItsTimingAsDataOrAsAPhrase(t *testing.T) {
	old := Latency{Method: "closed loop, user clock, spinning", ServerMethod: "user clock, net poller"}
	echo, known := old.EchoTiming()
	if !old.ClientTiming().Spins() || echo.Spins() || !known {
		t.Errorf("%+v, %+v", old.ClientTiming(), echo)
	}
	l := Latency{Timing: &Timing{Clock: ClockKernel}, Method: "spinning"}
	if _, known := l.EchoTiming(); known || l.ClientTiming() != *l.Timing || !l.ClientTiming().StampsArrivals() || !l.ClientTiming().StampsDepartures() {
		t.Errorf("%+v", l.ClientTiming())
	}
}
