package hub

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"soku/internal/agent"
	"soku/internal/fleet"
	"soku/internal/measure"
)

// State is what a hub knows of the connection of an agent.
type State string

// The states.
const (
	Connected State = "connected" // heard within the silence of the hub
	Away      State = "away"      // not heard for longer
	Revoked   State = "revoked"   // not wanted any more
	Cloned    State = "cloned"    // two processes with its key were heard within the silence
)

// Agent is a snapshot of an agent.
type Agent struct {
	ID     string // identity
	Name   string // for people; not unique. The beginning of the identity if the agent has none
	State  State
	Error  *measure.Error // why it is revoked or cloned
	Labels map[string]string
	Hello  fleet.Hello // as it connected last: version, platform, addresses, policy
	Beat   fleet.Beat  // the last: what runs, what is spooled
	Heard  time.Time   // when something came from it last

	Clock   agent.Clock // compared with that of the hub
	ClockAt time.Time   // when it was compared; zero: never
}

// Registry is the agents that a hub knows. Its methods may be called by several goroutines.
type Registry struct {
	hub *Hub

	mu       sync.Mutex
	agents   map[string]*known
	watchers map[*Watcher]bool
}

// known is what the registry keeps of an agent. The registry's mutex guards it.
type known struct {
	Agent
	instance string               // the current one: the process that was heard first last
	seen     map[string]time.Time // instances that were heard within the silence, and when last
	shown    State                // as the watchers know it
}

// maxInstances bounds the instances that one agent may claim within the silence.
const maxInstances = 8

// maxAgents bounds what a broker without admission could have a hub keep.
const maxAgents = 100_000

func newRegistry(h *Hub) *Registry {
	return &Registry{hub: h, agents: map[string]*known{}, watchers: map[*Watcher]bool{}}
}

// enter returns the agent of an identity, a new one if it is not known, or nil if there are too many.
func (r *Registry) enter(id string) *known {
	k := r.agents[id]
	if k == nil && len(r.agents) < maxAgents {
		k = &known{Agent: Agent{ID: id, State: Connected}, seen: map[string]time.Time{}}
		r.agents[id] = k
	}
	return k
}

// Know takes note of an agent that was admitted before this hub started, and was heard then: it is away until it is heard.
func (r *Registry) Know(id, name string, labels map[string]string, heard time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.enter(id); k != nil && k.Name == "" {
		k.Name, k.Labels, k.Heard, k.State = cmp.Or(name, shortID(id)), labels, heard, Away
		r.changed(k)
	}
}

// heard takes note of a message of an instance, and returns why the agent is to leave, if it is.
//
// An instance that was not known takes the place of the current one: a process that was started again. If
// the one before speaks again while the current one speaks, too, both run: they are a clone.
func (k *known) heard(instance string, now time.Time, silence time.Duration) *measure.Error {
	maps.DeleteFunc(k.seen, func(_ string, last time.Time) bool { return now.Sub(last) >= silence })
	_, before := k.seen[instance]
	_, current := k.seen[k.instance]
	switch {
	case k.State == Revoked:
	case before && instance != k.instance && current:
		if k.State != Cloned {
			k.State, k.Error = Cloned, measure.Fail(measure.KindRefused, "hub.agent.cloned", measure.Figures{"agent": k.Name})
		}
	case instance != k.instance:
		k.instance, k.State, k.Error = instance, Connected, nil
	case k.State == Away, k.State == Cloned && len(k.seen) <= 1: // the others have gone
		k.State, k.Error = Connected, nil
	}
	if !before && len(k.seen) >= maxInstances {
		clear(k.seen)
	}
	k.seen[instance], k.Heard = now, now
	if k.State == Cloned || k.State == Revoked {
		return k.Error
	}
	return nil
}

// as is the agent at a moment: one that was not heard for the silence is away.
func (k *known) as(now time.Time, silence time.Duration) Agent {
	a := k.Agent
	if a.State == Connected && now.Sub(a.Heard) >= silence {
		a.State = Away
	}
	return a
}

