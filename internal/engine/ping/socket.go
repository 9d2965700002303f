package ping

import (
	"errors"
	"net/netip"
	"time"

	"soku/internal/measure"
)

// arrival is one ICMP message that came, or what the system says of an ICMP
// error about a request of this socket.
type arrival struct {
	message []byte // begins at the ICMP header; valid until the next receive
	reason  string // of an error; message is then empty
	from    netip.Addr
	at      time.Time
	// delay is how long before at the kernel had the packet; 0 where it does not tell.
	delay time.Duration
}

// socket sends and receives ICMP messages. One goroutine may send while another
// receives.
type socket interface {
	// send hands a message to the kernel.
	send(message []byte) error
	// receive waits for one message, and errTick after wait.
	receive(wait time.Duration) (arrival, error)
	// departed returns the next request whose time of leaving the kernel has told,
	// as it was sent, and that time; ok is false where there is none or it never
	// tells. The receiver calls it; message is valid until the next call.
	departed() (message []byte, at time.Time, ok bool)
	// ownsID reports whether the identifier on the wire is the one that was sent;
	// otherwise the kernel chose one and delivers only replies that carry it.
	ownsID() bool
	close()
	// timing is the kind of socket and who takes the times.
	timing() measure.Timing
}

// timingOf is the timing of a socket whose times the program takes.
func timingOf(isRaw bool) measure.Timing {
	t := measure.Timing{Clock: measure.ClockProgram, Socket: "icmp datagram"}
	if isRaw {
		t.Socket = "raw icmp"
	}
	return t
}

// errTick says that nothing came within the wait.
var errTick = errors.New("nothing came for a tick")

// bufferFor is room for a reply of that payload with its IP header, and for any
// ICMP error.
func bufferFor(size int) []byte { return make([]byte, max(size+headerSize+60, 2048)) }

func notPermitted(target netip.Addr, err error) error {
	return measure.Errorf(measure.KindPermission, "ping %s: the system allows this user neither raw nor datagram ICMP sockets: %w", target, err).
		WithHint(permissionHint)
}

const permissionHint = "run as root or with the capability CAP_NET_RAW, or allow ping without it: sysctl net.ipv4.ping_group_range=\"0 2147483647\""
