package campaign

import (
	"context"

	"soku/internal/agent"
	"soku/internal/measure"
)

// Places is a [Runner] that has agents run the trials.
type Places struct {
	Access agent.Access
	// Of is where a trial runs.
	Of func(Job) agent.Place
}

// Run implements [Runner].
func (p Places) Run(ctx context.Context, j Job, h Hooks) *measure.Result {
	return p.Of(j).Run(ctx, j.Spec(p.Access), h)
}

// Spec is the job as an agent gets it.
func (j Job) Spec(a agent.Access) agent.Spec {
	return agent.Spec{
		Schema: agent.Schema, Test: j.Test, Options: j.Options, Host: j.Server.Endpoint.Address,
		Client: j.Client.Endpoint, Server: j.Server.Endpoint, Trial: j.Trial, Access: a,
	}
}
