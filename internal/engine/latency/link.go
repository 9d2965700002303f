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

	"soku/internal/measure"
	"soku/internal/sock"
)

// errTick says that a read or write waited for a whole tick in vain: the
// moment to look at the context and at what timed out.
var errTick = errors.New("nothing happened for a tick")

// maxTick bounds how long an ended context goes unnoticed.
const maxTick = 40 * time.Millisecond

// link moves bytes over a connection and never waits for longer than a tick.
// One goroutine may read while another writes.
type link interface {
	// read returns one datagram (cut to len(b)) or what the stream has, errTick,
	// io.EOF at the end of a stream, or what the system reported.
	read(b []byte) (int, error)
	// write takes a datagram or a part of b; errTick when the queue was full for a tick.
	write(b []byte) (int, error)
	// stamp asks the kernel for the times of arrival, which late is about.
	stamp()
	// split asks it for those of requests leaving and replies coming, which a looper
	// knows how to use; false where it cannot. iface is what packets leave by, if known.
	split(iface string) bool
	// late is how long before the end of the last read its bytes had reached this
	// host; 0 where that is not known.
	late() time.Duration
	// release gives the socket back as it was.
	release()
	// busy reports whether a read never sleeps, so that it wants a processor.
	busy() bool
	// blocking reports whether calls block an OS thread, which then should be
	// the caller's own.
	blocking() bool
	// timing is who takes the times of what arrives, and how a read waits.
	timing() measure.Timing
}

// looper is a link that runs whole ping-pongs and echoes by itself.
type looper interface {
	closed(ctx context.Context, c *client) error
	answerAll(ctx context.Context, size int, farTimes bool) error
	socket() syscall.RawConn
}

// linker opens a link over a connection. threads is how many goroutines of the
// run are busy or in a blocking call at the same time.
type linker func(conn net.Conn, tick time.Duration, threads int) link

// Threads of each kind of run.
const (
	threadsClosed = 2 // the loop; the recorder
	threadsEcho   = 2 // the loop; whatever else its process does
	threadsOpen   = 4 // sender, receiver, recorder; whatever else
)

// alone runs a loop over at least one link where the least disturbs it, on the
// processor that pins give it, if any: outside of the runtime on a thread of the system
// made for it, over another blocking link on a thread that nobody else uses meanwhile.
// Over the net poller that would only make waking dearer.
func alone(pins *sock.Pins, role measure.Role, links []link, loop func() error) (err error) {
	kept := func() {
		defer pins.Keep(role)()
		err = loop()
	}
	var sockets []syscall.RawConn
	for _, l := range links {
		if l, ok := l.(looper); ok {
			sockets = append(sockets, l.socket())
		}
	}
	switch {
	case len(sockets) > 0:
		sock.OwnThread(sockets, kept)
	case links[0].blocking():
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		kept()
	default:
		kept()
	}
	return err
}

// tickFor is how finely a timeout is noticed, and never longer than maxTick.
func tickFor(timeout time.Duration) time.Duration {
	if timeout <= 0 {
		return maxTick
	}
	return min(maxTick, max(timeout/10, time.Millisecond))
}

func isStream(conn net.Conn) bool {
	switch conn.RemoteAddr().(type) {
	case *net.TCPAddr, *net.UnixAddr:
		return true
	case *net.UDPAddr:
		return false
	}
	_, packets := conn.(net.PacketConn)
	return !packets
}

// pollerLink is the portable link: deadlines on the net poller.
type pollerLink struct {
	conn                  net.Conn
	tick                  time.Duration
	readUntil, writeUntil time.Time
}

func openPoller(conn net.Conn, tick time.Duration, _ int) link {
	return &pollerLink{conn: conn, tick: tick}
}

func (l *pollerLink) read(b []byte) (int, error) {
	// A deadline costs more than a short round trip, so one serves for up to a tick.
	if now := sock.Now(); l.readUntil.Sub(now) < l.tick/2 {
		l.readUntil = now.Add(l.tick)
		if err := l.conn.SetReadDeadline(l.readUntil); err != nil {
			return 0, err
		}
	}
	n, err := l.conn.Read(b)
	return n, tickOr(err)
}

func (l *pollerLink) write(b []byte) (int, error) {
	if now := sock.Now(); l.writeUntil.Sub(now) < l.tick/2 {
		l.writeUntil = now.Add(l.tick)
		if err := l.conn.SetWriteDeadline(l.writeUntil); err != nil {
			return 0, err
		}
	}
	n, err := l.conn.Write(b)
	return n, tickOr(err)
}

func (l *pollerLink) stamp() {}

func (l *pollerLink) split(string) bool { return false }

func (l *pollerLink) late() time.Duration { return 0 }

func (l *pollerLink) release() { _ = l.conn.SetDeadline(time.Time{}) }

func (l *pollerLink) busy() bool { return false }

func (l *pollerLink) blocking() bool { return false }

func (l *pollerLink) timing() measure.Timing {
	return measure.Timing{Clock: measure.ClockProgram, Wait: measure.WaitPoller}
}

func tickOr(err error) error {
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		return errTick
	}
	return err
}

// writeAll sends b whole. A stream whose context ends halfway is left halfway.
func writeAll(ctx context.Context, l link, b []byte) error {
	for {
		n, err := l.write(b)
		b = b[n:]
		switch {
		case len(b) == 0 && err == nil:
			return nil
		case err != nil && !errors.Is(err, errTick):
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
}

// readFull fills b from a stream. io.EOF means that it ended before the first
// byte, io.ErrUnexpectedEOF within b. giveUp is asked at each tick.
func readFull(ctx context.Context, l link, b []byte, giveUp func() error) error {
	for have := 0; have < len(b); {
		n, err := l.read(b[have:])
		have += n
		switch {
		case err == nil:
		case errors.Is(err, errTick):
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

// openFor opens the best link for a loop that has one connection: one on a
// thread of its own, outside of the Go runtime, where the system has that.
func openFor(spin bool) linker {
	return func(conn net.Conn, tick time.Duration, threads int) link {
		if l, ok := openDirect(conn, tick, spin); ok {
			return l
		}
		return openShared(conn, tick, threads)
	}
}
