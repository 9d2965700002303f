package ethr

import (
	"context"
	"time"

	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/sock"
)

// place is a turn to measure of one client: that of its connections, from the first of a
// test until the last has closed, or that of its datagrams, until none came for a while. So
// the next test of a client takes its turn behind the clients that wait.
type place struct {
	client *client
	turn   *server.Turn
	ctx    context.Context // ends when the test may not go on
	cancel context.CancelCauseFunc

	// Guarded by handler.mu.
	conns int  // of the test
	over  bool // given up: the turn is left with the last connection
}

// longestStart is how long the start of a synchronised test is away at most: its client and
// this server begin with the next second of the server.
const longestStart = time.Second

// enter asks for a turn, if the client has none, and at most once a second after there
// was no room.
func (c *client) enter() (*place, error) {
	c.handler.mu.Lock()
	defer c.handler.mu.Unlock()
	return c.entered()
}

// enterConn is enter for a connection, which calls leaveConn.
func (c *client) enterConn() (*place, error) {
	c.handler.mu.Lock()
	defer c.handler.mu.Unlock()
	p, err := c.entered()
	if err == nil {
		p.conns++
	}
	return p, err
}

// entered is enter, with the lock.
func (c *client) entered() (*place, error) {
	switch {
	case c.ctx.Err() != nil:
		return nil, context.Cause(c.ctx)
	case c.place != nil:
		return c.place, nil
	case time.Since(c.tried) < time.Second:
		return nil, measure.Fail(measure.KindRefused, "server.ethr.client_busy", nil)
	}
	test := measure.TestTCP
	if c.udp {
		test = measure.TestUDP
	}
	turn, err := c.handler.Enter(c.addr.String(), test)
	if err != nil {
		c.tried = time.Now()
		return nil, err
	}
	p := &place{client: c, turn: turn}
	p.ctx, p.cancel = context.WithCancelCause(c.ctx)
	c.place = p
	if most := c.handler.limits.duration; most > 0 {
		c.handler.guarded(func() { p.expire(most) })
	}
	if !c.started { // one line, however often it reconnects
		c.started = true
		c.handler.log.Info("test started", "protocol", "ethr", "client", c.addr, "network", c.network())
	}
	return p, nil
}

// leaveConn is called when a connection has ended, or has stopped waiting.
func (p *place) leaveConn() {
	p.client.handler.mu.Lock()
	defer p.client.handler.mu.Unlock()
	p.conns--
	switch {
	case p.conns > 0:
	case p.over:
		p.turn.Leave()
	default:
		p.client.giveUp()
	}
}

// giveUp gives the client's place to the next, as soon as its connections have ended;
// called with the lock.
func (c *client) giveUp() {
	p := c.place
	if p == nil {
		return
	}
	c.place = nil
	p.over = true
	p.cancel(nil)
	if p.conns == 0 {
		p.turn.Leave()
	}
}

// expire gives the place up after the longest time that a test may be served, however
// many connections it is made of. The limit is a place's and not a connection's: a client
// could open the next before the last one ends. The wait for a synchronised start is no part
// of that time.
func (p *place) expire(most time.Duration) {
	select {
	case <-p.turn.Granted():
	case <-p.ctx.Done():
		return
	}
	granted := time.Now()
	served := server.LongestServed(measure.Duration(most))
	for left := served; left > 0; left = time.Until(p.start(granted).Add(served)) {
		if !sock.Pause(p.ctx, left) {
			return
		}
	}
	err := measure.Fail(measure.KindRefused, "server.max_duration.ended", measure.Figures{"limit_ns": measure.Duration(most)})
	p.cancel(err)
	c := p.client
	c.handler.mu.Lock()
	if c.place == p {
		c.giveUp()
	}
	c.handler.mu.Unlock()
	if c.verified.Load() {
		c.handler.log.Info("test stopped", "protocol", "ethr", "client", c.addr, "network", c.network(), "error", err.Error())
	}
}

// start is when the test of a place begins that was granted then. A client could ask for a
// synchronised start again and again, and gains no more time by that than by one.
func (p *place) start(granted time.Time) time.Time {
	p.client.handler.mu.Lock()
	defer p.client.handler.mu.Unlock()
	wait := p.client.synchronous.Sub(granted)
	return granted.Add(max(0, min(wait, longestStart)))
}
