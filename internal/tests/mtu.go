package tests

import (
	"context"

	"soku/internal/engine/mtu"
	"soku/internal/engine/probe"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/sock"
)

func init() {
	register(Descriptor{Test: measure.TestMTU, Serverless: mtuServerless, Args: probeArgs, Summary: mtuSummary})
}

// mtuServerless finds the largest packet that a path carries.
func mtuServerless(ctx context.Context, a Serverless) (found ServerlessResult, err error) {
	if err := a.Begin(); err != nil {
		return found, err
	}
	began := sock.Now()
	m, err := mtu.Run(ctx, a.Target, a.Options, a.MTU)
	if m == nil {
		return found, err
	}
	found.Duration, found.PathMTU = measure.Duration(sock.Since(began)), m
	for _, report := range m.Reports {
		if !report.Confirmed && report.Bytes > 0 && err == nil {
			found.Findings.Add(finding.MTUReportUnconfirmed, "", measure.Figures{
				"address": report.Address, "reported_bytes": report.Bytes, "path_mtu_bytes": m.Bytes,
			})
		}
	}
	if least, most, flows := m.Range(); least < most {
		found.Findings.Add(finding.MTUFlowsDiffer, "", measure.Figures{"path_mtu_bytes": least, "most_bytes": most, "flows": flows})
	}
	if m.RouteLocked && m.Bytes < m.RouteBytes && err == nil {
		found.Findings.Add(finding.MTURouteLocked, measure.AtClient, measure.Figures{"route_bytes": m.RouteBytes, "path_mtu_bytes": m.Bytes})
	}
	if probe.OptionsOf(a.Options).Names {
		nameMTU(ctx, m)
	}
	return found, err
}

func nameMTU(ctx context.Context, m *measure.PathMTU) {
	hops := []*measure.MTUHop{m.After, m.Before}
	for _, f := range m.Flows {
		hops = append(hops, f.After, f.Before)
	}
	var addresses []string
	for _, h := range hops {
		if h != nil {
			addresses = append(addresses, h.Address)
		}
	}
	names := host.Names(ctx, addresses)
	for _, h := range hops {
		if h != nil {
			h.Name = names[h.Address]
		}
	}
}
