package tests

import (
	"context"

	"soku/internal/engine/trace"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/sock"
)

func init() {
	register(Descriptor{
		Test: measure.TestTrace, Alone: traceAlone, Summary: traceSummary,
		Table: func(r *measure.Result) []string {
			if r.Trace == nil {
				return nil
			}
			return AlignedTrace(TraceTable(r.Trace))
		},
	})
}

// traceAlone finds the hops of a path.
func traceAlone(ctx context.Context, a Alone) (found Found, err error) {
	if err := a.Begin(); err != nil {
		return found, err
	}
	began := sock.Now()
	t, l, err := trace.Run(ctx, a.Target, a.Options, a.Trace)
	found.Trace, found.End.Latency = t, l
	if t == nil {
		return found, err
	}
	found.Duration = measure.Duration(sock.Since(began))
	if err == nil && len(t.Hops) == 0 {
		err = measure.Errorf(measure.KindUnreachable, "trace %s: no answer to %d probes, from no hop", a.Target, t.Sent).
			WithHint("a firewall of this host or the first router may drop them; try another --probe, or: soku ping %s", a.Target)
	}
	if a.Options.Names {
		nameTrace(ctx, t)
	}
	return found, err
}

func nameTrace(ctx context.Context, t *measure.Trace) {
	var addresses []string
	for _, h := range t.Hops {
		for _, n := range h.Nodes {
			addresses = append(addresses, n.Address)
		}
	}
	names := host.Names(ctx, addresses)
	for i := range t.Hops {
		for k := range t.Hops[i].Nodes {
			t.Hops[i].Nodes[k].Name = names[t.Hops[i].Nodes[k].Address]
		}
	}
}
