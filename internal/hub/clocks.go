package hub

import (
	"context"
	"time"

	"soku/internal/agent"
)

const (
	clockEvery   = time.Minute // between two comparisons of one clock
	clocksAtOnce = 32          // comparisons that run simultaneously
)

// compareClocks has the clocks compared whose comparison is old. How many is bounded; the others' turn comes later.
func (r *Registry) compareClocks(now time.Time) {
	r.mu.Lock()
	var due []string
	for id, k := range r.agents {
		if len(due) == clocksAtOnce {
			break
		}
		if k.as(now, r.hub.cfg.Silence).State == Connected && now.Sub(k.ClockAt) >= clockEvery {
			k.ClockAt = now // one that fails is compared again a while later
			due = append(due, id)
		}
	}
	r.mu.Unlock()
	for _, id := range due {
		r.hub.goSafely(func() { r.compareClock(id) })
	}
}

// compareClock compares the clock of an agent by the shortest of several round trips.
func (h *Hub) compareClock(ctx context.Context, id string) (agent.Clock, error) {
	return agent.CompareClocks(func() (int64, error) {
		beat, err := h.Ask(ctx, id)
		return beat.UnixNs, err
	})
}

// compareClock takes note of the clock of an agent.
func (r *Registry) compareClock(id string) {
	clock, err := r.hub.compareClock(r.hub.ctx, id)
	if err != nil {
		r.hub.cfg.Log.Debug("a clock was not compared", "agent", id, "cause", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.agents[id]; k != nil {
		k.Clock, k.ClockAt = clock, time.Now()
		r.changed(k)
	}
}
