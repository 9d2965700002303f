package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire/native"
)

// Foreign is a protocol of another tool that a server speaks, and the port where that
// tool's clients look for their server.
type Foreign struct {
	Protocol Protocol
	// Listen is host:port, for TCP and UDP. If it is empty, the protocol has no port of its own
	// and its clients come to the server's.
	Listen string
	// Optional: a port that is taken is reported in the log, and the server goes on.
	Optional bool
}

// Protocol is how the clients of another tool speak.
type Protocol interface {
	// Name is what logs, options and results call it.
	Name() string
	// Match reports whether first, at least 4 bytes, begins a connection of this
	// protocol, and how many bytes more it wants to see, 0 where it is sure. What is
	// asked for must come from every client of it.
	Match(first []byte) (ours bool, more int)
	// NewHandler returns what serves the clients of one server.
	NewHandler(s Services) Handler
}

// Handler serves the clients of one protocol at one server. ServeConn and
// ServeDatagram are called concurrently.
type Handler interface {
	// ServeConn serves a connection and closes it, or keeps it and returns; kept ones
	// are closed by the time that Close returns. The connection has a deadline for its
	// first bytes, and no congestion control until it is given the options of a test
	// ([sock.Settings.Apply]) or the system's ([sock.SystemCongestion]). ServeConn
	// returns soon after the context of [Services] has ended.
	ServeConn(c *Conn)
	// ServeDatagram takes one datagram of a peer that has no connection of its own
	// ([Port.Connect]), and returns false for one of another protocol. It may not keep
	// b, and does not block.
	ServeDatagram(at Port, from netip.AddrPort, b []byte) (ours bool)
	// Close ends what is left and waits for it. It is called once, after the last call
	// of the others has returned.
	Close()
}

// Conn is a connection of a client.
type Conn struct {
	*net.TCPConn
	// First is what was read of it to recognise its protocol: nothing on the
	// protocol's own port.
	First []byte
	// Port is where the client came to.
	Port Port
	// Number is its place in the order of arrival, from 1.
	Number uint64

	waiting *openConns
}

// Release lets the connection be silent: from then on the server does not close it to
// make room for others, nor when it ends.
func (c *Conn) Release() { c.waiting.release(c.TCPConn) }

// Port is where clients come to, by TCP and UDP. Ports are compared with ==.
type Port interface {
	// Shared reports whether several protocols are served there, so that a datagram
	// could be of any of them.
	Shared() bool
	// Connect returns a connection with a peer that came to the port at the address
	// local, with the settings where it is a [net.UDPConn] of its own. What the peer
	// sends from then on comes there.
	Connect(ctx context.Context, local netip.Addr, peer netip.AddrPort, settings sock.Settings) (net.Conn, error)
}

// Services are what a server offers to the handlers of protocols. Its methods may be
// called from any goroutine.
type Services interface {
	// Context ends with the server, with the cause [ErrShutdown].
	Context() context.Context
	Log() *slog.Logger
	// Limits are the operator's.
	Limits() native.Limits
	// Serves reports whether a client at an address is served at all. secret says that
	// the protocol has its clients prove who they are, so that the server's token,
	// which no other tool knows, does not shut them out.
	Serves(client netip.Addr, secret bool) bool
	// Enter asks for a turn to measure; client and test are for those who look at the
	// queue. A full server is an error of kind refused.
	Enter(client string, test measure.Test) (*Turn, error)
	// Reserve takes descriptors of this process for the connections of a client's test, which
	// release gives back; a server that cannot spare them is an error of kind refused.
	Reserve(client netip.Addr, descriptors int) (release func(), err error)
	// WatchHost counts what a test costs this host, whose end of it is local, until
	// stop, which returns the facts and the counters.
	WatchHost(local netip.Addr) (stop func(host.Moved) *measure.Host)
}

// services implements [Services].
type services struct{ s *Server }

func (v services) Context() context.Context { return v.s.base }
func (v services) Log() *slog.Logger        { return v.s.log }
func (v services) Limits() native.Limits    { return v.s.limits() }

func (v services) Serves(client netip.Addr, secret bool) bool {
	return v.s.allowed(client) && (v.s.cfg.Access == nil || secret)
}

func (v services) Enter(client string, test measure.Test) (*Turn, error) {
	t := &Turn{queue: v.s.queue, client: client, test: test, born: time.Now(), granted: newLatch()}
	if _, err := t.queue.enter(t); err != nil {
		return nil, err
	}
	return t, nil
}

func (v services) Reserve(client netip.Addr, n int) (release func(), err error) {
	return v.s.descriptors.reserve(client, n)
}

func (v services) WatchHost(local netip.Addr) (stop func(host.Moved) *measure.Host) {
	return v.s.watchHost(local, netip.Addr{})
}

// watchHost implements [Services] and serves native sessions, too.
func (s *Server) watchHost(local, remote netip.Addr) (stop func(host.Moved) *measure.Host) {
	facts := s.facts.latest(local) // those of the answer to a client may be older
	watch := s.engines.watch(facts.Interface)
	return func(moved host.Moved) *measure.Host {
		counters := watch(moved)
		s.details.get(s.base, local) // old ones are read again, which is awaited: the trial moves no packets now
		facts.Details = s.details.latest(local).Details
		facts.RouteMTU = host.RouteMTU(remote)
		return &measure.Host{Facts: facts, Counters: &counters}
	}
}

// Turn is a place among those who measure, or in the queue for that. The protocols of other
// tools cannot report a position in a queue: their clients wait without a message.
type Turn struct {
	queue   *admission
	client  string
	test    measure.Test
	born    time.Time
	granted *latch
	rate    liveRate
}

// Granted is closed when it is this turn.
func (t *Turn) Granted() <-chan struct{} { return t.granted.ch }

// IsGranted reports whether it is this turn.
func (t *Turn) IsGranted() bool { return t.granted.fired() }

// ErrSpoke is the error of a client that sent something before its turn.
var ErrSpoke = errors.New("sent something before its turn")

// Await waits until it is this turn. The client sends nothing to c until then: a read ends only
// when it is gone. The error is that of the read, [ErrSpoke] or the cause of ctx.
func (t *Turn) Await(ctx context.Context, c net.Conn) error {
	if t.IsGranted() {
		return nil
	}
	_ = c.SetDeadline(time.Time{})
	read := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		read <- cmp.Or(err, ErrSpoke)
	}()
	select {
	case err := <-read:
		return err
	case <-ctx.Done():
	case <-t.granted.ch:
	}
	_ = c.SetReadDeadline(time.Unix(1, 0))
	switch err := <-read; {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !sock.TimedOut(err):
		return err
	}
	return nil
}

// Moved counts bytes of the test that moved in the time before now, for those who look at the queue.
func (t *Turn) Moved(bytes int64, within time.Duration) { t.rate.moved(bytes, within) }

// Leave gives the turn up, or the place in the queue. It is called once.
func (t *Turn) Leave() { t.queue.leave(t) }

// grant implements waiter.
func (t *Turn) grant() { t.granted.fire() }

// queued implements waiter.
func (t *Turn) queued(int) {}

// yields implements waiter: the protocol ends the test of a client that is gone.
func (t *Turn) yields() bool { return false }

// shown implements waiter.
func (t *Turn) shown() native.QueueEntry {
	return native.QueueEntry{Client: t.client, Test: t.test, Age: measure.Duration(time.Since(t.born)), Rate: t.rate.rate()}
}
