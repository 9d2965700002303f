package trial

import (
	"cmp"
	"context"
	"net/netip"
	"sync"

	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
	"soku/internal/tests"
	"soku/internal/wire"
	"soku/internal/wire/native"
)

// preparation is what a trial needs before packets move, but not to talk to the
// server. It is made while the handshake with the server goes on.
type preparation struct {
	work  sync.WaitGroup
	ended sync.Once

	local netip.Addr // where the path begins
	facts measure.Facts
	pins  *sock.Pins // of this end's loops, nil for none
}

// prepare starts it; into must be called. It fails where the pins that o asks for
// cannot be had.
func prepare(ctx context.Context, remote netip.Addr, test measure.Test, o measure.Options) (*preparation, error) {
	own, _, err := option.ParsePin(o.Pin)
	if err != nil {
		return nil, err
	}
	p := &preparation{}
	if p.pins, err = sock.NewPins(own); err != nil {
		return nil, err
	}
	p.work.Go(func() {
		p.local = localAddress(ctx, remote, o)
		p.facts = host.Facts(ctx, p.local)
	})
	if d := tests.Of(test); d != nil && d.Prepare != nil {
		p.work.Go(func() { d.Prepare(o) })
	}
	return p, nil
}

// into waits for it and keeps in r what this host is and where the path begins.
// Only the first call does anything.
func (p *preparation) into(r *measure.Result) {
	p.ended.Do(func() {
		p.work.Wait()
		r.Hosts.Client = &measure.Host{Facts: p.facts}
		if p.local.IsValid() {
			r.Path.Client.Address = p.local.String()
		}
		r.Path.Client.Name = cmp.Or(r.Path.Client.Name, p.facts.Hostname)
	})
}

// askFirst asks the server whether it is there and has a folder for files, before the client
// makes them, which may take minutes and much of its disk.
func askFirst(ctx context.Context, s Spec, t target, o measure.Options) error {
	if !option.NeedsServer(o, s.Test) {
		return nil
	}
	info, err := native.Ask(ctx, t.hostPort(o), wire.Request{Options: o, Token: s.Token, TLS: s.TLS})
	if admit := tests.Of(s.Test).Admit; err == nil && admit != nil && info.Copies != nil && !*info.Copies {
		err = admit(tests.Engines{}, o)
	}
	return err
}
