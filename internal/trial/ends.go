package trial

import (
	"cmp"
	"context"
	"net/netip"

	"soku/internal/measure"
)

// Ends finds the addresses of both ends of a path, as [Run] does, and the port of the server. It
// sends only the query for the name. client is the zero address if this host has no route. An
// error has kind usage if host is no valid host, and kind unreachable if the name has no address,
// as in Run.
func Ends(ctx context.Context, host string, o measure.Options) (client, server netip.Addr, port int, err error) {
	t, err := resolve(ctx, host, o)
	if err != nil {
		return client, server, 0, err
	}
	return localAddress(ctx, t.addr, o), t.addr, cmp.Or(t.explicit, o.ServerPort()), nil
}
