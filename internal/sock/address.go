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

// SourceOf returns what an address counts as where something is shared among the hosts that
// ask for it: an IPv4 address itself, and the first 64 bits of an IPv6 address, because a host
// may use any address of such a network. What is no address has no valid source.
func SourceOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // fails for what is no address
	return p
}
