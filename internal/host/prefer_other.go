//go:build !linux

package host

import "net/netip"

// preferred returns addresses in the order of package net, which is that of RFC 6724 and of
// these systems.
func preferred(list []netip.Addr) []netip.Addr { return list }
