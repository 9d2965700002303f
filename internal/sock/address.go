package sock

import (
	"net"
	"net/netip"
)

// AddrPort returns the address and port of a TCP or UDP address, with mapped IPv4
// addresses as IPv4. The result is not valid for any other kind of address.
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
