package ntttcp

import (
	"net"
	"net/netip"
	"testing"
)

// peer is a connection from an address.
type peer struct {
	net.Conn
	from   string
	closed bool
}

func (p *peer) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(p.from), 40_000))
}

func (p *peer) Close() error { p.closed = true; return nil }

func TestConnectionsOfOneHostTakeEachOthersPlaces(t *testing.T) {
	for name, many := range map[string][]string{
		"one address":                   {"10.0.0.9", "10.0.0.9", "10.0.0.9", "10.0.0.9"},
		"addresses of one IPv6 network": {"2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::4"},
	} {
		table := newConnTable(3)
		other := &peer{from: "192.0.2.1"} // the oldest
		table.add(&syncConn{conn: other})
		for _, from := range many {
			table.add(&syncConn{conn: &peer{from: from}})
		}
		if other.closed || len(table.all) != 3 {
			t.Errorf("%s: a connection of another host was closed: %v; %d are open", name, other.closed, len(table.all))
		}
	}
}
