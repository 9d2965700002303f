package hub_test

import (
	"context"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/fleet"
	"soku/internal/hub"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/memory"
)

// former is a hub that takes the trial r1 of the first agent over.
func (b *broker) former(results store.Store) *hub.Hub {
	return b.hub(func(c *hub.Config) {
		all(c)
		c.Store = results
		c.Claimed = func(agent, result string) bool { return agent == identity(1) && result == "r1" }
	})
}

func takeOver(ctx context.Context, h *hub.Hub) *measure.Result {
	s := spec()
	s.Result = "r1"
	return h.Place(identity(1), hub.PlaceOptions{Patience: time.Minute, Deferred: true, Former: true}).Run(ctx, s, agent.Hooks{})
}

func TestATrialThatRunsIsTakenOver(t *testing.T) {
	b := newBroker(t)
	first := b.hub(nil)
	begun, end := make(chan *running, 2), make(chan struct{})
	one := b.host(1, func(h *host) {
		h.trial = func(r *running) {
			begun <- r
			<-end
			h.mu.Lock()
			h.spooled = []string{"r1"} // before it no longer runs, as of an agent: an order that comes now begins nothing
			h.mu.Unlock()
			r.report(fleet.TrialReport{Progress: &measure.Progress{}})
		}
	})
	go first.Place(one.id, hub.PlaceOptions{}).Run(context.Background(), orderedSpec("r1"), agent.Hooks{})
	r := receive(t, begun)
	first.Close()
	results := memory.New()
	h := b.former(results)
	got := make(chan *measure.Result, 1)
	go func() { got <- takeOver(context.Background(), h) }()
	one.hello()
	close(end)
	receipt := make(chan fleet.Receipt, 1)
	go func() { receipt <- one.deliver(r.result()) }()
	taken := receive(t, got)
	if taken.Error != nil || taken.ID != "r1" || len(taken.Findings) > 0 || len(begun) > 0 {
		t.Errorf("%+v, begun again %d times", taken, len(begun))
	}
	if err := h.Store().Put(t.Context(), taken); err != nil {
		t.Error(err)
	}
	if got := receive(t, receipt); !got.Kept {
		t.Errorf("%+v", got)
	}
}

func orderedSpec(id string) agent.Spec {
	s := spec()
	s.Result = id
	return s
}

func TestADocumentIsLeftAtItsAgentUntilItsTrialIsTakenOver(t *testing.T) {
	b := newBroker(t)
	results := memory.New()
	h := b.former(results)
	one := b.host(1, func(h *host) { h.spooled = []string{"r1"}; h.trial = func(*running) {} })
	receipt := make(chan fleet.Receipt, 1)
	go func() { receipt <- one.deliver(ordered("r1")) }()
	if got := receive(t, receipt); got.Kept || got.Error == nil || got.Error.Code != "hub.result.deferred" {
		t.Errorf("before: %+v", got)
	}
	go func() { receipt <- one.deliver(ordered("r1")) }()
	r := takeOver(t.Context(), h)
	if r.Error != nil || len(r.Findings) > 0 {
		t.Errorf("%+v", r)
	}
	if missing, _ := results.Missing(t.Context(), []string{"r1"}); len(missing) != 1 {
		t.Error("it is in the store before its campaign has kept it")
	}
	if err := h.Store().Put(t.Context(), r); err != nil {
		t.Error(err)
	}
	if got := receive(t, receipt); !got.Kept {
		t.Errorf("%+v", got)
	}
}

