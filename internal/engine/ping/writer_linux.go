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

// writer is a raw socket that sends requests and gets the kernel's time of each. It is
// separate from the receiving socket, because a goroutine waits on that one, and waking
// it for the departure time of a request that is still in the kernel would delay the
// request.
type writer struct {
	fd              int
	buffer, control []byte
}

// openWriter returns nil if the kernel does not report departure times.
func (s *kernelSocket) openWriter(target netip.Addr, o measure.Options) *writer {
	family, protocol := unix.AF_INET, unix.IPPROTO_ICMP
	if s.v6 {
		family, protocol = unix.AF_INET6, unix.IPPROTO_ICMPV6
	}
	fd, err := unix.Socket(family, unix.SOCK_RAW|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return nil
	}
	timeout := unix.NsecToTimeval(int64(tick))
	err = s.configure(fd, target, o)
	probe.LetIn(fd, s.v6)
	if err = errors.Join(err, sock.StampDeparture(fd), unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &timeout)); err != nil {
		_ = unix.Close(fd)
		return nil
	}
	return &writer{fd: fd, buffer: bufferFor(int(o.Size)), control: make([]byte, 256)}
}

// send waits for room, at most a tick.
func (l *writer) send(message []byte, to unix.Sockaddr) error {
	return unix.Sendto(l.fd, message, 0, to)
}

// departed reads the error queue (ip(7), MSG_ERRQUEUE), which returns the packet with the
// headers that the kernel added.
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
