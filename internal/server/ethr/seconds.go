package ethr

import "time"

// leastPart is how much of a second, when the server ends, is worth a rate.
const leastPart = 0.05

// nextSecond is when the next second begins, at least a moment from now: to a client, a
// message with a delay of 0 is another message.
func (h *handler) nextSecond() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.second.Add(time.Second)
	for time.Until(at) < time.Millisecond {
		at = at.Add(time.Second)
	}
	return at
}

// countSeconds reports every second until there are no clients or the server ends.
func (h *handler) countSeconds() {
	for {
		h.mu.Lock()
		if len(h.clients) == 0 {
			h.counting = false
			h.mu.Unlock()
			return
		}
		h.mu.Unlock()
		select {
		case <-time.After(time.Until(h.second.Add(time.Second))):
		case <-h.Context().Done():
			return
		}
		h.tick()
	}
}

// tick ends a second, and the tests of which nothing has come for a while.
func (h *handler) tick() {
	now := time.Now()
	h.mu.Lock()
	seconds := max(1, now.Sub(h.second).Seconds())
	// From the last beginning on, so that a late timer does not move all that follow.
	if h.second = h.second.Add(time.Second); now.Sub(h.second) > time.Second/2 {
		h.second = now
	}
	var rows []Row
	var over []*client
	for _, c := range h.clients {
		row := c.row(seconds)
		quiet := now.Sub(c.last) >= h.quiet && (c.holds == 0 || c.ctx.Err() != nil)
		if quiet {
			h.forget(c)
			over = append(over, c)
		} else if !c.udp || row.Packets > 0 {
			rows = append(rows, row)
		}
	}
	h.mu.Unlock()
	h.report(rows, over)
}

// end ends every test, with what the last second had so far.
func (h *handler) end() {
	h.mu.Lock()
	seconds := time.Since(h.second).Seconds()
	var rows []Row
	var over []*client
	for _, c := range h.clients {
		row := c.row(seconds)
		if seconds >= leastPart && row.Bytes+row.Connections+row.Packets > 0 {
			rows = append(rows, row)
		}
		h.forget(c)
		over = append(over, c)
	}
	h.mu.Unlock()
	h.report(rows, over)
}

// report calls the hooks for a second, and for the tests that have ended.
func (h *handler) report(rows []Row, over []*client) {
	if h.hooks.Second != nil && len(rows) > 0 {
		h.hooks.Second(rows)
	}
	for _, c := range over {
		c.ended()
	}
	h.reportUnverified(false)
}

// row is what the second had; called with the lock.
func (c *client) row(seconds float64) Row {
	row := Row{
		Client: c.addr, UDP: c.udp, Seconds: seconds, Bytes: c.bytes.Swap(0), Connections: c.connections.Swap(0),
		Packets: c.packets.Swap(0), Latency: time.Duration(c.latency.Load()),
	}
	c.total.Bytes += row.Bytes
	c.total.Connections += row.Connections
	c.total.Packets += row.Packets
	if row.Packets > 0 {
		c.came()
	}
	return row
}
