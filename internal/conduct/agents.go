package conduct

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/fleet"
	"soku/internal/fleet/endpoint"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/server"
)

// Agents are the hosts of a hub. A name is one that plans write: the name of an agent, its identity, or the beginning
// of that. The methods are called by several goroutines.
type Agents interface {
	// Place is where the trials run whose client is an agent, and whose server is one or empty. A trial whose agent goes away
	// waits for it as long as patience, and is lost then; one that fails because its server went away is lost. The
	// results of trials with an identity are kept by the caller. former takes a trial over that another process ordered, and that
	// its agent may run or have the result of: otherwise it is lost.
	Place(name, server string, patience time.Duration, former bool) agent.Place
	// Addresses are where a client reaches an agent, if a plan does not say it: at least one and at most 4, the best first. The
	// client is one or empty. An error of kind unreachable, also of Serve, is that the agent is away.
	Addresses(client, name string) ([]string, error)
	// Serve has an agent run a server. end ends it and must be called.
	Serve(ctx context.Context, name string, s endpoint.Server) (at endpoint.Listening, end func(), err error)
	// MayCommand is why an agent runs no commands of plans, or nil; nil also for one that was not heard yet.
	MayCommand(name string) error
	// Command runs a command on an agent and returns the end of what it printed. When ctx ends, the command is killed. It
	// waits for an agent that is away as long as patience.
	Command(ctx context.Context, name string, c fleet.Command, patience time.Duration) (output []byte, err error)
	// Reserve waits until agents are free of other campaigns. An error is the cause of ctx. A name that is not known
	// is left out: its trials fail and say so.
	Reserve(ctx context.Context, campaign string, names []string) (release func(), err error)
}

// agents are those of one campaign; the zero value has none.
type agents struct {
	of       Agents
	plan     *plan.Plan
	now      func() time.Time
	patience time.Duration
	ways     *ways
}

// newAgents returns the agents of an order. An error has kind usage, if there is no hub.
func newAgents(of Agents, now func() time.Time, o Order) (agents, error) {
	named := o.Plan.Agents(o.Only)
	switch {
	case len(named) == 0:
		return agents{}, nil
	case of == nil:
		return agents{}, measure.Fail(measure.KindUsage, "cli.plan.needs_hub", measure.Figures{"endpoint": named[0]})
	}
	return agents{of, o.Plan, now, o.Patience, &ways{}}, nil
}

// place is where a trial runs: at the client's agent, or where if the client is none.
func (a *agents) place(j schedule.Job, where agent.Place) agent.Place {
	if a.of != nil && a.betweenAgents(j) {
		return paired{a, j}
	}
	return a.direct(j, where)
}

// direct is place for a trial whose client opens the connection.
func (a *agents) direct(j schedule.Job, where agent.Place) agent.Place {
	if j.Client.Agent != "" {
		where = a.of.Place(j.Client.Agent, j.Server.Agent, a.patience, j.Former)
	}
	if j.Server.Agent == "" || j.Former { // a former trial has its server
		return where
	}
	planned, _ := a.plan.Endpoints.Get(j.Server.Endpoint.Name)
	return served{where, a, j, planned}
}

// served runs a trial against an agent, which runs a server for it.
type served struct {
	agent.Place
	agents  *agents
	job     schedule.Job
	planned plan.Endpoint
}

// Run implements [agent.Place].
func (p served) Run(ctx context.Context, s agent.Spec, h agent.Hooks) *measure.Result {
	name := p.job.Server.Agent
	if s.Host == "" {
		all, err := p.agents.of.Addresses(p.job.Client.Agent, name)
		if measure.KindOf(err) == measure.KindUnreachable {
			err = s.ServerAway("away")
		}
		if err != nil {
			return s.NotRun(p.agents.now(), err)
		}
		s.Host, s.Server.Address = all[0], all[0]
	}
	// A port that the test itself names is that of another server.
	port := cmp.Or(p.planned.Port, option.DefaultPort)
	if p.planned.Server == "" && p.job.NeedsOwnServer() && cmp.Or(s.Options.Port, port) == port {
		granted, err := server.GrantFor(s.Test, s.Options)
		if err != nil {
			return s.NotRun(p.agents.now(), err)
		}
		own := endpoint.Server{Ports: []int{port}, Token: rand.Text(), Grant: &granted, CopyRoot: p.planned.CopyRoot}
		if p.planned.Port == 0 {
			own.Ports = append(own.Ports, 0)
		}
		at, end, err := p.agents.of.Serve(ctx, name, own)
		if measure.KindOf(err) == measure.KindUnreachable {
			err = s.ServerAway("away")
		}
		if err != nil {
			return s.NotRun(p.agents.now(), err)
		}
		defer end()
		s.Options.Port, s.Access = at.Port, agent.Access{Token: own.Token, Certificate: at.Certificate}
	}
	return p.Place.Run(ctx, s, h)
}

// command runs the commands of the plan on the agent that the plan names.
func (a *agents) command(ctx context.Context, text string, environment []string) ([]byte, error) {
	e, _ := a.plan.Endpoints.Get(a.plan.CommandsOn)
	c := fleet.Command{Text: []byte(text), Shell: a.plan.Shell, Environment: environment, LimitNs: int64(a.plan.Limit)}
	return a.of.Command(ctx, e.Agent, c, a.patience)
}

// reserve is what reserves the hosts of trials for a campaign. It is nil if it has no agents.
func (a *agents) reserve(campaign string) func(context.Context, []schedule.Job) (func(), error) {
	if a.of == nil {
		return nil
	}
	return func(ctx context.Context, trials []schedule.Job) (func(), error) {
		var names []string
		for _, j := range trials {
			names = append(names, j.Client.Agent, j.Server.Agent)
		}
		names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
		return a.of.Reserve(ctx, campaign, names)
	}
}
