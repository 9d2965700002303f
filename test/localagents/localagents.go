// Package localagents has the agents of a hub's test: their trials run in its process.
package localagents

import (
	"context"
	"time"

	"soku/internal/agent"
	"soku/internal/fleet"
	"soku/internal/fleet/endpoint"
	"soku/internal/measure"
)

// Agents are agents of any name, in this process. It implements conduct.Agents.
type Agents struct {
	Here agent.Place
	Pass <-chan struct{} // trials of campaigns wait for an element each; closed it lets all through
	// Former gives the result of a trial that a hub ordered which was killed; nil loses it.
	Former func(agent.Spec) *measure.Result
}

// Place is this process.
func (a Agents) Place(_, _ string, _ time.Duration, former bool) agent.Place {
	if former {
		return left(a)
	}
	return a
}

// left is where a trial ran that another hub ordered.
type left Agents

// Run implements [agent.Place].
func (l left) Run(_ context.Context, s agent.Spec, _ agent.Hooks) *measure.Result {
	if l.Former != nil {
		if r := l.Former(s); r != nil {
			return r
		}
	}
	return s.NotRun(time.Now(), s.Away("dropped"))
}

// Run implements [agent.Place]. The check before a campaign does not wait.
func (a Agents) Run(ctx context.Context, s agent.Spec, h agent.Hooks) *measure.Result {
	if s.Trial.Campaign != "" {
		select {
		case <-a.Pass:
		case <-ctx.Done():
			return s.NotRun(time.Now(), context.Cause(ctx))
		}
	}
	return a.Here.Run(ctx, s, h)
}

// Addresses are this host.
func (Agents) Addresses(_, _ string) ([]string, error) { return []string{"127.0.0.1"}, nil }

// Serve fails: plans name servers that run.
func (Agents) Serve(context.Context, string, endpoint.Server) (at endpoint.Listening, end func(), err error) {
	return at, nil, measure.Fail(measure.KindUnreachable, "hub.request.no_answer", nil)
}

// MayCommand allows no commands.
func (Agents) MayCommand(name string) error {
	return measure.Fail(measure.KindRefused, "hub.agent.no_commands", measure.Figures{"agent": name})
}

// Command runs none.
func (a Agents) Command(_ context.Context, name string, _ fleet.Command, _ time.Duration) ([]byte, error) {
	return nil, a.MayCommand(name)
}

// Reserve reserves nothing.
func (Agents) Reserve(context.Context, string, []string) (release func(), err error) {
	return func() {}, nil
}
