package sock

import (
	"errors"
	"io"
	"math"
	"net"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// Reader takes bytes out of the kernel for the connections of one loop, as
// [Writer] puts them in.
type Reader struct {
	path    string
	patient bool
	fds     []int
	buf     []byte // nil where bytes are discarded
	most    int
	ready   poller
}

// ReaderPaths are the values of the option rx that this system has for TCP, the
// fastest first.
func ReaderPaths() []string { return []string{"discard", "read"} }

// discardMost bounds a discarding call: it holds the socket while it works.
const discardMost = 4 << 20

// OpenReader makes a reader over conns whose path is one of [ReaderPaths]. It has
// descriptors of its own: conns may be closed while it is open. unit is the most
// bytes of one read.
func OpenReader(conns []*net.TCPConn, path string, unit int) (*Reader, error) {
	in := &Reader{path: path, most: discardMost}
	if path == "read" {
		in.buf, in.most = make([]byte, unit), unit
	}
	var err error
	if in.fds, err = holdAll(conns); err != nil {
		in.Close()
		return nil, measure.Errorf(measure.KindInternal, "receive by %s: %w", path, err)
	}
	in.ready.open(in.fds, unix.POLLIN)
	return in, nil
}

// Path is how bytes come: the value of the option rx that stands for it.
func (in *Reader) Path() string { return in.path }

// Take takes what connection i has, up to a bound, and returns how many bytes
// that were; [ErrWouldBlock] when there are none, [io.EOF] at the end.
func (in *Reader) Take(i int) (int, error) {
	call, flags := unix.RawSyscall6, uintptr(unix.MSG_DONTWAIT)
	switch {
	case in.patient: // the runtime is told, or a collection of garbage would wait, too
		call, flags = unix.Syscall6, 0
	case in.buf == nil:
		flags |= unix.MSG_TRUNC // tcp(7): dropped in the kernel
	}
	n, err := result(call(unix.SYS_RECVFROM, uintptr(in.fds[i]), uintptr(unsafe.Pointer(unsafe.SliceData(in.buf))), uintptr(in.most), flags, 0, 0))
	if n == 0 && err == nil {
		return 0, io.EOF
	}
	return n, err
}

// Bytes is what the last Take of n bytes read; nil where bytes are discarded.
func (in *Reader) Bytes(n int) []byte { return in.buf[:min(n, len(in.buf))] }

// Room is how many bytes the kernel holds at most for connection i before its sender
// must wait, about: half of the receive buffer, as the other half is for what the kernel
// adds (tcp(7), tcp_adv_win_scale).
func (in *Reader) Room(i int) int64 {
	n, err := unix.GetsockoptInt(in.fds[i], unix.SOL_SOCKET, unix.SO_RCVBUF)
	if err != nil {
		return 0
	}
	return int64(n) / 2
}

// RoundTrip is the least that the kernel has seen on connection i; 0 where it knows none.
func (in *Reader) RoundTrip(i int) time.Duration {
	info, err := unix.GetsockoptTCPInfo(in.fds[i], unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil || info.Min_rtt == math.MaxUint32 {
		return 0
	}
	return time.Duration(info.Min_rtt) * time.Microsecond
}

// Widen lets connection i hold n bytes, up to half of what net.ipv4.tcp_rmem allows, before
// its sender must wait. It never narrows a window, and leaves a buffer alone whose size
// somebody chose (SO_RCVBUF).
func (in *Reader) Widen(i int, n int64) {
	// A socket that is to wake for n bytes is given room for them (tcp_set_rcvlowat in the
	// kernel's net/ipv4/tcp.c) and keeps it; SO_RCVBUF would end the kernel's own growing.
	_ = unix.SetsockoptInt(in.fds[i], unix.SOL_SOCKET, unix.SO_RCVLOWAT, int(min(n, math.MaxInt32)))
	_ = unix.SetsockoptInt(in.fds[i], unix.SOL_SOCKET, unix.SO_RCVLOWAT, 1)
}

// BlockTimeout makes Take of a reader over one connection wait inside the kernel while
// there is nothing, for up to d, and tells whether it does: only where bytes are read.
// Until Close the connection blocks for everybody who uses it.
func (in *Reader) BlockTimeout(d time.Duration) bool {
	if in.buf == nil || len(in.fds) != 1 {
		return false
	}
	in.patient = blocking(in.fds[0], unix.SO_RCVTIMEO, d)
	return in.patient
}

// Wait sleeps until a connection has something, or for d. With patience it was waited
// for already.
func (in *Reader) Wait(d time.Duration) {
	if !in.patient {
		in.ready.wait(d)
	}
}

// Drop gives up connection i: Wait no longer looks at it.
func (in *Reader) Drop(i int) { in.ready.drop(i) }

// Close gives everything back. The connections stay open.
func (in *Reader) Close() {
	if in.patient {
		unblocking(in.fds[0], unix.SO_RCVTIMEO)
		in.patient = false
	}
	for _, fd := range in.fds {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	in.fds = nil
}

// ErrWouldBlock says that the kernel has nothing to give or no room at the moment.
var ErrWouldBlock = errors.New("would block")

// result is what a system call returned, without allocating.
func result(n, _ uintptr, e unix.Errno) (int, error) {
	switch e {
	case 0:
		return int(n), nil
	case unix.EAGAIN, unix.EINTR:
		return 0, ErrWouldBlock
	}
	return 0, e
}

// holdAll are descriptors of their own for conns.
func holdAll(conns []*net.TCPConn) ([]int, error) {
	fds := make([]int, 0, len(conns))
	for _, c := range conns {
		raw, err := c.SyscallConn()
		if err != nil {
			return fds, err
		}
		var fd int
		var inner error
		if err := raw.Control(func(own uintptr) { fd, inner = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
			return fds, err
		}
		if inner != nil {
			return fds, inner
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

// blocking makes calls on fd wait in the kernel for up to d, which is the socket option
// timeout; false where the system refuses it.
func blocking(fd, timeout int, d time.Duration) bool {
	t := unix.NsecToTimeval(int64(d))
	return unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, timeout, &t) == nil && unix.SetNonblock(fd, false) == nil
}

// unblocking takes that back.
func unblocking(fd, timeout int) {
	_ = unix.SetNonblock(fd, true)
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, timeout, &unix.Timeval{})
}

// poller waits for many descriptors. It asks anew each time: a descriptor that
// something watches all along costs a callback for each packet.
type poller struct{ fds []unix.PollFd }

func (p *poller) open(fds []int, events int16) {
	p.fds = make([]unix.PollFd, len(fds))
	for i, fd := range fds {
		p.fds[i] = unix.PollFd{Fd: int32(fd), Events: events}
	}
}

func (p *poller) wait(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_, _ = unix.Ppoll(p.fds, &t, nil)
}

// drop makes the kernel pass over descriptor i, as it does over negative ones.
func (p *poller) drop(i int) { p.fds[i].Fd = -1 }
