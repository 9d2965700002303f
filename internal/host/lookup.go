package host

import (
	"context"
	"net"
	"net/netip"
)

// Lookup returns the addresses of a name; the first is the one that other programs of this host
// would use first. network is "ip", "ip4" or "ip6". It fails if [net.Resolver.LookupNetIP] fails.
func Lookup(ctx context.Context, network, name string) ([]netip.Addr, error) {
	found, err := net.DefaultResolver.LookupNetIP(ctx, network, name)
	for i := range found {
		found[i] = found[i].Unmap()
	}
	return preferred(found), err
}
