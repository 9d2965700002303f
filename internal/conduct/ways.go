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
	address  string         // of the end that is reached, if the plan does not say it; empty: not known
	first    *noAnswer      // of another address of that end, which was tried before; nil: there is none
}

// noAnswer is an address by which an agent is not reached.
type noAnswer struct {
	address string
	why     *measure.Error
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

func (w *ways) forget(pair schedule.EndpointPair) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.of, pair)
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
	wayTimeout  = 15 * time.Second                  // with all addresses
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
	found, there, ended := a.open(ctx, probe)
	if !unopened(there) {
		if ended && there == nil {
			a.ways.set(probe.Endpoints(), found)
		}
		return way{}, asError(there)
	}
	found, back, ended := a.open(ctx, exchanged(probe))
	found.reversed = true
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

// addresses are those by which a trial's client may reach its server, the best first: the one of the plan, or those that its agent
// announces. They are never none: "" is the one that the server's agent has when the trial begins.
func (a *agents) addresses(j schedule.Job) []string {
	if j.Server.Endpoint.Address != "" || j.Server.Endpoint.Label != "" {
		return []string{j.Server.Endpoint.Address}
	}
	all, err := a.of.Addresses(j.Client.Agent, j.Server.Agent)
	if err != nil || len(all) == 0 {
		return []string{""} // the trial fails and says why
	}
	return all
}

// open tries addresses of a probe's server in turn until one answers. The failure is that of the first.
func (a *agents) open(ctx context.Context, probe schedule.Job) (found way, failure *measure.Error, ended bool) {
	all := a.addresses(probe)
	probe.Options.ConnectTimeout = min(cmp.Or(probe.Options.ConnectTimeout, openTimeout), openTimeout, measure.Duration(wayTimeout*4/5)/measure.Duration(len(all)))
	limited, cancel := context.WithTimeout(ctx, wayTimeout)
	defer cancel()
	for i, address := range all {
		probe.Server.Endpoint.Address = address
		e, ended := a.try(limited, probe)
		switch {
		case i > 0 && (!ended || agent.Lost(e)):
			return way{}, failure, true
		case !ended || agent.Lost(e):
			return way{}, e, ended
		case e == nil && i == 0:
			return way{address: address}, nil, true
		case e == nil:
			return way{address: address, first: &noAnswer{all[0], failure}}, nil, true
		case i == 0:
			failure = e
		}
	}
	return way{}, failure, true
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
	r := a.direct(probe, nil).Run(ctx, agent.Spec{
		Schema: agent.Schema, Test: probe.Test, Options: probe.Options, Host: probe.Server.Endpoint.Address,
		Client: probe.Client.Endpoint, Server: probe.Server.Endpoint, Trial: probe.Trial,
	}, agent.Hooks{Progress: func(measure.Progress) {}})
	if ended = ctx.Err() == nil; !ended {
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

// reversible reports whether a trial shows the same if its server opens the connection. Connections per second from one end are not
// those from the other, a copy has one source, and with both directions the result would have each under the other's name.
func reversible(j schedule.Job) bool {
	switch j.Test {
	case measure.TestTCP, measure.TestUDP:
		return j.Options.Direction != measure.Bidirectional
	case measure.TestLatency:
		return true // there and back
	}
	return false
}

// oneWay is the failure of a test between the ends of a job that only the server opens a connection between.
func oneWay(j schedule.Job, test measure.Test) *measure.Error {
	return measure.Fail(measure.KindUnreachable, "campaign.one_way", measure.Figures{"client": j.Client.Reference(), "server": j.Server.Reference(), "test": test})
}

// paired runs a trial between two agents the way in which they reach each other.
type paired struct {
	agents *agents
	job    schedule.Job
}

// Run implements [agent.Place]. Where the way is not known, as of a campaign that goes on after its hub was restarted, it is
// tried before.
func (p paired) Run(ctx context.Context, s agent.Spec, h agent.Hooks) *measure.Result {
	if p.job.Former {
		return p.takeOver(ctx, s, h)
	}
	found := p.agents.current(p.job)
	if found == nil && s.Result != "" {
		tried, _ := p.agents.find(ctx, schedule.ProbeOf(p.job)) // another failure is that of the trial
		found = &tried
	}
	switch {
	case found == nil:
		return p.agents.direct(p.job, nil).Run(ctx, s, h)
	case found.blocked != nil:
		return s.NotRun(p.agents.now(), found.blocked)
	case found.reversed && !reversible(p.job):
		return s.NotRun(p.agents.now(), oneWay(p.job, p.job.Test))
	}
	j := p.job
	if found.reversed {
		j, s = p.exchange(s)
	}
	s.Server.Address = cmp.Or(j.Server.Endpoint.Address, found.address)
	s.Host = s.Server.Address
	r := p.agents.direct(j, nil).Run(ctx, s, h)
	if found.reversed {
		p.addReversed(r)
	}
	if found.first != nil {
		r.Findings.Add(finding.OtherAddress, "", measure.Figures{"server": j.Server.Reference(), "address": found.address, "first": found.first.address})
	}
	return r
}

// takeOver awaits a trial that a hub before this one began, on the agent that opened its connection. No way is tried before, because its
// hosts may still measure.
func (p paired) takeOver(ctx context.Context, s agent.Spec, h agent.Hooks) *measure.Result {
	r := p.agents.direct(p.job, nil).Run(ctx, s, h)
	if !agent.Unknown(r.Error) || !reversible(p.job) {
		return r
	}
	j, s := p.exchange(s)
	back := p.agents.direct(j, nil).Run(ctx, s, h)
	if agent.Unknown(back.Error) {
		return r
	}
	p.addReversed(back)
	return back
}

// exchange is the job and its trial with the connection opened by the server.
func (p paired) exchange(s agent.Spec) (schedule.Job, agent.Spec) {
	j := exchanged(p.job)
	s.Options, s.Client, s.Server, s.Baselines = j.Options, j.Client.Endpoint, j.Server.Endpoint, nil
	planned, _ := p.agents.plan.Endpoints.Get(j.Server.Endpoint.Name)
	s.Options.Port = cmp.Or(planned.Port, s.Options.Port)
	return j, s
}

func (p paired) addReversed(r *measure.Result) {
	r.Findings.Add(finding.ConnectionReversed, "", measure.Figures{"client": p.job.Client.Reference(), "server": p.job.Server.Reference()})
}

// current is how the ends of a job reach each other, or nil if that is not known. One with an address that its agent no longer has
// is forgotten.
func (a *agents) current(j schedule.Job) *way {
	found, known := a.ways.get(j.Endpoints())
	if !known {
		return nil
	}
	reached := j
	if found.reversed {
		reached = exchanged(j)
	}
	if found.address != "" && !slices.Contains(a.addresses(reached), found.address) {
		a.ways.forget(j.Endpoints())
		return nil
	}
	return &found
}
