package connect

import (
	"context"
	"errors"
	"net/netip"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/internal/sock"
)

// bestAcceptor is the fastest implementation on this system.
var bestAcceptor acceptors = listenRaw

// backlog is how many connections may wait at one socket to be accepted; the kernel
// limits it to net.core.somaxconn.
const backlog = 65535

// Several listening sockets share the port, each with a thread, and the kernel spreads connections
// over them. Over loopback connectors never sleep, so acceptors have the share of the processors that
// their number gives them, and accepting takes a quarter of the work of a connection. The Go runtime of
// a client runs at most twice as many connectors in parallel as there are processors
// ([sock.ReserveThreads]); half as many acceptors suffice. With fewer, queues of 4096 overflow, and a
// SYN that is dropped is retransmitted after a second. More wake up for each connection, which costs
// 10 us of 65 on two processors.
const (
	fewestSockets = 2
	usualSockets  = 8 // from as many connectors on; more need more processors
)

func socketsFor(o measure.Options) int {
	if o.RequestRate > 0 {
		return usualSockets
	}
	return min(max(o.Streams, fewestSockets), max(usualSockets, min(o.Streams/2, sock.Processors)))
}

// rawAcceptor accepts with raw system calls. Accepted sockets inherit the time-outs of
// the listening ones, so that no call on either blocks for longer than a tick.
type rawAcceptor struct {
	fds  []int
	next atomic.Int32 // socket of the next thread
}

func listenRaw(local netip.Addr, o measure.Options) (acceptor, int, string, error) {
	a, port := &rawAcceptor{}, 0
	for range socketsFor(o) {
		var err error
		if port, err = a.listen(netip.AddrPortFrom(local, uint16(port)), o.Size > 0); err != nil {
			a.close()
			return nil, 0, "", err
		}
	}
	return a, port, rawPath, nil
}

func (a *rawAcceptor) listen(local netip.AddrPort, requests bool) (int, error) {
	family := unix.AF_INET
	if local.Addr().Is6() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return 0, err
	}
	a.fds = append(a.fds, fd)
	tv := unix.NsecToTimeval(int64(tick))
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv))
	if requests {
		// The kernel passes on a connection only when its request has arrived (tcp(7)),
		// so that no thread waits for a request.
		err = errors.Join(err, unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT, 1))
	}
	if err != nil {
		return 0, err
	}
	to := rawAddress(local)
	if _, _, e := unix.RawSyscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&to.b)), to.n); e != 0 {
		return 0, e
	}
	if err := unix.Listen(fd, backlog); err != nil {
		return 0, err
	}
	name, err := unix.Getsockname(fd)
	switch sa := name.(type) {
	case *unix.SockaddrInet4:
		return sa.Port, err
	case *unix.SockaddrInet6:
		return sa.Port, err
	}
	return 0, err
}

func (a *rawAcceptor) threads() int { return len(a.fds) }

func (a *rawAcceptor) close() {
	for _, fd := range a.fds {
		_ = unix.Close(fd)
	}
}

func (a *rawAcceptor) drain(context.Context) {
	for _, fd := range a.fds {
		_ = unix.SetNonblock(fd, true)
		for {
			c, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC)
			if err != nil {
				break
			}
			_ = unix.Close(c)
		}
		_ = unix.SetNonblock(fd, false)
	}
}

func (a *rawAcceptor) serve(ctx context.Context, pins *sock.Pins, l *Listener) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer pins.Keep(measure.Receiver)()
	fd := a.fds[int(a.next.Add(1)-1)%len(a.fds)]
	t := newAcceptLoop(fd, l)
	for ctx.Err() == nil {
		t.one()
	}
	// Connections set up before the end count, even if they are not accepted yet.
	_ = unix.SetNonblock(fd, true)
	for limit := sock.Now().Add(tick); t.one() && sock.Now().Before(limit); {
	}
}

// acceptLoop accepts, checks, answers and closes one connection at a time.
type acceptLoop struct {
	l     *Listener
	fd    uintptr
	from  unix.RawSockaddrInet6
	size  uint32
	bytes []byte
}

func newAcceptLoop(fd int, l *Listener) *acceptLoop {
	return &acceptLoop{l: l, fd: uintptr(fd), bytes: make([]byte, max(l.size, 1))}
}

// one accepts one connection and reports whether there was one.
func (t *acceptLoop) one() bool {
	t.size = unix.SizeofSockaddrInet6
	fd, _, e := unix.Syscall6(unix.SYS_ACCEPT4, t.fd, uintptr(unsafe.Pointer(&t.from)), uintptr(unsafe.Pointer(&t.size)), unix.SOCK_CLOEXEC, 0, 0)
	switch e {
	case 0:
	case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM:
		// Temporary: it ends when other connections are closed.
		t.l.noFiles.Store(true)
		time.Sleep(10 * time.Millisecond)
		return false
	default:
		return false // a tick without a connection, or one that was aborted
	}
	switch {
	case !t.l.known(t.peer()):
		t.l.foreign.Add(1)
	case t.l.within():
		t.l.count(1, t.l.now())
		t.answer(fd)
	}
	_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
	return true
}

func (t *acceptLoop) peer() netip.Addr {
	if t.from.Family == unix.AF_INET {
		return netip.AddrFrom4((*unix.RawSockaddrInet4)(unsafe.Pointer(&t.from)).Addr)
	}
	return netip.AddrFrom16(t.from.Addr)
}

func (t *acceptLoop) answer(fd uintptr) {
	if t.l.size == 0 {
		return
	}
	var began int64
	for have := 0; have < t.l.size; {
		n, _, e := unix.Syscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&t.bytes[have])), uintptr(t.l.size-have))
		switch {
		case e == 0 && n > 0:
			have += int(n)
			continue
		case e == unix.EAGAIN || e == unix.EINTR:
			if began == 0 {
				began = t.l.now()
			}
			if !t.l.over.Load() && t.l.now()-began < int64(requestWait) {
				continue
			}
		}
		t.l.failed.Add(1)
		return
	}
	for sent := 0; sent < t.l.size; {
		n, _, e := unix.Syscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&t.bytes[sent])), uintptr(t.l.size-sent), unix.MSG_NOSIGNAL, 0, 0)
		if e != 0 {
			t.l.failed.Add(1)
			return
		}
		sent += int(n)
	}
}
