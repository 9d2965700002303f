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

// Reader receives bytes from the kernel for the connections of one loop. It is the
// counterpart of [Writer], with the same rules for concurrency.
type Reader struct {
	path   string
	blocks bool // BlockTimeout is set
	fds    []int
	buf    []byte // nil if bytes are discarded
	most   int
	ready  poller
}

// ReaderPaths returns the values of the option rx that this system has for TCP, fastest
// first.
func ReaderPaths() []string { return []string{"discard", "read"} }

// discardMost limits a discarding call in bytes: the call locks the socket while it runs.
const discardMost = 4 << 20

// OpenReader returns a reader of conns by one of [ReaderPaths]. It duplicates the
// descriptors, so conns may be closed while it is open. unit is the size of one read in
// bytes.
func OpenReader(conns []*net.TCPConn, path string, unit int) (*Reader, error) {
	in := &Reader{path: path, most: discardMost}
	if path == "read" {
		in.buf, in.most = make([]byte, unit), unit
	}
	var err error
	if in.fds, err = holdAll(conns); err != nil {
		in.Close()
		return nil, measure.Fail(measure.KindInternal, "sock.reader", measure.Figures{"path": path, "cause": err})
	}
	in.ready.open(in.fds, unix.POLLIN)
	return in, nil
}

// Bound limits what one call takes to n bytes, if it was more.
func (in *Reader) Bound(n int) { in.most = min(in.most, n) }

// Path returns how bytes are received, as a value of the option rx.
func (in *Reader) Path() string { return in.path }