// The disk of a campaign's journal was full for a time: the same hub goes on with it.
func TestAHubTakesItsOwnTrialOver(t *testing.T) {
	b := newBroker(t)
	h := b.hub(nil)
	receipts := make(chan fleet.Receipt, 2)
	one := b.host(1, func(h *host) {
		h.trial = func(r *running) {
			h.mu.Lock()
			h.spooled = []string{"r1"}
			h.mu.Unlock()
			receipts <- h.deliver(r.result())
		}
	})
	if r := h.Place(one.id, hub.PlaceOptions{Deferred: true}).Run(t.Context(), orderedSpec("r1"), agent.Hooks{}); r.Error != nil {
		t.Fatal(r.Error)
	}
	if got := receive(t, receipts); got.Kept {
		t.Error("its campaign has not kept it")
	}
	watcher := h.Agents.Watch()
	defer watcher.Stop()
	until(t, "a beat after its end", watcher, func() bool {
		all, err := h.Agents.List("")
		return err == nil && len(all) == 1 && len(all[0].Beat.Running) == 0 && all[0].Beat.Spooled == 1
	})
	taken := make(chan *measure.Result, 1)
	go func() { taken <- takeOver(context.Background(), h) }()
	for one.orderCount() < 2 {
		select {
		case r := <-taken:
			t.Fatalf("it is not ordered: %+v", r.Error)
		case <-time.After(time.Millisecond): // the order has no event
		}
	}
	go func() { receipts <- one.deliver(document(orderedSpec("r1"))) }() // as its agent does when it is ordered again
	r := receive(t, taken)
	if r.Error != nil || r.Summary.GoodputBps != 1e9 {
		t.Errorf("%+v", r.Error)
	}
	if err := h.Store().Put(t.Context(), r); err != nil {
		t.Error(err)
	}
	if got := receive(t, receipts); !got.Kept {
		t.Errorf("%+v", got)
	}
}

func TestAResultIsTakenFromTheAgentThatMeasuredItAlsoAfterAnotherWasAsked(t *testing.T) {
	b := newBroker(t)
	h := b.hub(nil)
	one, two := b.host(1, nil), b.host(2, nil)
	for _, each := range []*host{one, two} {
		r := h.Place(each.id, hub.PlaceOptions{Deferred: true, Former: true}).Run(t.Context(), orderedSpec("r1"), agent.Hooks{})
		if !agent.Unknown(r.Error) {
			t.Errorf("%+v", r.Error)
		}
	}
	if got := one.deliver(document(orderedSpec("r1"))); !got.Kept {
		t.Errorf("%+v", got)
	}
}

func TestATrialThatItsAgentDoesNotKnowIsLost(t *testing.T) {
	b := newBroker(t)
	h := b.former(memory.New())
	one := b.host(1, func(h *host) { h.trial = measures })
	if r := takeOver(t.Context(), h); !agent.Lost(r.Error) || r.Error.Figures["why"] != "dropped" || one.orders > 0 {
		t.Errorf("%+v, %d orders", r.Error, one.orders)
	}
}

func TestATrialThatFailedWhileNoHubWatchedIsLost(t *testing.T) {
	b := newBroker(t)
	h := b.former(memory.New())
	one := b.host(1, func(h *host) { h.spooled = []string{"r1"}; h.trial = func(*running) {} })
	receipt := make(chan fleet.Receipt, 1)
	failed := ordered("r1")
	failed.Error = measure.Fail(measure.KindBroken, "native.closed", nil)
	go func() { receipt <- one.deliver(failed) }()
	if r := takeOver(t.Context(), h); !agent.Lost(r.Error) || r.Error.Figures["why"] != "unwatched" {
		t.Errorf("%+v", r.Error)
	}
	if got := receive(t, receipt); !got.Kept {
		t.Errorf("it is not wanted: %+v", got)
	}
}

func TestAFormerTrialOfAGroupIsStopped(t *testing.T) {
	b := newBroker(t)
	begun, ended := make(chan *running, 1), make(chan *measure.Error, 1)
	h := b.former(memory.New())
	one := b.host(1, func(h *host) {
		h.trial = func(r *running) { begun <- r; ended <- <-r.ended }
	})
	one.order(orderedSpec("r1"))
	receive(t, begun)
	stopped, stop := context.WithCancelCause(t.Context())
	stop(measure.Fail(measure.KindInterrupted, "campaign.group_left", nil))
	got := make(chan *measure.Result, 1)
	go func() { got <- takeOver(stopped, h) }()
	if why := receive(t, ended); why == nil || why.Code != "campaign.group_left" {
		t.Errorf("%+v", why)
	}
	failed := ordered("r1")
	failed.Error = measure.Fail(measure.KindInterrupted, "campaign.group_left", nil)
	if got := one.deliver(failed); !got.Kept {
		t.Errorf("%+v", got)
	}
	receive(t, got)
}
