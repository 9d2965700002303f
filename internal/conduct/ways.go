package conduct

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// way is how two agents reach each other, as the check before their first trial found.
type way struct {
	reversed bool           // only the planned server reaches the planned client
	blocked  *measure.Error // neither reaches the other
}

// ways are those of the pairs of a campaign that were tried. It is safe for concurrent use.
type ways struct {
	mu sync.Mutex
	of map[schedule.EndpointPair]way

	probing sync.Mutex // held during a probe: two servers of one agent would have two ports, of which a firewall opens one
}

func (w *ways) get(pair schedule.EndpointPair) (way, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	found, known := w.of[pair]
	return found, known
}

func (w *ways) set(pair schedule.EndpointPair, found way) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[schedule.EndpointPair]way{}
	}
	w.of[pair] = found
}

// betweenAgents reports whether a trial opens a connection from one agent to a server that another runs for it.
func (a *agents) betweenAgents(j schedule.Job) bool {
	if j.Client.Agent == "" || j.Server.Agent == "" || !j.NeedsOwnServer() {
		return false
	}
	planned, _ := a.plan.Endpoints.Get(j.Server.Endpoint.Name)
	return planned.Server == ""
}

// Bounds of a probe of one way.
const (
	wayTimeout  = 15 * time.Second
	openTimeout = measure.Duration(5 * time.Second) // of its connection
)

// find tries how two agents reach each other, by a round trip of one message: from client to server, and if no connection
// can be opened that way from server to client. An error is another failure: then the way is not known, as also
// where an agent went away.
func (a *agents) find(ctx context.Context, probe schedule.Job) (way, error) {
	a.ways.probing.Lock()
	defer a.ways.probing.Unlock()
	if found, known := a.ways.get(probe.Endpoints()); known {
		return found, nil
	}
	there, ended := a.try(ctx, probe)
	if !unopened(there) {
		if ended && there == nil {
			a.ways.set(probe.Endpoints(), way{})
		}
		return way{}, asError(there)
	}
	back, ended := a.try(ctx, exchanged(probe))
	found := way{reversed: true}
	switch {
	case !ended:
		return way{}, nil
	case agent.Lost(back):
		return way{}, back
	case back != nil:
		found = way{blocked: measure.Fail(measure.KindUnreachable, "campaign.no_way", measure.Figures{"pair": probe.Endpoints().String(), "back": back.Message, "cause": there})}
	}
	a.ways.set(probe.Endpoints(), found)
	return found, nil
}

// asError avoids an error that is a nil pointer.
func asError(e *measure.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// try runs a probe. One that has not ended in time has found nothing out: it waits for an agent, or for its turn.
func (a *agents) try(ctx context.Context, probe schedule.Job) (failure *measure.Error, ended bool) {
	probe.Options.ConnectTimeout = min(cmp.Or(probe.Options.ConnectTimeout, openTimeout), openTimeout)
	limited, cancel := context.WithTimeout(ctx, wayTimeout)
	defer cancel()
	r := a.direct(probe, nil).Run(limited, agent.Spec{
		Schema: agent.Schema, Test: probe.Test, Options: probe.Options, Host: probe.Server.Endpoint.Address,
		Client: probe.Client.Endpoint, Server: probe.Server.Endpoint, Trial: probe.Trial,
	}, agent.Hooks{Progress: func(measure.Progress) {}})
	if limited.Err() != nil {
		return nil, false
	}
	return r.Error, true
}

// unopened reports whether a trial failed because its connection could not be opened.
func unopened(e *measure.Error) bool {
	return e != nil && slices.Contains([]string{"dial.refused", "dial.no_answer", "dial.no_route", "dial.forbidden"}, e.Code)
}

// exchanged is a job whose server opens the connection to its client. Its bytes go the same way. Options of the client's
// sockets are those of another host, and left out.
func exchanged(j schedule.Job) schedule.Job {
	o := &j.Options
	o.Bind, o.Device, o.Port = "", "", 0
	if j.Server.Endpoint.Label != "" {
		o.Bind = j.Server.Endpoint.Address
	}
	switch o.Direction {
	case measure.Reverse:
		o.Direction = measure.Forward
	case measure.Forward, "":
		if j.Test == measure.TestTCP || j.Test == measure.TestUDP {
			o.Direction = measure.Reverse
		}
	}
	j.Client, j.Server = j.Server, j.Client
	return j
}

// reversible reports whether a trial shows the same if its server opens the connection.
func reversible(j schedule.Job) bool {
	switch j.Test {
	case measure.TestTCP, measure.TestUDP:
		return j.Options.Direction != measure.Bidirectional // its directions would be exchanged
	case measure.TestLatency:
		return true // there and back
	}
	return false
}

// paired runs a trial between two agents the way in which they reach each other.
type paired struct {
	agents *agents
	job    schedule.Job
}

// Run implements [agent.Place]. Where the way is not known, as of a campaign that goes on after its hub was restarted, it is
// tried before.
func (p paired) Run(ctx context.Context, s agent.Spec, h agent.Hooks) *measure.Result {
	found, known := p.agents.ways.get(p.job.Endpoints())
	if !known && s.Result != "" {
		found, _ = p.agents.find(ctx, schedule.ProbeOf(p.job)) // another failure is that of the trial
	}
	switch {
	case found.blocked != nil:
		return s.NotRun(p.agents.now(), found.blocked)
	case !found.reversed:
		return p.agents.direct(p.job, nil).Run(ctx, s, h)
	case !reversible(p.job):
		return s.NotRun(p.agents.now(), measure.Fail(measure.KindUnreachable, "campaign.one_way", measure.Figures{
			"client": p.job.Client.Reference(), "server": p.job.Server.Reference(), "test": p.job.Test,
		}))
	}
	j := exchanged(p.job)
	s.Options, s.Client, s.Server, s.Host, s.Baselines = j.Options, j.Client.Endpoint, j.Server.Endpoint, j.Server.Endpoint.Address, nil
	planned, _ := p.agents.plan.Endpoints.Get(j.Server.Endpoint.Name)
	s.Options.Port = cmp.Or(planned.Port, s.Options.Port)
	r := p.agents.direct(j, nil).Run(ctx, s, h)
	r.Findings.Add(finding.ConnectionReversed, "", measure.Figures{"client": p.job.Client.Reference(), "server": p.job.Server.Reference()})
	return r
}
