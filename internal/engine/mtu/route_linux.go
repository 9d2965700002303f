package mtu

import (
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"

	"soku/internal/measure"
)

// routeMTU returns the MTU in bytes that the route of this host to the target sets, 0 if it
// sets none, and whether it is locked: then no ICMP error lowers it (ip-route(8), mtu lock).
// It is that of the routing table. What the system has learned of the path is not in it.
func routeMTU(target netip.Addr, o measure.Options) (bytes int, locked bool) {
	ask := &netlink.RouteGetOptions{Oif: o.Device, FIBMatch: true}
	if from, err := netip.ParseAddr(o.Bind); err == nil {
		ask.SrcAddr = net.IP(from.Unmap().AsSlice())
	}
	routes, err := netlink.RouteGetWithOptions(net.IP(target.AsSlice()), ask)
	if err != nil || len(routes) == 0 {
		return 0, false // no route table to read; probes find what it does
	}
	return routes[0].MTU, routes[0].MTULock
}
