package connect

import (
	"context"
	"errors"
	"net/netip"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bestAcceptor is the fastest way here.
var bestAcceptor acceptors = listenRaw

// backlog is how many connections may wait to be accepted; the kernel cuts it
// to net.core.somaxconn.
const backlog = 65535

// acceptThreads take connections from one socket. More than two get in each
// other's way there.
const acceptThreads = 2

// rawAcceptor accepts with system calls of its own. Accepted sockets inherit
// the timeouts of the listening one, so that no call on either blocks for
// longer than a tick.
type rawAcceptor struct{ fd int }

func listenRaw(local netip.Addr, size int) (acceptor, int, string, error) {
	family := unix.AF_INET
	if local.Is6() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return nil, 0, "", err
	}
	a := &rawAcceptor{fd: fd}
	port, err := a.listen(local, size)
	if err != nil {
		a.close()
		return nil, 0, "", err
	}
	return a, port, rawPath, nil
}

func (a *rawAcceptor) listen(local netip.Addr, size int) (int, error) {
	to := rawAddress(netip.AddrPortFrom(local, 0))
	if _, _, e := unix.RawSyscall(unix.SYS_BIND, uintptr(a.fd), uintptr(unsafe.Pointer(&to.b)), to.n); e != 0 {
		return 0, e
	}
	tv := unix.NsecToTimeval(int64(tick))
	err := errors.Join(
		unix.SetsockoptTimeval(a.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv),
		unix.SetsockoptTimeval(a.fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv))
	if size > 0 {
		// A connection is handed over when its request is there (tcp(7)), so
		// that no thread waits for one.
		err = errors.Join(err, unix.SetsockoptInt(a.fd, unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT, 1))
	}
	if err = errors.Join(err, unix.Listen(a.fd, backlog)); err != nil {
		return 0, err
	}
	name, err := unix.Getsockname(a.fd)
	switch sa := name.(type) {
	case *unix.SockaddrInet4:
		return sa.Port, err
	case *unix.SockaddrInet6:
		return sa.Port, err
	}
	return 0, err
}

func (a *rawAcceptor) threads() int { return acceptThreads }
func (a *rawAcceptor) close()       { _ = unix.Close(a.fd) }

func (a *rawAcceptor) drain() {
	_ = unix.SetNonblock(a.fd, true)
	for {
		fd, _, err := unix.Accept4(a.fd, unix.SOCK_CLOEXEC)
		if err != nil {
			break
		}
		_ = unix.Close(fd)
	}
	_ = unix.SetNonblock(a.fd, false)
}

func (a *rawAcceptor) serve(ctx context.Context, l *Listener) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t := newTaker(a.fd, l)
	for ctx.Err() == nil {
		t.one()
	}
}

// taker accepts, checks, answers and closes one connection at a time.
type taker struct {
	l     *Listener
	fd    uintptr
	from  unix.RawSockaddrInet6
	size  uint32
	bytes []byte
}

func newTaker(fd int, l *Listener) *taker {
	return &taker{l: l, fd: uintptr(fd), bytes: make([]byte, max(l.size, 1))}
}

func (t *taker) one() {
	t.size = unix.SizeofSockaddrInet6
	fd, _, e := unix.Syscall6(unix.SYS_ACCEPT4, t.fd, uintptr(unsafe.Pointer(&t.from)), uintptr(unsafe.Pointer(&t.size)), unix.SOCK_CLOEXEC, 0, 0)
	switch e {
	case 0:
	case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM:
		// It passes when others close theirs.
		t.l.noFiles.Store(true)
		time.Sleep(10 * time.Millisecond)
		return
	default:
		return // a tick without a connection, or one that was aborted
	}
	if t.l.known(t.peer()) {
		t.l.count(1, t.l.now())
		t.answer(fd)
	} else {
		t.l.strangers.Add(1)
	}
	_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
}

func (t *taker) peer() netip.Addr {
	if t.from.Family == unix.AF_INET {
		return netip.AddrFrom4((*unix.RawSockaddrInet4)(unsafe.Pointer(&t.from)).Addr)
	}
	return netip.AddrFrom16(t.from.Addr)
}

func (t *taker) answer(fd uintptr) {
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
			if t.l.now()-began < int64(requestWait) {
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
