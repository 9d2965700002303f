package ping

import (
	"errors"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/engine/probe"
	"soku/internal/measure"
	"soku/internal/sock"
)

// writer is a raw socket that requests leave through, with the kernel's time of
// each. It is apart from the socket that replies come to because that one is
// waited on, and waking up somebody for the time of a request, while the request
// is on its way through the kernel, would be in the round trip.
type writer struct {
	fd              int
	buffer, control []byte
}

// openWriter returns nil where the kernel would not tell.
func (s *kernelSocket) openWriter(target netip.Addr, o measure.Options) *writer {
	family, protocol := unix.AF_INET, unix.IPPROTO_ICMP
	if s.v6 {
		family, protocol = unix.AF_INET6, unix.IPPROTO_ICMPV6
	}
	fd, err := unix.Socket(family, unix.SOCK_RAW|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return nil
	}
	patience := unix.NsecToTimeval(int64(tick))
	err = s.configure(fd, target, o)
	probe.LetIn(fd, s.v6)
	if err = errors.Join(err, sock.StampDeparture(fd), unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &patience)); err != nil {
		_ = unix.Close(fd)
		return nil
	}
	return &writer{fd: fd, buffer: bufferFor(int(o.Size)), control: make([]byte, 256)}
}

// send waits a tick at most for room.
func (l *writer) send(message []byte, to unix.Sockaddr) error {
	return unix.Sendto(l.fd, message, 0, to)
}

// departed looks into the queue of errors (ip(7), MSG_ERRQUEUE), where the packet
// comes back with what the kernel put in front of it.
func (l *writer) departed() (packet []byte, at time.Time, ok bool) {
	n, controlled, _, _, err := unix.Recvmsg(l.fd, l.buffer, l.control, unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
	if err != nil {
		return nil, time.Time{}, false
	}
	now := time.Now()
	if late := sock.Late(sock.Stamped(l.control[:controlled]), now); late > 0 {
		at = now.Add(-late)
	}
	return l.buffer[:n], at, true
}

func (l *writer) close() { _ = unix.Close(l.fd) }
