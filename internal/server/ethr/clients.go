package ethr

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"soku/internal/engine/flows"
	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/sock/pace"
)

// Bounds on what clients may hold.
const (
	maxClients = 4096
	maxConns   = 1024 // connections of tests, all clients together
)

// key identifies a test.
type key struct {
	addr netip.Addr
	udp  bool
}

// client is one test.
type client struct {
	key
	handler *handler
	born    time.Time

	ctx     context.Context // ends when the test may not go on
	cancel  context.CancelCauseFunc
	budget  *pace.Budget // of all its connections together, both directions; nil: no limit
	unwatch func()       // of the budget

	bytes, connections, packets atomic.Uint64 // in this second
	latency                     atomic.Int64  // ns
	verified                    atomic.Bool   // its address had a connection; set once

	// Guarded by handler.mu.
	holds       int       // goroutines that serve it
	last        time.Time // when something came last
	place       *place    // nil before it asked for one and after it gave that up
	started     bool      // it had one
	tried       time.Time // when it was refused one last
	total       Row
	synchronous time.Time // when a test begins whose start is synchronised
}

// hold finds the test of k or begins one, and holds it. It returns nil if there are too many
// tests. Source addresses of datagrams can be forged, so addresses without a connection share a
// limit of their own and do not displace other tests.
func (h *handler) hold(k key) *client {
	h.mu.Lock()
	verified := !k.udp || h.isKnown(k.addr)
	c := h.clients[k]
	begun := c == nil
	if begun {
		if !h.hasRoom(verified) {
			h.mu.Unlock()
			return nil
		}
		c = h.begin(k)
	}
	if verified && c.verified.CompareAndSwap(false, true) && !begun {
		h.unverified--
	} else if begun && !verified {
		h.unverified++
	}
	c.holds++
	c.came()
	h.mu.Unlock()
	if begun && h.hooks.Client != nil {
		h.hooks.Client(k.addr, k.udp)
	}
	return c
}

// came records when data last arrived. What arrives after a test was stopped does not count: others may
// be at that address, and would be refused for as long as one of them tries. Called with the lock.
func (c *client) came() {
	if c.ctx.Err() == nil {
		c.last = time.Now()
	}
}

// hasRoom reports whether one more client has room; called with the lock.
func (h *handler) hasRoom(verified bool) bool {
	if verified {
		return len(h.clients)-h.unverified < maxClients
	}
	return h.unverified < maxUnverified
}

// begin makes a client; called with the lock.
func (h *handler) begin(k key) *client {
	c := &client{key: k, handler: h, born: time.Now(), total: Row{Client: k.addr, UDP: k.udp}}
	c.ctx, c.cancel = context.WithCancelCause(h.Context())
	c.budget = server.NewBudget(h.limits.rate, false)
	c.unwatch = server.Enforce(server.Together(c.budget), c.exceeded)
	if len(h.clients) == 0 {
		h.second = c.born
	}
	h.clients[k] = c
	if !h.counting {
		h.counting = true
		h.guarded(h.countSeconds)
	}
	return c
}

// exceeded stops a test that moves too much.
func (c *client) exceeded() {
	err := measure.Fail(measure.KindRefused, "server.max_rate", measure.Figures{"limit_bps": c.handler.limits.rate})
	c.handler.mu.Lock()
	c.came()
	c.cancel(err)
	c.handler.mu.Unlock()
	if !c.verified.Load() {
		return
	}
	c.handler.log.Info("test stopped", "protocol", "ethr", "client", c.addr, "network", c.network(), "error", err.Error())
}

// moved counts bytes of a test of bandwidth.
func (c *client) moved(bytes int64) { c.bytes.Add(uint64(bytes)) }

// release lets go of it.
func (c *client) release() {
	c.handler.mu.Lock()
	defer c.handler.mu.Unlock()
	c.holds--
	c.came()
}

func (c *client) network() string {
	if c.udp {
		return "udp"
	}
	return "tcp"
}

// room takes a place for a connection of an address, which leave gives back.
func (h *handler) room(from netip.Addr, reverse bool) (leave func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conns >= maxConns {
		return nil, measure.Fail(measure.KindRefused, "server.ethr.busy", measure.Figures{"limit": maxConns})
	}
	one := measure.Options{Streams: 1, Direction: measure.Forward}
	if reverse {
		one.Direction = measure.Reverse
	}
	release, err := h.Reserve(from, flows.Server.Descriptors(one))
	if err != nil {
		return nil, err
	}
	h.conns++
	return func() {
		release()
		h.mu.Lock()
		defer h.mu.Unlock()
		h.conns--
	}, nil
}

// ended gives its turn to the next and writes a line into the log.
func (c *client) ended() {
	c.cancel(nil)
	c.unwatch()
	c.handler.mu.Lock()
	c.giveUp()
	c.handler.mu.Unlock()
	if c.handler.hooks.Over != nil {
		defer c.handler.hooks.Over(c.addr, c.udp)
	}
	if !c.verified.Load() {
		return
	}
	attributes := []any{"protocol", "ethr", "client", c.addr, "network", c.network(),
		"after", (c.last.Sub(c.born)).Round(time.Millisecond), "bytes", c.total.Bytes}
	if c.udp {
		attributes = append(attributes, "datagrams", c.total.Packets)
	} else {
		attributes = append(attributes, "connections", c.total.Connections)
	}
	c.handler.log.Info("test ended", attributes...)
}
