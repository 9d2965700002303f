package campaign

import (
	"context"
	"slices"
	"sync"
	"time"

	"soku/internal/measure"
)

// Bounds of the check before a run.
const (
	probesAtOnce = 8
	probeTimeout = 15 * time.Second
)

// Probes are trials of one message each that check, before a run, that clients can be
// started and reach their servers, each pair of ends once. What a command or a person sets
// up first is not checked, and servers of other programs are left alone: some serve one
// test and end.
func (p *Plan) Probes(only Selection) []Job {
	var out []Job
	for i := range p.patterns {
		pt := &p.patterns[i]
		if !only.Matches(pt.Levels) || len(pt.Before) > 0 || len(p.HandLevels(pt)) > 0 {
			continue
		}
		client, server := p.target(pt.From), p.target(pt.To)
		for _, t := range pt.Tests {
			asked, err := t.Options.Effective(t.Test)
			if err != nil || !asked.NeedsServer(t.Test) || asked.Via != measure.ViaSoku {
				continue
			}
			o := measure.Defaults(measure.TestLatency)
			o.Duration, o.Count = 0, 1
			o.Port, o.Bind, o.IPVersion = asked.Port, asked.Bind, asked.IPVersion
			if client.Endpoint.Label != "" && o.Bind == "" {
				o.Bind = client.Endpoint.Address
			}
			j := Job{Test: measure.TestLatency, Options: o, Client: client, Server: server, Trial: measure.Trial{
				Name: p.Campaign, Pattern: pt.Name, Levels: pt.Levels, Label: t.Label, Round: 1, Repeat: 1, Order: 1,
				Pair: &measure.Pair{Client: client.Endpoint, Server: server.Endpoint},
			}}
			if !slices.ContainsFunc(out, j.sameEnds) {
				out = append(out, j)
			}
		}
	}
	return out
}

func (j Job) sameEnds(o Job) bool {
	return j.Client.Reference() == o.Client.Reference() && j.Server.Reference() == o.Server.Reference() &&
		j.Options.Port == o.Options.Port && j.Options.Bind == o.Options.Bind && j.Options.IPVersion == o.Options.IPVersion
}

// Preflight runs probes, several at once, and returns what failed, failures of one cause as
// one. The error is of kind interrupted, if ctx ends.
func Preflight(ctx context.Context, runner Runner, probes []Job) ([]*measure.Error, error) {
	failures := make([]*measure.Error, len(probes))
	var all sync.WaitGroup
	room := make(chan struct{}, probesAtOnce)
	for i, j := range probes {
		all.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			limited, cancel := context.WithTimeout(ctx, probeTimeout)
			defer cancel()
			r := runner.Run(limited, j, Hooks{Progress: func(measure.Progress) {}})
			if limited.Err() == nil { // otherwise it still waits for its turn at the server
				failures[i] = r.Error
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	}
	var causes []*measure.Error
	pairs := map[string][]string{}
	for i, e := range failures {
		if e == nil {
			continue
		}
		text := e.Error()
		if pairs[text] == nil {
			causes = append(causes, e)
		}
		pairs[text] = append(pairs[text], pairText(probes[i]))
	}
	var out []*measure.Error
	for _, e := range causes {
		out = append(out, measure.Fail(e.Kind, "campaign.preflight", measure.Figures{"pairs": pairs[e.Error()], "cause": e}))
	}
	return out, nil
}

// pairText is the pair of ends of a job; the server alone for a client on this machine.
func pairText(j Job) string {
	if client := j.Client.Reference(); client != "" {
		return client + " → " + j.Server.Reference()
	}
	return j.Server.Reference()
}
