package trial

import (
	"context"
	"net/netip"

	"soku/internal/engine/flows"
	"soku/internal/host"
	"soku/internal/host/series"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/tests"
)

// runServerless runs a test that needs no server of ours.
func runServerless(ctx context.Context, s Spec, d *tests.Descriptor, addr netip.Addr, o measure.Options, pins *sock.Pins, h Hooks, r *measure.Result) error {
	var watch *host.Sampler
	var sampler *series.Sampler
	found, err := d.Serverless(ctx, tests.Serverless{
		Target: addr, Options: o, Pins: pins, Observe: h.Observe, Trace: h.Trace, MTU: h.MTU,
		Begin: func() error {
			if err := h.ready(ctx); err != nil {
				return err
			}
			sampler = sample(o, r.Hosts.Client, flows.Conns{})
			watching := host.Watch(r.Hosts.Client.Facts.Interface)
			if err := h.begin(ctx); err != nil {
				sampler.Stop()
				watching.Stop(host.Moved{})
				return err
			}
			watch = watching
			h.started()
			return nil
		},
	})
	if s.Endless && ctx.Err() != nil {
		if count := answeredCount(&found); count > 0 {
			r.Options.Count, err, ctx = count, nil, context.WithoutCancel(ctx)
		}
	}
	r.Findings = append(r.Findings, found.Findings...)
	if watch == nil { // it ended before the first packet
		return err
	}
	counters := watch.Stop(host.Moved{})
	r.Hosts.Client.Counters, r.Hosts.Client.Series = &counters, sampler.Stop()
	readDetails(ctx, addr, r)()
	err = pinned(pins, r, err)
	if err == nil && found.Overhead == nil {
		found.Overhead = overheadOf(ctx, d, &found.End, s.Baselines, r)
	}
	if found.End.Latency != nil || found.End.Copy != nil {
		assemble(r, &found.End, &measure.End{}, found.Overhead)
	}
	if r.Trace = found.Trace; found.PathMTU != nil {
		r.PathMTU, r.Summary.PathMTUBytes = found.PathMTU, found.PathMTU.Bytes
	}
	if found.Duration > 0 && r.Copy == nil {
		r.Summary.DurationNs = found.Duration
	}
	if d.Finish != nil {
		d.Finish(r)
	}
	if err == nil {
		warnRate(r)
		warnBusy(r)
	}
	return err
}

// answeredCount is the count that an endless test reached, or 0 if nothing was answered. It takes
// requests that were neither answered nor lost when the test ended out of those that were sent.
func answeredCount(found *tests.ServerlessResult) int64 {
	switch t, l := found.Trace, found.End.Latency; {
	case t != nil && len(t.Hops) > 0:
		return t.Rounds
	case l != nil && l.Received > 0:
		l.Sent = l.Received + l.Lost
		return l.Sent
	}
	return 0
}