// List is the agents that an expression selects, sorted by name and then by identity: all for an empty one;
// with = the labels that an agent has, such as zone=west,os=linux; else the one of [Registry.Find]. An
// error has kind not_found if there is none, or is that of Find.
func (r *Registry) List(expression string) ([]Agent, error) {
	if expression != "" && !strings.Contains(expression, "=") {
		a, err := r.Find(expression)
		if err != nil {
			return nil, err
		}
		return []Agent{a}, nil
	}
	want := map[string]string{}
	for part := range strings.SplitSeq(expression, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if expression != "" && (!ok || key == "") {
			return nil, measure.Fail(measure.KindUsage, "hub.agent.expression", measure.Figures{"expression": expression})
		}
		if key != "" {
			want[key] = value
		}
	}
	out := r.snapshot(func(a *Agent) bool {
		for key, value := range want {
			if got, has := a.Labels[key]; !has || got != value {
				return false
			}
		}
		return true
	})
	if len(out) == 0 && expression != "" {
		return nil, measure.Fail(measure.KindNotFound, "hub.agent.unknown", measure.Figures{"agent": expression})
	}
	return out, nil
}

// Find is the agent of an identity, of a name, or of the beginning of an identity. An error has kind not_found, or
// usage if there are several, which it lists.
func (r *Registry) Find(text string) (Agent, error) {
	for _, is := range []func(a *Agent) bool{
		func(a *Agent) bool { return a.ID == text },
		func(a *Agent) bool { return a.Name == text },
		func(a *Agent) bool { return text != "" && strings.HasPrefix(a.ID, text) },
	} {
		switch found := r.snapshot(is); {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			all := make([]string, len(found))
			for i, a := range found {
				all[i] = a.Name + " " + a.ID
			}
			return Agent{}, measure.Fail(measure.KindUsage, "hub.agent.ambiguous", measure.Figures{"agent": text, "agents": all})
		}
	}
	return Agent{}, measure.Fail(measure.KindNotFound, "hub.agent.unknown", measure.Figures{"agent": text})
}

func (r *Registry) snapshot(is func(*Agent) bool) []Agent {
	now, silence := time.Now(), r.hub.cfg.Silence
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Agent
	for _, k := range r.agents {
		if is(&k.Agent) {
			out = append(out, k.as(now, silence))
		}
	}
	slices.SortFunc(out, byName)
	return out
}

func byName(a, b Agent) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
}

// get is the agent of an identity, and its current instance.
func (r *Registry) get(id string) (a Agent, instance string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.agents[id]
	if k == nil {
		return Agent{}, "", false
	}
	return k.as(time.Now(), r.hub.cfg.Silence), k.instance, true
}

// name is what people call an agent.
func (r *Registry) name(id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.agents[id]; k != nil {
		return k.Name
	}
	return shortID(id)
}

// shortID is the beginning of an identity.
func shortID(id string) string { return id[:min(len(id), 12)] }

// Revoke has the hub want an agent no more: it is told to leave, and its trials are lost. The broker must
// refuse it, too.
func (r *Registry) Revoke(id string, why *measure.Error) {
	r.mu.Lock()
	if k := r.enter(id); k != nil {
		k.State, k.Error, k.Name = Revoked, why, cmp.Or(k.Name, shortID(id))
		r.changed(k)
	}
	r.mu.Unlock()
	r.leave(id, why)
}

// Readmit lets an agent come again that was revoked.
func (r *Registry) Readmit(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.agents[id]; k != nil && k.State == Revoked {
		k.State, k.Error = Away, nil
		r.changed(k)
	}
}

// leave tells all instances of an agent to leave. Their subject is one, so that each hears it.
func (r *Registry) leave(id string, why *measure.Error) {
	h := r.hub
	h.goSafely(func() {
		if err := h.Leave(h.ctx, id, why); err != nil {
			h.cfg.Log.Warn("an agent was not told to leave", "agent", id, "cause", err)
		}
	})
}
