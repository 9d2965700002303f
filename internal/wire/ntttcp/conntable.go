package ntttcp

import (
	"net/netip"
	"slices"

	"soku/internal/sock"
)

// connTable holds the open sync connections of a registry, oldest first. If it is full, a
// new connection takes the place of one that is in no test, so that connections that only
// stay open cannot keep senders out. Its owner guards it.
type connTable struct {
	most int
	all  []*syncConn
}

func newConnTable(most int) connTable { return connTable{most: most} }

// add adds a connection. If the table is full, it closes the oldest connection that is in
// no test of the source with most such connections. It reports false if all are in tests.
func (c *connTable) add(t *syncConn) bool {
	if len(c.all) >= c.most {
		oldest := c.leastWanted()
		if oldest == nil {
			return false
		}
		_ = oldest.conn.Close()
		c.remove(oldest)
	}
	c.all = append(c.all, t)
	return true
}

// remove removes a connection; it may have been removed before.
func (c *connTable) remove(t *syncConn) {
	c.all = slices.DeleteFunc(c.all, func(other *syncConn) bool { return other == t })
}

// leastWanted returns the connection that gives up its place, or nil if all are in tests.
func (c *connTable) leastWanted() (oldest *syncConn) {
	idle := map[netip.Prefix]int{}
	for _, t := range c.all {
		if !t.inTest {
			idle[t.source()]++
		}
	}
	for _, t := range c.all {
		if !t.inTest && (oldest == nil || idle[t.source()] > idle[oldest.source()]) {
			oldest = t
		}
	}
	return oldest
}

// source is what the address of the sender counts as.
func (t *syncConn) source() netip.Prefix {
	return sock.SourceOf(sock.AddrPort(t.conn.RemoteAddr()).Addr())
}
