package connect

import (
	"context"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/sock"
	"soku/internal/sock/pace"
)

// Listener is the far end: a port for one session. It counts the connections to that
// port, answers them if the session has a size, and closes them. It also counts
// connections from another port, given to [Listener.Take].
type Listener struct {
	size    int
	peers   []netip.Addr // addresses that are counted
	port    int
	via     acceptor // nil if it has no port
	path    string
	zero    time.Time
	serving atomic.Bool
	over    atomic.Bool // Serve's context has ended

	limit atomic.Pointer[limit] // nil: none

	accepted, foreign, failed atomic.Int64
	firstNs, lastNs           atomic.Int64
	noFiles                   atomic.Bool
}

// acceptor is a listening socket and how its connections are accepted.
type acceptor interface {
	// serve accepts until the context ends, pinned as pins say; several goroutines may
	// call it.
	serve(ctx context.Context, pins *sock.Pins, l *Listener)
	// drain closes the connections from before the start without counting them.
	drain(ctx context.Context)
	threads() int
	close()
}

// limit takes each connection off a budget.
type limit struct {
	budget *pace.Budget
	cost   int64 // of a connection, bytes
}

// Limit takes each connection off a budget, as cost bytes. One that is beyond it is closed
// and not counted; the caller ends the test. A nil budget is no limit. Call it before Serve.
func (l *Listener) Limit(b *pace.Budget, cost int64) {
	if b != nil {
		l.limit.Store(&limit{b, cost})
	}
}

// within reports whether one more connection is within the limit.
func (l *Listener) within() bool {
	limit := l.limit.Load()
	return limit == nil || limit.budget.Draw(limit.cost)
}

// requestWait limits how long a connection may take to send its request.
const requestWait = time.Second

// Portless returns a listener without a port.
func Portless(o measure.Options) *Listener {
	return &Listener{size: int(o.Size), zero: sock.Now(), path: netPath}
}

// Listen opens a port chosen by the system on local, for the connections of peers. o is
// effective. If no port can be opened, the listener has port 0 and counts what
// [Listener.Take] gets; the error has the reason and is not a failure.
func Listen(local netip.Addr, peers []netip.Addr, o measure.Options) (*Listener, error) {
	return listenWith(local, peers, o, bestAcceptor)
}

type acceptors func(local netip.Addr, o measure.Options) (a acceptor, port int, path string, err error)

func listenWith(local netip.Addr, peers []netip.Addr, o measure.Options, with acceptors) (*Listener, error) {
	l := Portless(o)
	for _, p := range peers {
		l.peers = append(l.peers, p.Unmap().WithZone(""))
	}
	a, port, path, err := with(local.Unmap(), o)
	if err != nil {
		return l, measure.Fail(measure.KindRefused, "connect.listen", measure.Figures{"address": local.String(), "cause": err})
	}
	l.via, l.port, l.path = a, port, path
	return l, nil
}

// Port returns the port, 0 for none.
func (l *Listener) Port() int { return l.port }

// Begin closes the connections so far, which takes at most a second; later ones are
// counted. Call it once, before Serve. ctx is for the connection that it may make.
func (l *Listener) Begin(ctx context.Context) {
	if l.via != nil {
		l.via.drain(ctx)
	}
	l.zero = sock.Now()
	l.serving.Store(true)
}

// Serve counts until ctx ends, and returns the count since Begin. It notices the end of
// ctx within 100 ms. pins pin the accepting loops; nil pins none.
func (l *Listener) Serve(ctx context.Context, pins *sock.Pins) *measure.Connect {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	unwatch := context.AfterFunc(ctx, func() { l.over.Store(true) })
	defer unwatch()
	if l.via != nil {
		wg := panics.Group{Stop: cancel}
		for range l.via.threads() {
			wg.Go(func() { l.via.serve(ctx, pins, l) })
		}
		wg.Wait()
	} else {
		<-ctx.Done()
	}
	l.serving.Store(false)
	n := l.accepted.Load()
	c := &measure.Connect{Accepted: &n, ForeignConns: l.foreign.Load(), Unserved: l.failed.Load(), ServerPath: l.path}
	if n > 1 {
		c.DurationNs = l.lastNs.Load() - l.firstNs.Load()
	}
	if c.DurationNs > 0 {
		c.AcceptedPerSecond = float64(n-1) * 1e9 / float64(c.DurationNs)
	}
	return c
}

// OutOfFiles reports whether accepting failed because there were no descriptors.
func (l *Listener) OutOfFiles() bool { return l.noFiles.Load() }

// Accepted returns how many connections were counted so far.
func (l *Listener) Accepted() int64 { return l.accepted.Load() }

// Take counts and answers a connection to another port, and leaves it open. It may block
// until the client has sent its request, at most a second. It reports whether the
// connection was counted: those before Begin and after the end of Serve are not.
func (l *Listener) Take(c net.Conn) bool {
	if !l.serving.Load() || !l.within() {
		return false
	}
	l.count(1, l.now())
	l.answer(c)
	return true
}

// Close closes the port. Serve must have returned. Call it once.
func (l *Listener) Close() {
	if l.via != nil {
		l.via.close()
	}
}

func (l *Listener) now() int64 { return int64(sock.Since(l.zero)) }

// count adds n connections, the last of which was accepted at atNs.
func (l *Listener) count(n, atNs int64) {
	if l.accepted.Add(n) == n {
		l.firstNs.Store(atNs)
	}
	for {
		last := l.lastNs.Load()
		if last >= atNs || l.lastNs.CompareAndSwap(last, atNs) {
			return
		}
	}
}

// known reports whether connections from a belong to the session.
func (l *Listener) known(a netip.Addr) bool {
	return slices.Contains(l.peers, a.Unmap().WithZone(""))
}

// answer reads the request and sends the same bytes back.
func (l *Listener) answer(c net.Conn) {
	if l.size == 0 {
		return
	}
	_ = c.SetDeadline(sock.Now().Add(requestWait))
	b := make([]byte, l.size)
	if _, err := io.ReadFull(c, b); err == nil {
		_, err = c.Write(b)
		if err == nil {
			return
		}
	}
	l.failed.Add(1)
}
