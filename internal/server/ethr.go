package server

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"soku/internal/measure"
	"soku/internal/wire/native"
)

// Ethr's tests have no session and no end that anybody tells: a test is what comes
// from one address, over connections that each ask for themselves or ask for nothing,
// and over when nothing has come for a while. docs/reference/ethr.md says what is
// spoken.

// EthrRow is what came from one client, or went to it, in a second.
type EthrRow struct {
	Client      netip.Addr
	UDP         bool
	Seconds     float64 // that it took: a little over 1 on a busy host, less when the server ends
	Bytes       uint64
	Connections uint64 // TCP connections that were accepted
	Packets     uint64 // datagrams that came
	// Latency is the mean of the last lap of round trips as this end saw them, 0 for none.
	Latency time.Duration
}

// EthrHooks tell of Ethr's tests while they run, from goroutines of the server. They
// must return within a few milliseconds. Each may be nil.
type EthrHooks struct {
	Client func(client netip.Addr, udp bool)              // somebody begins
	Second func(rows []EthrRow)                           // a second has gone by while there were clients, or the server ends
	Lap    func(client netip.Addr, trips []time.Duration) // of a latency test; may be sorted, not kept
	Over   func(client netip.Addr, udp bool)              // nothing has come for a while
}

// Bounds on what Ethr's clients may hold.
const (
	maxEthrClients = 4096
	maxEthrConns   = 1024 // connections of tests, all clients together
)

// ethrLeast is how much of a second, when the server ends, is worth a rate.
const ethrLeast = 0.05

// ethrQuiet is how long nothing has come of a test that is over.
const ethrQuiet = 2 * time.Second

// ethrTests are the clients of now. One goroutine counts their seconds while there
// are any.
type ethrTests struct {
	server *Server
	hooks  EthrHooks
	wake   chan struct{} // has an element when there is somebody
	quiet  time.Duration // after which a test is over

	mu     sync.Mutex
	by     map[ethrKey]*ethrClient
	conns  int       // of tests
	second time.Time // when this second began
}

// ethrKey tells tests apart.
type ethrKey struct {
	client netip.Addr
	udp    bool
}

// ethrClient is one test.
type ethrClient struct {
	ethrKey
	tests   *ethrTests
	born    time.Time
	granted *latch // it is its turn

	ctx     context.Context // ends when the test may not go on
	cancel  context.CancelCauseFunc
	allowed *allowance // of all its connections together, both directions

	bytes, connections, packets atomic.Uint64 // in this second
	latency                     atomic.Int64  // ns

	// Guarded by tests.mu.
	holds       int       // goroutines that serve it
	last        time.Time // when something came last
	entered     bool      // into the queue
	tried       time.Time // when the queue was full
	total       EthrRow
	synchronous time.Time // when a test begins whose start is synchronised
}

func newEthrTests(s *Server, hooks EthrHooks) *ethrTests {
	return &ethrTests{server: s, hooks: hooks, wake: make(chan struct{}, 1), quiet: ethrQuiet, by: map[ethrKey]*ethrClient{}}
}

// client finds the test of k or begins one, and holds it; nil where there are too many.
func (e *ethrTests) client(k ethrKey) *ethrClient {
	e.mu.Lock()
	c := e.by[k]
	begun := c == nil
	if begun {
		if len(e.by) >= maxEthrClients {
			e.mu.Unlock()
			return nil
		}
		c = &ethrClient{ethrKey: k, tests: e, born: time.Now(), granted: newLatch()}
		c.total = EthrRow{Client: k.client, UDP: k.udp}
		c.ctx, c.cancel = context.WithCancelCause(e.server.base)
		c.allowed = newAllowance(e.server.cfg.MaxRate, time.Second) // its connections may be silent for as long as it likes
		if len(e.by) == 0 {
			e.second = c.born
		}
		e.by[k] = c
	}
	c.holds++
	c.last = time.Now()
	e.mu.Unlock()
	if begun {
		select {
		case e.wake <- struct{}{}:
		default:
		}
		if e.hooks.Client != nil {
			e.hooks.Client(k.client, k.udp)
		}
	}
	return c
}

// spend notes bytes that came or went, and stops the test when they are too many.
func (c *ethrClient) spend(bytes int64) {
	if !c.allowed.spend(bytes) || c.ctx.Err() != nil {
		return
	}
	s := c.tests.server
	err := measure.Errorf(measure.KindRefused, "the test moves more than %s, the limit (--max-rate)", s.cfg.MaxRate)
	c.cancel(err)
	s.log.Info("test stopped", "protocol", "ethr", "client", c.client, "network", c.network(), "error", err.Error())
}

// moved counts bytes of a test of bandwidth.
func (c *ethrClient) moved(bytes int64) {
	c.bytes.Add(uint64(bytes))
	c.spend(bytes)
}

// release lets go of it.
func (c *ethrClient) release() {
	c.tests.mu.Lock()
	defer c.tests.mu.Unlock()
	c.holds--
	c.last = time.Now()
}

