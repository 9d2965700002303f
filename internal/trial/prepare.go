package trial

import (
	"context"
	"net/netip"
	"sync"

	"soku/internal/engine/tcp"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/sock"
)

// preparation is what a trial needs before packets move and not before it talks
// to the server. It goes on while the server answers.
type preparation struct {
	tasks []func()
	begun sync.Once
	work  sync.WaitGroup
	ended sync.Once

	local netip.Addr // where the path begins
	facts measure.Facts
}

// prepare plans it. begin starts it, into must be called.
func prepare(ctx context.Context, remote netip.Addr, test measure.Test, o measure.Options) *preparation {
	p := &preparation{tasks: []func(){sock.ReserveThreads}}
	p.tasks = append(p.tasks, func() {
		p.local = localAddress(ctx, remote, o)
		p.facts = host.Facts(ctx, p.local)
	})
	if test == measure.TestTCP && o.Direction != measure.Reverse {
		p.tasks = append(p.tasks, func() { tcp.Prepare(o) })
	}
	return p
}

// begin starts it, once, and does not wait.
func (p *preparation) begin() {
	p.begun.Do(func() {
		for _, task := range p.tasks {
			p.work.Go(task)
		}
	})
}

// into waits for it and keeps in r what this host is and where the path begins.
// Only the first call does anything.
func (p *preparation) into(r *measure.Result) {
	p.ended.Do(func() {
		p.begin()
		p.work.Wait()
		r.Hosts.Client = &measure.Host{Facts: p.facts}
		if p.local.IsValid() {
			r.Path.Client.Address = p.local.String()
		}
		if r.Path.Client.Name == "" {
			r.Path.Client.Name = p.facts.Hostname
		}
	})
}
