package ping

import (
	"errors"
	"net/netip"
	"time"

	"soku/internal/measure"
)

// arrival is an ICMP message that arrived, or the system's report of an ICMP error about
// a request of this socket.
type arrival struct {
	message []byte         // begins at the ICMP header; valid until the next receive
	reason  measure.Reason // of an error; message is then empty
	from    netip.Addr
	at      time.Time
	// delay is how long before at the kernel received the packet, or 0 if unknown.
	delay time.Duration
}

// socket sends and receives ICMP messages. One goroutine may send while another receives.
type socket interface {
	// send sends a message.
	send(message []byte) error
	// receive waits for one message; it returns errTick after wait.
	receive(wait time.Duration) (arrival, error)
	// departed returns the next request whose departure the kernel has reported, as it
	// was sent, and the time; ok is false if there is none. The receiver calls it;
	// message is valid until the next call.
	departed() (message []byte, at time.Time, ok bool)
	// ownsID reports whether the identifier on the wire is the one that was sent;
	// otherwise the kernel chooses one and delivers only replies that carry it.
	ownsID() bool
	close()
	// timing returns the kind of socket and the clock that takes the times.
	timing() measure.Timing
}

// timingOf returns the timing of a socket for which the program takes the times.
func timingOf(isRaw bool) measure.Timing {
	t := measure.Timing{Clock: measure.ClockProgram, Socket: "icmp datagram"}
	if isRaw {
		t.Socket = "raw icmp"
	}
	return t
}

// errTick means that nothing arrived within the wait.
var errTick = errors.New("nothing arrived for a tick")

// bufferFor returns a buffer for a reply with that payload and its IP header, and for any
// ICMP error.
func bufferFor(size int) []byte { return make([]byte, max(size+headerSize+60, 2048)) }

func notPermitted(target netip.Addr, err error) error {
	return measure.Fail(measure.KindPermission, "ping.permission", measure.Figures{"target": target.String(), "cause": err})
}
