package tests

import (
	"context"
	"strings"

	"soku/internal/engine/probe"
	"soku/internal/engine/trace"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/text"
)

func init() {
	register(Descriptor{
		Test: measure.TestTrace, Alone: traceAlone, Args: probeArgs, Summary: traceSummary,
		Table: func(c *text.Catalogue, r *measure.Result) []string {
			if r.Trace == nil {
				return nil
			}
			return AlignedTrace(c, TraceTable(c, r.Trace))
		},
	})
}

// probeArgs are the options of tests with single probes.
func probeArgs(o measure.Options) text.Args {
	return text.Args{"Probe": strings.ToUpper(probe.OptionsOf(o).Probe)}
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
		err = measure.Fail(measure.KindUnreachable, "trace.no_answer", measure.Figures{"target": a.Target.String(), "probes": t.Sent})
	}
	if probe.OptionsOf(a.Options).Names {
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
