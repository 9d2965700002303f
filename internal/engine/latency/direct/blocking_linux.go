package direct

import (
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/engine/latency/requests"
	"soku/internal/measure"
	"soku/internal/sock"
)

// blockingLink sets a socket to blocking mode with time-outs of a tick. Each call holds
// the descriptor through RawConn for at most a tick, so that another goroutine can safely
// close the connection, and the close is noticed.
//
// Meanwhile the socket is not in the runtime's net poller. Otherwise another thread would
// wake for each message, too, and keep a processor of an idle host awake: the round trip
// would be shorter than in a program with one thread.
type blockingLink struct {
	conn     net.Conn
	tick     time.Duration
	raw      syscall.RawConn
	rewatch  func() // adds the socket to the net poller again
	in, out  transfer
	stamping bool
	stamped  sock.StampedReader
	behind   time.Duration
}

// transfer is the pending call of one direction, allocated once.
type transfer struct {
	b    []byte
	n    int
	err  error
	call func(fd uintptr) bool
}

// OpenBlocking opens a link of blocking system calls; ok is false for a connection that is
// not a socket.
func OpenBlocking(conn net.Conn, tick time.Duration) (Link, bool) {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return nil, false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil, false
	}
	// A deadline left by the handshake would end calls before their own time-out.
	if conn.SetDeadline(time.Time{}) != nil {
		return nil, false
	}
	l := &blockingLink{conn: conn, tick: tick, raw: raw}
	if l.mode(false, tick) != nil {
		_ = l.mode(true, 0)
		return nil, false
	}
	l.rewatch = sock.Unwatch([]net.Conn{conn})
	stream := requests.IsStream(conn)
	l.in.call = func(fd uintptr) bool {
		if l.stamping {
			var arrived time.Time
			l.in.n, arrived, l.in.err = l.stamped.Read(int(fd), l.in.b)
			l.behind = sock.Late(arrived, sock.Now())
		} else {
			l.in.n, l.in.err = unix.Read(int(fd), l.in.b)
		}
		if stream && l.in.n == 0 && l.in.err == nil && len(l.in.b) > 0 {
			l.in.err = io.EOF
		}
		return true
	}
	l.out.call = func(fd uintptr) bool {
		l.out.n, l.out.err = unix.Write(int(fd), l.out.b)
		return true
	}
	return l, true
}

// mode sets blocking mode with time-outs, or the net poller's mode without.
func (l *blockingLink) mode(poller bool, tick time.Duration) error {
	var inner error
	err := l.raw.Control(func(fd uintptr) {
		tv := unix.NsecToTimeval(int64(tick))
		inner = errors.Join(
			unix.SetsockoptTimeval(int(fd), unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv),
			unix.SetsockoptTimeval(int(fd), unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv),
			unix.SetNonblock(int(fd), poller))
	})
	return errors.Join(err, inner)
}

func (l *blockingLink) Read(b []byte) (int, error) { return l.in.do(l.raw.Read, b) }

func (l *blockingLink) Write(b []byte) (int, error) { return l.out.do(l.raw.Write, b) }

func (t *transfer) do(through func(func(uintptr) bool) error, b []byte) (int, error) {
	t.b = b
	err := through(t.call)
	t.b = nil
	if err == nil {
		err = t.err
	}
	switch {
	case err == nil:
		return t.n, nil
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return 0, ErrTick
	}
	return 0, err
}

func (l *blockingLink) Stamp() {
	_ = l.raw.Control(func(fd uintptr) {
		l.stamping = sock.Stamp(int(fd), true) == nil
	})
}

func (l *blockingLink) Late() time.Duration { return l.behind }

func (l *blockingLink) Release() {
	_ = l.mode(true, 0)
	if l.stamping {
		_ = l.raw.Control(func(fd uintptr) { _ = sock.Stamp(int(fd), false) })
	}
	l.rewatch()
}

func (l *blockingLink) Busy() bool { return false }

func (l *blockingLink) Blocking() bool { return true }

func (l *blockingLink) Timing() measure.Timing {
	t := measure.Timing{Clock: measure.ClockProgram, Wait: measure.WaitBlocking}
	if l.stamping {
		t.Clock = measure.ClockKernelArrival
	}
	return t
}
