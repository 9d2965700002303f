package campaign

import (
	"context"
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
}

// Run implements [Runner].
func (p Places) Run(ctx context.Context, j schedule.Job, h Hooks) *measure.Result {
	access := p.Access
	if p.Enter != nil {
		if err := p.Enter(ctx, &j, &access); err != nil {
			return specOf(j, access).NotRun(p.Now(), err)
		}
	}
	return p.Of(j).Run(ctx, specOf(j, access), h)
}

// specOf is the job as an agent gets it.
func specOf(j schedule.Job, a agent.Access) agent.Spec {
	return agent.Spec{
		Schema: agent.Schema, Test: j.Test, Options: j.Options, Host: j.Server.Endpoint.Address,
		Client: j.Client.Endpoint, Server: j.Server.Endpoint, Trial: j.Trial, Result: j.Result, Access: a,
	}
}
