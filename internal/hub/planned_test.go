package hub_test

import (
	"slices"
	"testing"
	"time"

	"soku/internal/campaign/plan"
	"soku/internal/fleet"
	"soku/internal/hub"
	"soku/internal/measure"
)

func TestWhatKeepsAPlanFromRunningIsFound(t *testing.T) {
	b := newBroker(t)
	h := b.hub(nil)
	b.host(1, func(h *host) { h.name = "free" })
	b.host(2, func(h *host) { h.name, h.policy = "limited", fleet.Policy{Duration: measure.Duration(5 * time.Second)} })
	b.host(3, func(h *host) { h.name, h.policy = "picky", fleet.Policy{Tests: []measure.Test{measure.TestLatency}} })
	gone := b.host(4, func(h *host) { h.name = "gone" })
	watcher := h.Agents.Watch()
	defer watcher.Stop()
	gone.close()
	for a, _ := h.Agents.Find("gone"); a.State == hub.Connected; a, _ = h.Agents.Find("gone") {
		<-watcher.C
	}
	p, err := plan.Parse("plan.yaml", []byte(`campaign: c
endpoints: {a: {agent: free}, b: {agent: limited}, c: {agent: picky}, d: {agent: gone}, e: {agent: missing}}
pairs: {list: [[a, b], [b, a], [c, a], [d, a], [a, d], [a, e]]}
tests: {up: {test: tcp, duration: 10s}, rtt: {test: latency, count: 5}}
rounds: 1
`))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range h.Campaigns().Check(p) {
		text := e.Code
		for _, key := range []string{"agent", "label"} {
			if v, has := e.Figures[key].(string); has {
				text += " " + v
			}
		}
		if e.Cause != nil {
			text += ": " + e.Cause.Code
		}
		found = append(found, text)
	}
	slices.Sort(found)
	if want := []string{
		"hub.agent.unknown missing", "hub.plan.agent_away gone", "hub.plan.not_allowed limited up: daemon.policy.duration", "hub.plan.not_allowed picky up: daemon.policy.test",
	}; !slices.Equal(found, want) {
		t.Errorf("%q", found)
	}
}
