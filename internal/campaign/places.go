package campaign

import (
	"context"
	"slices"
	"sync"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// Places is a [Runner] that has agents run the trials.
type Places struct {
	Access agent.Access
	// Enter changes a trial, before it runs, into one of hosts that were prepared: address
	// and port of the server and how that is entered. nil changes nothing. A trial for which
	// it fails has not run.
	Enter func(context.Context, *schedule.Job, *agent.Access) error
	// Of is where a trial runs.
	Of  func(schedule.Job) agent.Place
	Now func() time.Time // set where Enter is
	// Baselines keeps the loopback baselines of a round; nil keeps none.
	Baselines *Baselines
}

// Run implements [Runner].
func (p Places) Run(ctx context.Context, j schedule.Job, h Hooks) *measure.Result {
	access := p.Access
	if p.Enter != nil {
		if err := p.Enter(ctx, &j, &access); err != nil {
			return specOf(j, access).NotRun(p.Now(), err)
		}
	}
	s := specOf(j, access)
	s.Baselines = p.Baselines.of(j)
	r := p.Of(j).Run(ctx, s, h)
	p.Baselines.keep(j, r)
	return r
}

// Baselines are the loopback baselines that the trials of a round have measured: one a client and
// conditions is enough, because each takes as long as a short trial. It is safe for concurrent use.
// The zero value is valid, and nil keeps none.
type Baselines struct {
	mu      sync.Mutex
	round   int
	clients map[string][]measure.FloorReading // by the client's name
}

// of are the baselines of the job's client in its round.
func (b *Baselines) of(j schedule.Job) []measure.FloorReading {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.round != j.Trial.Round {
		return nil
	}
	return slices.Clone(b.clients[j.Client.Endpoint.Name])
}

// keep takes the baseline that a trial has measured.
func (b *Baselines) keep(j schedule.Job, r *measure.Result) {
	if b == nil || r.Latency == nil || r.Latency.Floor == nil || r.Latency.Floor.Conditions == "" || r.Latency.Floor.MeasuredWith != "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.clients == nil || b.round != j.Trial.Round {
		b.round, b.clients = j.Trial.Round, map[string][]measure.FloorReading{}
	}
	reading := *r.Latency.Floor
	reading.MeasuredWith = r.ID
	name := j.Client.Endpoint.Name
	of := b.clients[name]
	i := slices.IndexFunc(of, func(other measure.FloorReading) bool { return other.Conditions == reading.Conditions })
	switch {
	case i < 0:
		b.clients[name] = append(of, reading)
	case reading.RTT.P50 < of[i].RTT.P50:
		of[i] = reading
	}
}

// specOf is the job as an agent gets it.
func specOf(j schedule.Job, a agent.Access) agent.Spec {
	return agent.Spec{
		Schema: agent.Schema, Test: j.Test, Options: j.Options, Host: j.Server.Endpoint.Address,
		Client: j.Client.Endpoint, Server: j.Server.Endpoint, Trial: j.Trial, Result: j.Result, Access: a,
	}
}
