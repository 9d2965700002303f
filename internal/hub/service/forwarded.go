package service

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// forwarded gives requests of reverse proxies the address of the client that they were sent by: the last one in
// X-Forwarded-For that is no proxy's. What comes before it was written by the client. Failures are counted
// by that address, so that one host behind a proxy does not keep the others from joining.
func forwarded(proxies []netip.Prefix, h http.Handler) http.Handler {
	if len(proxies) == 0 {
		return h
	}
	isProxy := func(a netip.Addr) bool {
		return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peer, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !isProxy(peer.Addr().Unmap().WithZone("")) {
			h.ServeHTTP(w, r)
			return
		}
		hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		for _, hop := range slices.Backward(hops) {
			a, err := netip.ParseAddr(strings.TrimSpace(hop))
			if err != nil {
				break
			}
			if a = a.Unmap().WithZone(""); isProxy(a) {
				continue
			}
			own := *r // a handler must not change the request that it was given
			own.RemoteAddr = net.JoinHostPort(a.String(), "0")
			r = &own
			break
		}
		h.ServeHTTP(w, r)
	})
}
