package datagram

import (
	"net"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// message is struct mmsghdr of sendmmsg(2) and recvmmsg(2).
type message struct {
	header unix.Msghdr
	length uint32
}

// sendCalls are the arguments of a sender's system call.
type sendCalls struct {
	messages []message
	vectors  []unix.Iovec
	segments int // in a message
	size     int // of a segment
}

func (s *sendCalls) prepare(b []byte, size, segments, messages int) {
	s.segments, s.size = segments, size
	s.messages, s.vectors = make([]message, messages), make([]unix.Iovec, messages)
	for i := range s.messages {
		s.vectors[i].Base = &b[i*segments*size]
		s.vectors[i].SetLen(segments * size)
		s.messages[i].header.Iov = &s.vectors[i]
		s.messages[i].header.SetIovlen(1)
	}
}

// sendCall is the state of system calls on one connection.
type sendCall struct {
	raw   syscall.RawConn
	try   func(fd uintptr) bool // attempt, allocated once
	asked int                   // datagrams
	taken int
	errno syscall.Errno
}

func (o *Writer) open() error {
	raw, err := o.conn.(*net.UDPConn).SyscallConn()
	if err != nil {
		return measure.Fail(measure.KindBroken, "sock.datagram.open_sender", measure.Figures{
			"peer": o.conn.RemoteAddr().String(), "cause": err,
		})
	}
	o.call.raw, o.call.try = raw, o.attempt
	if o.sender.path != GSO || o.sender.calls.segments == 1 {
		return nil
	}
	var inner error
	if err := raw.Control(func(fd uintptr) {
		inner = unix.SetsockoptInt(int(fd), unix.SOL_UDP, unix.UDP_SEGMENT, o.sender.size)
	}); err != nil {
		return measure.Fail(measure.KindBroken, "sock.datagram.open_sender", measure.Figures{
			"peer": o.conn.RemoteAddr().String(), "cause": err,
		})
	}
	if inner != nil {
		return measure.Fail(measure.KindUsage, "sock.datagram.segment", measure.Figures{"segment_bytes": o.sender.size, "cause": inner})
	}
	return nil
}

func (o *Writer) send(n int) (int, error) {
	c := &o.call
	c.asked, c.taken, c.errno = n, 0, 0
	if err := c.raw.Write(c.try); err != nil {
		return 0, err
	}
	switch c.errno {
	case 0, unix.EAGAIN, unix.EINTR:
		return c.taken, nil
	case unix.EINVAL, unix.EMSGSIZE, unix.EIO:
		if o.sender.path == GSO {
			return 0, ErrSegments
		}
	}
	return 0, c.errno
}

// fullWait is how long a sender waits for room in the kernel in one call.
const fullWait = 2 * time.Millisecond

// attempt sends with one system call that does not wait. If the kernel's buffer is full
// it waits for room, and then tries once more.
func (o *Writer) attempt(fd uintptr) bool {
	c, s := &o.call, &o.sender.calls
	messages := (c.asked + s.segments - 1) / s.segments
	last := c.asked - (messages-1)*s.segments
	s.vectors[messages-1].SetLen(last * s.size)
	for range 2 {
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&s.messages[0])), uintptr(messages), unix.MSG_DONTWAIT, 0, 0)
		c.errno = errno
		if errno == 0 {
			c.taken = min(int(n)*s.segments, c.asked)
		}
		if errno != unix.EAGAIN {
			break
		}
		waitWritable(int32(fd))
	}
	s.vectors[messages-1].SetLen(s.segments * s.size)
	return true
}

// waitWritable waits through the runtime, which lets other goroutines run meanwhile.
func waitWritable(fd int32) {
	p := [1]unix.PollFd{{Fd: fd, Events: unix.POLLOUT}}
	_, _ = unix.Poll(p[:], int(fullWait/time.Millisecond))
}
