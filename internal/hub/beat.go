package hub

import (
	"cmp"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/fleet"
	"soku/internal/measure"
)

// leaveEvery is how often an agent that is not wanted is told so.
const leaveEvery = time.Second

// hello takes note of an agent that has connected, and answers it.
func (h *Hub) hello(agent string, m *nats.Msg) {
	hello, err := fleet.Decode[fleet.Hello](m.Data, fleet.MaxState)
	if err != nil {
		h.cfg.Log.Warn("a hello cannot be read", "agent", agent, "cause", err)
		return
	}
	var unwanted *measure.Error
	if h.cfg.Admitted != nil {
		unwanted = h.cfg.Admitted(agent)
	}
	if unwanted != nil && unwanted.Kind != measure.KindRefused && unwanted.Kind != measure.KindNotFound {
		h.cfg.Log.Warn("whether an agent is admitted is not known", "agent", agent, "cause", unwanted)
		return // it says hello again
	}
	var labels map[string]string
	if h.cfg.Labels != nil {
		labels = h.cfg.Labels(agent)
	}
	r := h.Agents
	r.mu.Lock()
	k := r.enter(agent)
	if k == nil {
		r.mu.Unlock()
		h.cfg.Log.Warn("there are too many agents", "agent", agent, "limit", maxAgents)
		return
	}
	k.Name, k.Labels, k.Hello = cmp.Or(hello.Name, shortID(agent)), labels, hello
	if unwanted != nil {
		k.State, k.Error = Revoked, unwanted
	}
	why := k.heard(hello.Instance, time.Now(), h.cfg.Silence)
	k.Beat = fleet.Beat{Instance: hello.Instance, UnixNs: hello.UnixNs, Running: hello.Running, Spooled: len(hello.Spooled)}
	k.ClockAt = time.Time{}
	r.changed(k)
	r.mu.Unlock()
	h.reply(agent, m, fleet.Welcome{
		Version: fleet.Version, Program: h.cfg.Version, Hub: h.cfg.Identity, UnixNs: time.Now().UnixNano(),
		BeatNs: (h.cfg.Silence / 3).Nanoseconds(), Error: why,
	})
	if why != nil {
		r.leave(agent, why)
	}
}

// beat takes note of the state of an agent.
func (h *Hub) beat(agent string, m *nats.Msg) {
	beat, err := fleet.Decode[fleet.Beat](m.Data, fleet.MaxState)
	if err != nil {
		h.cfg.Log.Warn("a beat cannot be read", "agent", agent, "cause", err)
		return
	}
	r := h.Agents
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.enter(agent)
	if k == nil {
		return
	}
	before, told := k.shown, k.Heard
	why := k.heard(beat.Instance, time.Now(), h.cfg.Silence)
	k.Name = cmp.Or(k.Name, shortID(agent)) // the hub was started after its hello
	if k.State != before || !slices.Equal(k.Beat.Running, beat.Running) || k.Beat.Spooled != beat.Spooled || k.Beat.Full != beat.Full {
		defer r.changed(k)
	}
	k.Beat = beat
	if why != nil && (k.State != before || time.Since(told) >= leaveEvery) {
		r.leave(agent, why)
	}
}

// watch reports agents that have gone silent, forgets those that never came again, and has clocks compared.
func (r *Registry) watch() {
	tick := time.NewTicker(max(r.hub.cfg.Silence/10, 10*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-r.hub.ctx.Done():
			return
		case <-tick.C:
			r.sweep(time.Now())
			r.compareClocks(time.Now())
		}
	}
}

func (r *Registry) sweep(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, k := range r.agents {
		if k.as(now, r.hub.cfg.Silence).State != k.shown {
			r.changed(k)
		}
		if now.Sub(k.Heard) > fleet.Forget && k.State != Revoked {
			delete(r.agents, id)
		}
	}
}
