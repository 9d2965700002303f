package daemon

import (
	"context"
	"net"
	"net/netip"
	"slices"

	"soku/internal/fleet"
	"soku/internal/host"
)

// mostAddresses are reported to the hub.
const mostAddresses = 64

// addresses are by what others can reach this host: what its owner announced, then what its
// interfaces have. Others cannot use loopback and link-local addresses.
func addresses(ctx context.Context, announced []fleet.Address) []fleet.Address {
	all := slices.Clone(announced)
	interfaces, err := net.Interfaces()
	if err != nil {
		return all
	}
	for _, i := range interfaces {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		found, err := i.Addrs()
		if err != nil {
			continue
		}
		rate := int64(-1) // not asked yet
		for _, a := range found {
			addr, bits, ok := addressOf(a)
			if !ok || slices.ContainsFunc(all, func(f fleet.Address) bool { return f.Address == addr.String() }) {
				continue
			}
			if rate < 0 {
				rate = host.Facts(ctx, addr).LinkSpeedMbps * 1e6
			}
			all = append(all, fleet.Address{Name: i.Name, Address: addr.String(), Bits: bits, LinkBps: rate})
			if len(all) >= mostAddresses {
				return all
			}
		}
	}
	return all
}

// addressOf is the address of an interface and the length of the prefix of its network.
func addressOf(a net.Addr) (addr netip.Addr, bits int, ok bool) {
	n, is := a.(*net.IPNet)
	if !is {
		return netip.Addr{}, 0, false
	}
	addr, ok = netip.AddrFromSlice(n.IP)
	addr = addr.Unmap()
	bits, _ = n.Mask.Size()
	return addr, bits, ok && addr.IsGlobalUnicast()
}
