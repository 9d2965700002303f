package ping

import (
	"errors"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/engine/probe"
	"soku/internal/measure"
	"soku/internal/sock"
)

// kernelSocket is a raw or datagram ICMP socket on the net poller. It is used through
// system calls for the time stamps, which package net does not provide for all kinds.
type kernelSocket struct {
	file    *os.File
	raw     syscall.RawConn
	v6      bool
	isRaw   bool
	stamped bool
	target  unix.Sockaddr
	out     *writer // sends requests; nil: file sends them
	buffer  []byte
	control []byte
}

// open opens a raw socket if that is permitted, otherwise a datagram socket.
func open(target netip.Addr, o measure.Options) (socket, error) {
	s, err := openKind(target, o, unix.SOCK_RAW)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		s, err = openKind(target, o, unix.SOCK_DGRAM)
	}
	var known *measure.Error
	switch {
	case err == nil:
		return s, nil
	case errors.As(err, &known):
		return nil, err
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return nil, notPermitted(target, err)
	}
	return nil, measure.Fail(measure.KindInternal, "ping.open", measure.Figures{"target": target.String(), "cause": err})
}

func openKind(target netip.Addr, o measure.Options, kind int) (*kernelSocket, error) {
	family, protocol := unix.AF_INET, unix.IPPROTO_ICMP
	if target.Is6() {
		family, protocol = unix.AF_INET6, unix.IPPROTO_ICMPV6
	}
	fd, err := unix.Socket(family, kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	s := &kernelSocket{v6: target.Is6(), isRaw: kind == unix.SOCK_RAW, buffer: bufferFor(int(o.Size)), control: make([]byte, 256)}
	if err := s.configure(fd, target, o); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	s.file = os.NewFile(uintptr(fd), "icmp")
	if s.raw, err = s.file.SyscallConn(); err != nil {
		_ = s.file.Close()
		return nil, err
	}
	if s.isRaw {
		s.out = s.openWriter(target, o)
	}
	return s, nil
}

func (s *kernelSocket) configure(fd int, target netip.Addr, o measure.Options) error {
	s.target = probe.Sockaddr(target, 0)
	s.stamped = sock.Stamp(fd, true) == nil
	if s.isRaw {
		wanted := []uint{0, 3, 11, 12} // echo reply; the errors
		if s.v6 {
			wanted = []uint{129, 1, 2, 3, 4}
		}
		probe.LetIn(fd, s.v6, wanted...)
	}
	if err := probe.Prepare(fd, "ping", target, o); err != nil {
		return err
	}
	if !s.isRaw {
		// The kernel reports some ICMP errors to a connected socket; this enables all of
		// them, with their senders.
		_ = probe.ReportErrors(fd, s.v6)
		if err := unix.Connect(fd, s.target); err != nil {
			return probe.SendError("ping", target, err)
		}
	}
	return nil
}

func (s *kernelSocket) send(message []byte) error {
	if s.out != nil {
		return s.out.send(message, s.target)
	}
	var inner error
	err := s.raw.Write(func(fd uintptr) bool {
		if s.isRaw {
			inner = unix.Sendto(int(fd), message, 0, s.target)
		} else {
			_, inner = unix.Write(int(fd), message)
		}
		return inner != unix.EAGAIN
	})
	return errors.Join(err, inner)
}

func (s *kernelSocket) receive(wait time.Duration) (arrival, error) {
	if err := s.file.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return arrival{}, err
	}
	var n, controlled int
	var from unix.Sockaddr
	var inner error
	var failed arrival
	var isFailure bool
	err := s.raw.Read(func(fd uintptr) bool {
		n, controlled, _, from, inner = unix.Recvmsg(int(fd), s.buffer, s.control, 0)
		// A send may already have returned the error, so the queue is read in any case.
		if !s.isRaw && inner != nil {
			failed, isFailure = s.failure(int(fd))
		}
		return isFailure || inner != unix.EAGAIN
	})
	now := time.Now()
	if isFailure {
		failed.at = now
		return failed, nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return arrival{}, errTick
	}
	if err := errors.Join(err, inner); err != nil {
		return arrival{}, err
	}
	a := arrival{message: s.buffer[:n], from: probe.AddrOf(from), at: now}
	if s.isRaw && !s.v6 {
		a.message, _ = probe.StripIPv4(a.message) // none is parsed as nothing of ours
	}
	a.delay = sock.Late(sock.Stamped(s.control[:controlled]), now)
	return a, nil
}

// failure empties the error queue for requests of this socket (ip(7), IP_RECVERR) and
// returns the newest error that came from an ICMP message.
func (s *kernelSocket) failure(fd int) (a arrival, ok bool) {
	const most = 64 // errors in one call; the rest waits for the next call
	for range most {
		_, controlled, _, _, err := unix.Recvmsg(fd, s.buffer, s.control, unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
		if err != nil {
			break
		}
		messages, err := unix.ParseSocketControlMessage(s.control[:controlled])
		if err != nil {
			continue
		}
		for _, m := range messages {
			v4 := m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_RECVERR
			v6 := m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_RECVERR
			if v4 || v6 {
				if e, is := probe.ParseExtended(m.Data, v6); is && e.Reason(v6) != "" {
					a, ok = arrival{reason: e.Reason(v6), from: e.From}, true
				}
			}
		}
	}
	return a, ok
}

func (s *kernelSocket) ownsID() bool { return s.isRaw }

func (s *kernelSocket) departed() ([]byte, time.Time, bool) {
	if s.out == nil {
		return nil, time.Time{}, false
	}
	return s.out.departed()
}

func (s *kernelSocket) close() {
	_ = s.file.Close()
	if s.out != nil {
		s.out.close()
	}
}

func (s *kernelSocket) timing() measure.Timing {
	t := timingOf(s.isRaw)
	if s.stamped {
		t.Clock = measure.ClockKernelArrival
	}
	if s.stamped && s.out != nil {
		t.Clock = measure.ClockKernel
	}
	return t
}
