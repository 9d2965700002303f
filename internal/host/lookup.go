package host

import (
	"context"
	"net"
	"net/netip"
)

// Lookup returns the addresses of a name, the one that other programs of this host would
// use first. network is "ip", "ip4" or "ip6". Errors are those of [net.Resolver.LookupNetIP].
func Lookup(ctx context.Context, network, name string) ([]netip.Addr, error) {
	found, err := net.DefaultResolver.LookupNetIP(ctx, network, name)
	for i := range found {
		found[i] = found[i].Unmap()
	}
	return preferred(found), err
}