// Take receives what connection i has, up to a limit, and returns the number of bytes;
// [ErrWouldBlock] if there are none, [io.EOF] at the end of the stream.
func (in *Reader) Take(i int) (int, error) {
	call, flags := unix.RawSyscall6, uintptr(unix.MSG_DONTWAIT)
	switch {
	case in.blocks: // through the runtime, so that garbage collection does not wait for this call
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

// Bytes returns what the last Take of n bytes read, or nil if bytes are discarded.
func (in *Reader) Bytes(n int) []byte { return in.buf[:min(n, len(in.buf))] }

// Room returns about how many bytes the kernel accepts on connection i before its sender
// must wait: half of the receive buffer, because the other half is the kernel's overhead
// (tcp(7), tcp_adv_win_scale).
func (in *Reader) Room(i int) int64 {
	n, err := unix.GetsockoptInt(in.fds[i], unix.SOL_SOCKET, unix.SO_RCVBUF)
	if err != nil {
		return 0
	}
	return int64(n) / 2
}

// RoundTrip returns the minimum round trip time that the kernel saw on connection i, or 0 if
// unknown.
func (in *Reader) RoundTrip(i int) time.Duration {
	info, err := unix.GetsockoptTCPInfo(in.fds[i], unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil || info.Min_rtt == math.MaxUint32 {
		return 0
	}
	return time.Duration(info.Min_rtt) * time.Microsecond
}

// Widen raises the receive window of connection i to n bytes, at most half of the limit
// in net.ipv4.tcp_rmem. It never lowers a window, and does not change a buffer whose size
// was set explicitly (SO_RCVBUF).
func (in *Reader) Widen(i int, n int64) {
	// Setting SO_RCVLOWAT to n makes the kernel provide room for n bytes for good
	// (tcp_set_rcvlowat in the kernel's net/ipv4/tcp.c). SO_RCVBUF would switch off its
	// automatic tuning.
	_ = unix.SetsockoptInt(in.fds[i], unix.SOL_SOCKET, unix.SO_RCVLOWAT, int(min(n, math.MaxInt32)))
	_ = unix.SetsockoptInt(in.fds[i], unix.SOL_SOCKET, unix.SO_RCVLOWAT, 1)
}

// BlockTimeout makes Take of a reader with one connection block in the kernel for up to d
// while there is no data. It reports whether it does: only the path read can. Until Close
// the connection blocks for all its users.
func (in *Reader) BlockTimeout(d time.Duration) bool {
	if in.buf == nil || len(in.fds) != 1 {
		return false
	}
	in.blocks = blocking(in.fds[0], unix.SO_RCVTIMEO, d)
	return in.blocks
}

// Wait sleeps until a connection has data, or for d. With BlockTimeout set it returns at
// once, because Take has waited.
func (in *Reader) Wait(d time.Duration) {
	if !in.blocks {
		in.ready.wait(d)
	}
}

// Idle is Wait without a thread, also for a reader with a block timeout. p ends it early.
func (in *Reader) Idle(d time.Duration, p *Parking) { p.Wait(in.ready.fds, d) }

// Drop excludes connection i from Wait.
func (in *Reader) Drop(i int) { in.ready.drop(i) }

// Give returns a reader that has some of the connections of this one from now on, in the order of
// their indices. in must not have a block timeout.
func (in *Reader) Give(indices []int) *Reader {
	out := &Reader{path: in.path, most: in.most, fds: Pick(in.fds, indices)}
	if in.buf != nil {
		out.buf = make([]byte, len(in.buf))
	}
	out.ready.open(out.fds, unix.POLLIN)
	for _, i := range indices {
		in.Drop(i)
		in.fds[i] = -1
	}
	return out
}

// Close releases all resources. The connections stay open.
func (in *Reader) Close() {
	if in.blocks {
		unblocking(in.fds[0], unix.SO_RCVTIMEO)
		in.blocks = false
	}
	for _, fd := range in.fds {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	in.fds = nil
}

// ErrWouldBlock means that the kernel has no data, or no room for data, at the moment.
var ErrWouldBlock = errors.New("would block")

// result converts the results of a system call without allocating.
func result(n, _ uintptr, e unix.Errno) (int, error) {
	switch e {
	case 0:
		return int(n), nil
	case unix.EAGAIN, unix.EINTR:
		return 0, ErrWouldBlock
	}
	return 0, e
}

// holdAll returns duplicates of the descriptors of conns.
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

// blocking makes calls on fd block in the kernel for up to d, which sets the socket
// option timeout (SO_RCVTIMEO or SO_SNDTIMEO). It returns false if the system refuses it.
func blocking(fd, timeout int, d time.Duration) bool {
	t := unix.NsecToTimeval(int64(d))
	return unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, timeout, &t) == nil && unix.SetNonblock(fd, false) == nil
}

// unblocking undoes blocking.
func unblocking(fd, timeout int) {
	_ = unix.SetNonblock(fd, true)
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, timeout, &unix.Timeval{})
}

// poller waits for many descriptors. It passes them to the kernel at each call: a
// descriptor that is watched permanently costs a callback for each packet.
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

// drop makes the kernel skip descriptor i, as it does with negative ones.
func (p *poller) drop(i int) { p.fds[i].Fd = -1 }

// Add adds connection c to an open reader and returns its index, which may be one that
// [Reader.Remove] has freed. As with [OpenReader], c itself may be closed: the reader
// duplicates its descriptor.
func (in *Reader) Add(c *net.TCPConn) (int, error) {
	held, err := holdAll([]*net.TCPConn{c})
	if err != nil {
		return 0, measure.Fail(measure.KindInternal, "sock.receive", measure.Figures{"peer": c.RemoteAddr().String(), "cause": err})
	}
	entry := unix.PollFd{Fd: int32(held[0]), Events: unix.POLLIN}
	for i, fd := range in.fds {
		if fd < 0 {
			in.fds[i], in.ready.fds[i] = held[0], entry
			return i, nil
		}
	}
	in.fds, in.ready.fds = append(in.fds, held[0]), append(in.ready.fds, entry)
	return len(in.fds) - 1, nil
}

// Remove removes connection i from the reader. Its index is free again.
func (in *Reader) Remove(i int) {
	in.Drop(i)
	_ = unix.Close(in.fds[i])
	in.fds[i] = -1
}
