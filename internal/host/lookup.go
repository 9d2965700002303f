package host

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"
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

// Names are useful only while a caller waits for them.
const (
	nameTimeout = 2 * time.Second
	namesAtOnce = 16
)

// Names finds the names of addresses by reverse DNS, within two seconds for all of
// them together. An interrupt of the measurement does not keep what was measured from
// its names, but shortens the wait.
func Names(ctx context.Context, addresses []string) map[string]string {
	if ctx.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, nameTimeout)
	defer cancel()
	var (
		mu    sync.Mutex
		work  sync.WaitGroup
		names = map[string]string{}
		room  = make(chan struct{}, namesAtOnce)
	)
	for _, a := range addresses {
		mu.Lock()
		_, known := names[a]
		if !known {
			names[a] = ""
		}
		mu.Unlock()
		if known {
			continue
		}
		room <- struct{}{}
		work.Go(func() {
			defer func() { <-room }()
			found, err := net.DefaultResolver.LookupAddr(ctx, a)
			if err != nil || len(found) == 0 {
				return
			}
			const longest = 253 // RFC 1035
			if name := strings.TrimSuffix(found[0], "."); len(name) <= longest {
				mu.Lock()
				names[a] = name
				mu.Unlock()
			}
		})
	}
	work.Wait()
	return names
}
