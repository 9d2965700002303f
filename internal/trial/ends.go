package trial

import (
	"cmp"
	"context"
	"net/netip"

	"soku/internal/measure"
)

// Ends finds the addresses of both ends of a path, as [Run] does, and the port of the server. It
// sends nothing but the question for the name. client is the zero address where this host has no
// route. Errors are those of Run: of kind usage for a host that cannot be one, unreachable for a
// name without an address.
func Ends(ctx context.Context, host string, o measure.Options) (client, server netip.Addr, port int, err error) {
	t, err := resolve(ctx, host, o)
	if err != nil {
		return client, server, 0, err
	}
	return localAddress(ctx, t.addr, o), t.addr, cmp.Or(t.explicit, o.ServerPort()), nil
}
