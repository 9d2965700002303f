package tests

import (
	"context"
	"strings"

	"soku/internal/engine/probe"
	"soku/internal/engine/trace"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/sock"
	"soku/internal/text"
)

func init() {
	register(Descriptor{
		Test: measure.TestTrace, Serverless: traceServerless, Args: probeArgs, Summary: traceSummary,
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

// traceServerless finds the hops of a path.
func traceServerless(ctx context.Context, a Serverless) (found ServerlessResult, err error) {
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
	traceFindings(&found, t)
	if probe.OptionsOf(a.Options).Names {
		nameTrace(ctx, t)
	}
	return found, err
}

// traceFindings adds where limits on ICMP errors blur what was found.
func traceFindings(found *ServerlessResult, t *measure.Trace) {
	var limited []int
	var unanswered, probes int64
	for _, h := range t.Hops {
		if h.Limit != nil {
			limited = append(limited, h.Hop)
			unanswered, probes = unanswered+h.Unanswered, probes+h.Sent
		}
	}
	if len(limited) > 0 {
		found.Findings.Add(finding.TraceAnswersLimited, "", measure.Figures{
			"hops": ranges(limited), "unanswered_probes": unanswered, "probes": probes,
		})
	}
	if unknown := unknownFlows(t); len(unknown) > 0 && len(t.Flows) > 1 {
		figures := measure.Figures{"unknown_flows": len(unknown), "flows": len(t.Flows)}
		if hops := silentHops(t, unknown); len(hops) > 0 {
			figures["hops"] = ranges(hops)
		}
		found.Findings.Add(finding.TraceFlowsUnknown, "", figures)
	}
	if nearest, _, atMost := distance(t); atMost {
		found.Findings.Add(finding.TraceDistanceUnknown, "", measure.Figures{"hops": nearest})
	}
}

// silentHops are the hops at which some flow was answered and one of these was not.
func silentHops(t *measure.Trace, flows []int) (hops []int) {
	for _, h := range t.Hops {
		for _, i := range flows {
			if path := t.Flows[i].Path; len(h.Nodes) > 0 && (len(path) < h.Hop || path[h.Hop-1] == "") {
				hops = append(hops, h.Hop)
				break
			}
		}
	}
	return hops
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