// enter asks for a turn, once, and again a second after there was no room.
func (c *ethrClient) enter() error {
	c.tests.mu.Lock()
	now := time.Now()
	if c.entered {
		c.tests.mu.Unlock()
		return nil
	}
	if now.Sub(c.tried) < time.Second {
		c.tests.mu.Unlock()
		return errEthrBusy
	}
	c.entered, c.tried = true, now
	c.tests.mu.Unlock()
	// Not under the lock: the queue calls back.
	if _, err := c.tests.server.queue.enter(c); err != nil {
		c.tests.mu.Lock()
		c.entered = false
		c.tests.mu.Unlock()
		return err
	}
	c.tests.server.log.Info("test started", "protocol", "ethr", "client", c.client, "network", c.network())
	return nil
}

func (c *ethrClient) network() string {
	if c.udp {
		return "udp"
	}
	return "tcp"
}

var errEthrBusy = measure.Errorf(measure.KindRefused, "busy")

// grant implements entrant.
func (c *ethrClient) grant() { c.granted.fire() }

// queued implements entrant. Ethr has no word for it: a client that waits for its
// answer waits.
func (c *ethrClient) queued(int) {}

// shown implements entrant.
func (c *ethrClient) shown() native.QueueEntry {
	test := measure.TestTCP
	if c.udp {
		test = measure.TestUDP
	}
	return native.QueueEntry{Client: c.client.String(), Test: test, Age: measure.Duration(time.Since(c.born))}
}

// room takes a place for a connection of a test; false where there is none.
func (e *ethrTests) room() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.conns >= maxEthrConns {
		return false
	}
	e.conns++
	return true
}

func (e *ethrTests) leaveRoom() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.conns--
}

// next is when the next second begins, at least a moment from now: a client takes no
// time at all for a word of its own.
func (e *ethrTests) next() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := e.second.Add(time.Second)
	for time.Until(at) < time.Millisecond {
		at = at.Add(time.Second)
	}
	return at
}

// run counts seconds until ctx ends.
func (e *ethrTests) run(ctx context.Context) {
	for {
		select {
		case <-e.wake:
		case <-ctx.Done():
			return
		}
		for more := true; more; {
			e.mu.Lock()
			t := time.NewTimer(time.Until(e.second.Add(time.Second)))
			e.mu.Unlock()
			select {
			case <-t.C:
			case <-ctx.Done():
				t.Stop()
				return
			}
			more = e.tick()
		}
	}
}

// tick ends a second; false when nobody is left.
func (e *ethrTests) tick() bool {
	now := time.Now()
	e.mu.Lock()
	seconds := max(1, now.Sub(e.second).Seconds())
	// From the last beginning on, so that a late timer does not move all that follow.
	if e.second = e.second.Add(time.Second); now.Sub(e.second) > time.Second/2 {
		e.second = now
	}
	var rows []EthrRow
	var over []*ethrClient
	for k, c := range e.by {
		row := c.row(seconds)
		quiet := now.Sub(c.last) >= e.quiet && c.holds == 0
		if quiet {
			delete(e.by, k)
			over = append(over, c)
		} else if !c.udp || row.Packets > 0 {
			rows = append(rows, row)
		}
	}
	left := len(e.by) > 0
	e.mu.Unlock()
	if e.hooks.Second != nil && len(rows) > 0 {
		e.hooks.Second(rows)
	}
	for _, c := range over {
		c.ended()
	}
	return left
}

// end ends every test, when the server does, with what the last second had so far.
func (e *ethrTests) end() {
	e.mu.Lock()
	seconds := time.Since(e.second).Seconds()
	var rows []EthrRow
	var over []*ethrClient
	for _, c := range e.by {
		row := c.row(seconds)
		if row.Bytes+row.Connections+row.Packets > 0 {
			rows = append(rows, row)
		}
		over = append(over, c)
	}
	clear(e.by)
	e.mu.Unlock()
	if e.hooks.Second != nil && len(rows) > 0 && seconds >= ethrLeast {
		e.hooks.Second(rows)
	}
	for _, c := range over {
		c.ended()
	}
}

// row is what the second had; called with the lock.
func (c *ethrClient) row(seconds float64) EthrRow {
	row := EthrRow{
		Client: c.client, UDP: c.udp, Seconds: seconds, Bytes: c.bytes.Swap(0), Connections: c.connections.Swap(0),
		Packets: c.packets.Swap(0), Latency: time.Duration(c.latency.Load()),
	}
	c.total.Bytes += row.Bytes
	c.total.Connections += row.Connections
	c.total.Packets += row.Packets
	if row.Packets > 0 {
		c.last = time.Now()
	}
	return row
}

// ended gives its turn to the next and writes a line into the log.
func (c *ethrClient) ended() {
	c.cancel(nil)
	if c.entered {
		c.tests.server.queue.leave(c)
	}
	attributes := []any{"protocol", "ethr", "client", c.client, "network", c.network(),
		"after", (c.last.Sub(c.born)).Round(time.Millisecond), "bytes", c.total.Bytes}
	if c.udp {
		attributes = append(attributes, "datagrams", c.total.Packets)
	} else {
		attributes = append(attributes, "connections", c.total.Connections)
	}
	c.tests.server.log.Info("test ended", attributes...)
	if c.tests.hooks.Over != nil {
		c.tests.hooks.Over(c.client, c.udp)
	}
}
