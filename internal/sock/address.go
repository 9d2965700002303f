package sock

import (
	"net"
	"net/netip"
)

// AddrPort is the address and port of a TCP or UDP address, IPv4 as such; not valid
// for another.
func AddrPort(a net.Addr) netip.AddrPort {
	var p netip.AddrPort
	switch a := a.(type) {
	case *net.TCPAddr:
		p = a.AddrPort()
	case *net.UDPAddr:
		p = a.AddrPort()
	}
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}
