package host

import (
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
)

// preferred orders addresses of both families as the C library of this system does. Package
// net has the policy table of RFC 6724 built in. The GNU C library has that of RFC 3484, which
// prefers unique local IPv6 addresses to IPv4, and lets /etc/gai.conf replace it.
func preferred(list []netip.Addr) []netip.Addr {
	if !mixed(list) {
		return list
	}
	// musl has the table of RFC 6724, as package net.
	if musl, _ := filepath.Glob("/lib/ld-musl-*"); len(musl) > 0 {
		return list
	}
	return configured("/etc/gai.conf").order(list, sourceOf)
}

func mixed(list []netip.Addr) bool {
	four := 0
	for _, a := range list {
		if a.Is4() {
			four++
		}
	}
	return four > 0 && four < len(list)
}

// configured returns the policy of a gai.conf(5), the default one if there is none.
func configured(path string) *addressPolicy {
	file, err := os.Open(path)
	if err != nil {
		return defaultPolicy()
	}
	defer file.Close()
	return readPolicy(io.LimitReader(file, mostPolicy))
}

// sourceOf returns the source address for a destination, the zero one without a route.
// Connecting a datagram socket sends nothing.
func sourceOf(to netip.Addr) netip.Addr {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(to, 9)))
	if err != nil {
		return netip.Addr{}
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap().WithZone("")
}
