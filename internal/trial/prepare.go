package trial

import (
	"context"
	"net/netip"
	"sync"

	"soku/internal/engine/tcp"
	"soku/internal/host"
	"soku/internal/measure"
)

// preparation is what a trial needs before packets move and not before it talks
// to the server. It goes on beside the handshake, whose round trips are longer.
type preparation struct {
	work  sync.WaitGroup
	once  sync.Once
	facts measure.Facts
}

// prepare starts it; into must be called.
func prepare(ctx context.Context, local netip.Addr, test measure.Test, o measure.Options) *preparation {
	p := &preparation{}
	if test == measure.TestTCP && o.Direction != measure.Reverse {
		p.work.Go(func() { tcp.Prepare(o) })
	}
	p.work.Go(func() { p.facts = host.Facts(ctx, local) })
	return p
}

// into waits for it and keeps in r what this host is. Only the first call does
// anything.
func (p *preparation) into(r *measure.Result) {
	p.once.Do(func() {
		p.work.Wait()
		r.Hosts.Client = &measure.Host{Facts: p.facts}
		if r.Path.Client.Name == "" {
			r.Path.Client.Name = p.facts.Hostname
		}
	})
}
