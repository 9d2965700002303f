package hub

import (
	"context"
	"slices"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign/plan"
	"soku/internal/fleet"
	"soku/internal/fleet/endpoint"
	"soku/internal/measure"
	"soku/internal/printable"
)

// Campaigns is a hub's agents as campaigns use them: it implements conduct.Agents. Names are those that [Registry.Find] knows.
// Campaigns must have [Hub.Store] as their store.
type Campaigns struct{ hub *Hub }

// Campaigns returns the agents of the hub for campaigns.
func (h *Hub) Campaigns() Campaigns { return Campaigns{h} }

// Place is a deferred place: see [PlaceOptions].
func (c Campaigns) Place(name, server string, patience time.Duration, former bool) agent.Place {
	a, err := c.hub.Agents.Find(name)
	if err != nil {
		return nowhere{err}
	}
	s, _ := c.hub.Agents.Find(server) // without one the trial fails and says so
	return c.hub.Place(a.ID, PlaceOptions{Patience: patience, Server: s.ID, Deferred: true, Former: former})
}

// nowhere is a place that cannot be used.
type nowhere struct{ why error }

func (n nowhere) Run(_ context.Context, s agent.Spec, _ agent.Hooks) *measure.Result {
	return s.NotRun(time.Now(), n.why)
}

// mostLabels is how many labels an error lists.
const mostLabels = 20

// ByLabel is the agents that have all labels of a condition such as zone=west,os=linux, also those that are away: a host that is missing
// is to be noticed. Agents that are revoked or cloned are left out. An error has kind not_found if there is none, or is that of [Registry.List].
func (c Campaigns) ByLabel(_, condition string) (out []plan.LabelledAgent, err error) {
	all, err := c.hub.Agents.List("")
	if err != nil {
		return nil, err
	}
	matching, err := c.hub.Agents.List(condition)
	if err != nil && measure.KindOf(err) != measure.KindNotFound {
		return nil, err
	}
	for _, a := range matching {
		if a.State == Connected || a.State == Away {
			out = append(out, plan.LabelledAgent{Name: a.Name, ID: a.ID})
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	var labels []string
	for _, a := range all {
		for key, value := range a.Labels {
			labels = append(labels, printable.Cut(key+"="+value, 100))
		}
	}
	slices.Sort(labels)
	labels = slices.Compact(labels)
	more := max(0, len(labels)-mostLabels)
	return nil, measure.Fail(measure.KindNotFound, "hub.agent.no_label", measure.Figures{"selected": condition, "labels": labels[:len(labels)-more], "more": more})
}

// Serve is [Hub.Serve].
func (c Campaigns) Serve(ctx context.Context, name string, s endpoint.Server) (at endpoint.Listening, end func(), err error) {
	a, err := c.hub.Agents.Find(name)
	if err != nil {
		return at, nil, err
	}
	return c.hub.Serve(ctx, a.ID, s)
}

// MayCommand is the refusal of the owner of an agent, or nil.
func (c Campaigns) MayCommand(name string) error {
	a, err := c.hub.Agents.Find(name)
	if err == nil && a.Hello.Version > 0 && !a.Hello.Policy.Commands {
		err = measure.Fail(measure.KindRefused, "hub.agent.no_commands", measure.Figures{"agent": a.Name})
	}
	return err
}

// Command is [Hub.RunCommand].
func (c Campaigns) Command(ctx context.Context, name string, command fleet.Command, patience time.Duration) ([]byte, error) {
	a, err := c.hub.Agents.Find(name)
	if err != nil {
		return nil, err
	}
	return c.hub.RunCommand(ctx, a.ID, command, patience)
}

// Reserve reserves agents for a campaign, shared with no other.
func (c Campaigns) Reserve(ctx context.Context, campaign string, names []string) (release func(), err error) {
	var ids []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if a, err := c.hub.Agents.Find(name); err == nil {
			ids = append(ids, a.ID)
		}
	}
	return c.hub.Hosts.Reserve(ctx, campaign, ids, false)
}
