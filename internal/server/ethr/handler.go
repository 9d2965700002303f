// Package ethr is the server's side of Ethr's protocol: what package server needs to
// serve clients of Ethr. docs/reference/ethr.md says what is spoken; the messages are
// in package wire/ethr.
//
// Ethr's tests have no session and no end message: a test is what comes
// from one address, over connections that each ask for themselves or ask for nothing,
// and over when nothing has come for a while.
//
// A connection is served on the goroutine that package server has for it; one more
// counts the seconds while there are clients.
package ethr

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/server"
	"soku/internal/sock"
	wire "soku/internal/wire/ethr"
)

// Row is the traffic from or to one client in a second.
type Row struct {
	Client      netip.Addr
	UDP         bool
	Seconds     float64 // duration: a little over 1 on a busy host, less when the server ends
	Bytes       uint64
	Connections uint64 // TCP connections that were accepted
	Packets     uint64 // datagrams received
	// Latency is the mean of the last batch of round trips at this end, 0 for none.
	Latency time.Duration
}

// Hooks report tests while they run, from goroutines of the server. They must return
// within a few milliseconds. Each may be nil.
type Hooks struct {
	Client     func(client netip.Addr, udp bool)              // a test starts
	Second     func(rows []Row)                               // each second while there are clients, and when the server ends; one call at a time
	RoundTrips func(client netip.Addr, trips []time.Duration) // of a latency test; may be sorted, not kept
	Over       func(client netip.Addr, udp bool)              // the test has ended: no traffic for a while
}

// New returns the protocol.
func New(hooks Hooks) server.Protocol { return protocol{hooks} }

type protocol struct{ hooks Hooks }

// Name implements [server.Protocol].
func (protocol) Name() string { return option.ViaEthr }

// Match implements [server.Protocol].
func (protocol) Match(first []byte) (ours bool, more int) { return wire.Begins(first) }

// NewHandler implements [server.Protocol].
func (p protocol) NewHandler(s server.Services) server.Handler { return newHandler(p.hooks, s) }

// handler serves the clients of one server. Its methods for clients are in clients.go.
type handler struct {
	server.Services
	log        *slog.Logger
	limits     limits
	hooks      Hooks
	quiet      time.Duration // after which a test is over
	answerWait time.Duration // for a client's answer

	work sync.WaitGroup // the goroutine that counts seconds

	mu                sync.Mutex
	counting          bool // that goroutine runs
	clients           map[key]*client
	known             map[netip.Addr]time.Time // addresses by when they opened a connection last
	unverified        int                      // clients whose address is not known
	unverifiedSources unverifiedSources
	conns             int       // of tests
	second            time.Time // when this second began
}

// guarded runs f in a goroutine that Close waits for, and again after a panic.
func (h *handler) guarded(f func()) {
	h.work.Go(func() {
		for server.Guard(h.log, func() error { f(); return nil }, "protocol", "ethr") != nil {
		}
	})
}

// limits are those of the server that apply to Ethr.
type limits struct {
	duration time.Duration // 0: none
	rate     measure.Rate  // 0: none
}

func newHandler(hooks Hooks, s server.Services) *handler {
	l := s.Limits()
	return &handler{
		Services: s, log: s.Log(), limits: limits{l.MaxDuration.Std(), l.MaxRate}, hooks: hooks,
		quiet: 2 * time.Second, answerWait: 5 * time.Second, clients: map[key]*client{}, known: map[netip.Addr]time.Time{},
	}
}

// ServeConn implements [server.Handler]. A connection is counted, and belongs to a test
// of connections where nothing is asked on it.
func (h *handler) ServeConn(c *server.Conn) {
	defer c.Close()
	sock.SystemCongestion(c.TCPConn)
	peer, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok || !h.Serves(peer.AddrPort().Addr(), false) {
		return // Ethr has no token to show
	}
	h.know(peer.AddrPort().Addr().Unmap())
	client := h.hold(key{addr: peer.AddrPort().Addr().Unmap()})
	if client == nil {
		return
	}
	defer client.release()
	client.connections.Add(1)
	h.log.Debug("connection", "protocol", "ethr", "client", peer)
	m, err := wire.Read(io.MultiReader(bytes.NewReader(c.First), c))
	if err != nil || m.Kind != wire.Syn || m.Transport != wire.TCP {
		return
	}
	place, leave, err := h.admit(client, c, m)
	if err != nil {
		h.log.Info("test refused", "protocol", "ethr", "client", peer, "error", err.Error())
		return
	}
	defer leave()
	c.Release() // from here on it may be silent for longer
	_ = c.SetDeadline(time.Now().Add(h.answerWait))
	if _, err := c.Write(wire.Append(nil, wire.Message{Kind: wire.Ack, Synced: m.Synced})); err != nil {
		return
	}
	if err := h.measure(place, c.TCPConn, m); err != nil {
		h.log.Debug("connection of a test ended", "protocol", "ethr", "client", peer, "error", err.Error())
	}
}

// measure runs the test of a connection whose request was answered.
func (h *handler) measure(place *place, c *net.TCPConn, request wire.Message) error {
	t := &connTest{handler: h, client: place.client, turn: place.turn, conn: c, request: request}
	ctx := place.ctx
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Now()) })()
	run := t.bandwidth
	if request.Test == wire.Latency {
		run = t.latency
	}
	err := run(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// ServeDatagram implements [server.Handler]: it counts a datagram. There is nothing in
// it that shows that it is Ethr's.
func (h *handler) ServeDatagram(at server.Port, from netip.AddrPort, b []byte) (ours bool) {
	if at.Shared() || !h.Serves(from.Addr(), false) {
		return false
	}
	client := h.hold(key{addr: from.Addr(), udp: true})
	if client == nil {
		return true
	}
	defer client.release()
	if client.ctx.Err() != nil {
		return true
	}
	if client.verified.Load() {
		if place, err := client.enter(); err != nil || !place.turn.IsGranted() {
			return true
		}
	}
	if client.budget != nil && !client.budget.Draw(int64(len(b))) {
		return true
	}
	client.packets.Add(1)
	client.moved(int64(len(b)))
	return true
}

// Close implements [server.Handler]: it ends every test, with what the last second had
// so far.
func (h *handler) Close() {
	h.work.Wait()
	h.end()
	h.reportUnverified(true)
}
