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

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
)

// errTick means that a read or write waited for a whole tick: time to check the context
// and the time-outs.
var errTick = errors.New("nothing happened for a tick")

// maxTick limits how long the end of a context goes unnoticed.
const maxTick = 40 * time.Millisecond

// echoTick is that of an echo, which has no time-outs to watch.
const echoTick = 80 * time.Millisecond

// link moves bytes over a connection and never waits for longer than a tick. One
// goroutine may read while another writes.
type link interface {
	// read returns one datagram (truncated to len(b)) or available bytes of the stream,
	// errTick, io.EOF at the end of a stream, or the system's error.
	read(b []byte) (int, error)
	// write sends a datagram or a part of b; errTick if the queue was full for a tick.
	write(b []byte) (int, error)
	// stamp enables arrival time stamps, which late uses.
	stamp()
	// split enables stamps of departing requests and arriving replies, for a looper;
	// false if it cannot. iface is the outgoing interface, if known.
	split(iface string) bool
	// late returns how long before the end of the last read its bytes had reached this
	// host, or 0 if unknown.
	late() time.Duration
	// release restores the socket.
	release()
	// busy reports whether reads never sleep, so that the link needs a processor.
	busy() bool
	// blocking reports whether calls block an OS thread, which should then be the
	// caller's own.
	blocking() bool
	// timing is who takes the times of what arrives, and how a read waits.
	timing() measure.Timing
}

// looper is a link that runs whole closed loops and echoes by itself.
type looper interface {
	closed(ctx context.Context, c *client) error
	answerAll(ctx context.Context, size int, farTimes bool, limit engine.Limit) error
	socket() syscall.RawConn
	// mayRest lets the echo of a thread, whose first link this is, sleep after the client was
	// silent for a while. It is called before the loop has its own thread, which sees no
	// descriptors opened later.
	mayRest(after time.Duration)
}

// linker opens a link over a connection. threads is how many goroutines of the run are
// busy or in a blocking call at the same time.
type linker func(conn net.Conn, tick time.Duration, threads int) link

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

// tickFor returns how finely a timeout is noticed, at most maxTick.
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

// writeAll sends all of b. If the context ends, a stream may be left within b.
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

// readFull fills b from a stream. io.EOF means that it ended before the first byte,
// io.ErrUnexpectedEOF within b. giveUp is called at each tick.
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

// openFor opens the best link for a loop with one connection: outside of the Go runtime,
// on a thread of its own, if the system can.
func openFor(spin bool) linker {
	return func(conn net.Conn, tick time.Duration, threads int) link {
		if l, ok := openDirect(conn, tick, spin); ok {
			return l
		}
		return openShared(conn, tick, threads)
	}
}
