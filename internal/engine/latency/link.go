package latency

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
	"time"

	"soku/internal/engine/latency/direct"
	"soku/internal/measure"
	"soku/internal/sock"
)

// maxTick limits how long the end of a context goes unnoticed.
const maxTick = 40 * time.Millisecond

// echoTick is that of an echo, which has no time-outs to watch.
const echoTick = 80 * time.Millisecond

// linker opens a link over a connection. threads is how many goroutines of the run are
// busy or in a blocking call at the same time.
type linker func(conn net.Conn, tick time.Duration, threads int) direct.Link

// Threads of each kind of run.
const (
	threadsClosed = 2 // the loop; the recorder
	threadsEcho   = 2 // the loop; other work of its process
	threadsOpen   = 4 // sender, receiver, recorder; other work
)

// alone runs a loop over at least one link with little disturbance, pinned as pins say.
// Loops outside of the runtime run on a new system thread ([sock.OwnThread]); loops over
// other blocking links lock their goroutine's thread. Over the net poller that would only
// make wake-ups more expensive.
func alone(pins *sock.Pins, role measure.Role, links []direct.Link, loop func() error) (err error) {
	kept := func() {
		defer pins.Keep(role)()
		err = loop()
	}
	var sockets []syscall.RawConn
	for _, l := range links {
		if l, ok := l.(direct.Looper); ok {
			sockets = append(sockets, l.Socket())
		}
	}
	switch {
	case len(sockets) > 0:
		sock.OwnThread(sockets, kept)
	case links[0].Blocking():
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		kept()
	default:
		kept()
	}
	return err
}

// tickFor returns how finely a timeout is noticed, at most maxTick.
func tickFor(timeout time.Duration) time.Duration {
	if timeout <= 0 {
		return maxTick
	}
	return min(maxTick, max(timeout/10, time.Millisecond))
}

// pollerLink is the portable link: deadlines on the net poller.
type pollerLink struct {
	conn                  net.Conn
	tick                  time.Duration
	readUntil, writeUntil time.Time
}

func openPoller(conn net.Conn, tick time.Duration, _ int) direct.Link {
	return &pollerLink{conn: conn, tick: tick}
}

func (l *pollerLink) Read(b []byte) (int, error) {
	// Setting a deadline costs more than a short round trip, so one serves for up to a
	// tick.
	if now := sock.Now(); l.readUntil.Sub(now) < l.tick/2 {
		l.readUntil = now.Add(l.tick)
		if err := l.conn.SetReadDeadline(l.readUntil); err != nil {
			return 0, err
		}
	}
	n, err := l.conn.Read(b)
	return n, tickOr(err)
}

func (l *pollerLink) Write(b []byte) (int, error) {
	if now := sock.Now(); l.writeUntil.Sub(now) < l.tick/2 {
		l.writeUntil = now.Add(l.tick)
		if err := l.conn.SetWriteDeadline(l.writeUntil); err != nil {
			return 0, err
		}
	}
	n, err := l.conn.Write(b)
	return n, tickOr(err)
}

func (l *pollerLink) Stamp() {}

func (l *pollerLink) Late() time.Duration { return 0 }

func (l *pollerLink) Release() { _ = l.conn.SetDeadline(time.Time{}) }

func (l *pollerLink) Busy() bool { return false }

func (l *pollerLink) Blocking() bool { return false }

func (l *pollerLink) Timing() measure.Timing {
	return measure.Timing{Clock: measure.ClockProgram, Wait: measure.WaitPoller}
}

func tickOr(err error) error {
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		return direct.ErrTick
	}
	return err
}

// writeAll sends all of b. If the context ends, a stream may be left within b.
func writeAll(ctx context.Context, l direct.Link, b []byte) error {
	for {
		n, err := l.Write(b)
		b = b[n:]
		switch {
		case len(b) == 0 && err == nil:
			return nil
		case err != nil && !errors.Is(err, direct.ErrTick):
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
}

// readFull fills b from a stream. io.EOF means that it ended before the first byte,
// io.ErrUnexpectedEOF within b. giveUp is called at each tick.
func readFull(ctx context.Context, l direct.Link, b []byte, giveUp func() error) error {
	for have := 0; have < len(b); {
		n, err := l.Read(b[have:])
		have += n
		switch {
		case err == nil:
		case errors.Is(err, direct.ErrTick):
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := giveUp(); err != nil {
				return err
			}
		case errors.Is(err, io.EOF) && have > 0:
			return io.ErrUnexpectedEOF
		default:
			return err
		}
	}
	return nil
}

// openShared opens the best link for loops that run in the Go runtime: blocking system
// calls if the connection is a socket, which avoid the wake-up through the net poller.
//
// A thread in a system call keeps its processor (P) of the Go runtime until the runtime's
// monitor takes it away, up to 10 ms later. With fewer processors than threads the others
// would wait that long; then the net poller is better.
func openShared(conn net.Conn, tick time.Duration, threads int) direct.Link {
	if runtime.GOMAXPROCS(0) >= threads {
		if l, ok := direct.OpenBlocking(conn, tick); ok {
			return l
		}
	}
	return openPoller(conn, tick, threads)
}

// openFor opens the best link for a loop with one connection: outside of the Go runtime,
// on a thread of its own, if the system can.
func openFor(spin bool) linker {
	return func(conn net.Conn, tick time.Duration, threads int) direct.Link {
		if l, ok := direct.Open(conn, tick, spin); ok {
			return l
		}
		return openShared(conn, tick, threads)
	}
}
