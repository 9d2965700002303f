package hub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/agent"
	"soku/internal/fleet"
	"soku/internal/fleet/endpoint"
	"soku/internal/hub"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/store"
	"soku/internal/store/memory"
)

// measures is a host that runs each trial to its end.
func measures(r *running) {
	r.report(fleet.TrialReport{Ready: true})
	select {
	case <-r.start:
	case <-r.ended:
		return
	}
	r.report(fleet.TrialReport{Started: true, StartDelayNs: 1000})
	r.report(fleet.TrialReport{Progress: &measure.Progress{}})
	r.report(fleet.TrialReport{Ended: true})
	if got := r.host.deliver(r.result()); !got.Kept {
		r.host.t.Errorf("%+v", got)
	}
}

func TestATrialRunsOnAnAgent(t *testing.T) {
	b := newBroker(t)
	results := memory.New()
	h := b.hub(func(c *hub.Config) { c.Store = results })
	one := b.host(1, func(h *host) { h.trial = measures })
	var events []string
	var begin, started time.Time
	var uncertain time.Duration
	r := h.Place(one.id, hub.PlaceOptions{}).Run(t.Context(), spec(), agent.Hooks{
		Ready: func(context.Context, time.Duration) (time.Time, error) {
			begin = time.Now()
			events = append(events, "ready")
			return time.Time{}, nil
		},
		Started:  func(at time.Time, u time.Duration) { started, uncertain = at, u; events = append(events, "started") },
		Progress: func(measure.Progress) { events = append(events, "progress") },
	})
	if r.Error != nil || r.Summary.GoodputBps != 1e9 || r.Trial.Campaign != "c" {
		t.Errorf("%+v", r)
	}
	if !slices.Equal(events, []string{"ready", "progress", "started"}) {
		t.Error(events)
	}
	if started.Add(uncertain).Before(begin) || started.Add(-uncertain).After(time.Now()) || uncertain <= 0 {
		t.Errorf("started %v after ready ± %v", started.Sub(begin), uncertain)
	}
	if got := stored(t, results, r.ID); len(got.Findings) != 0 {
		t.Error(got.Findings)
	}
}

// A campaign orders a trial again while its server does not answer. Until it keeps one, the results have one identity.
func TestATrialThatItsCampaignOrdersAgainRunsAgain(t *testing.T) {
	b := newBroker(t)
	h := b.hub(nil)
	refused := measure.Fail(measure.KindUnreachable, "dial.refused", measure.Figures{"address": "10.0.0.2:7658"})
	late := make(chan fleet.Receipt, 1)
	var first []byte
	one := b.host(1, func(h *host) {
		h.trial = func(r *running) {
			d := r.result()
			if first == nil {
				d.Error = refused
				first = pack(encoded(d))
				h.mu.Lock()
				h.spooled, h.document = []string{d.ID}, sum(first)
				h.mu.Unlock()
				late <- h.deliverBytes(d.ID, first)
				return
			}
			if got := h.deliverBytes(d.ID, first); got.Error == nil || got.Error.Code != "hub.result.deferred" { // it was on its way
				t.Errorf("%+v", got)
			}
			late <- h.deliver(d)
		}
	})
	s := spec()
	s.Result = "r1"
	place := h.Place(one.id, hub.PlaceOptions{Deferred: true})
	if r := place.Run(t.Context(), s, agent.Hooks{}); r.Error == nil || r.Error.Code != "dial.refused" {
		t.Fatalf("%+v", r.Error)
	}
	if got := receive(t, late); got.Kept {
		t.Error("its campaign has not kept it")
	}
	r := place.Run(t.Context(), s, agent.Hooks{})
	if r.Error != nil || r.Summary.GoodputBps != 1e9 {
		t.Errorf("%+v", r.Error)
	}
	if err := h.Store().Put(t.Context(), r); err != nil {
		t.Error(err)
	}
	if got := receive(t, late); !got.Kept {
		t.Errorf("%+v", got)
	}
}

func TestAResultThatIsThereIsNotMeasuredAgain(t *testing.T) {
	b := newBroker(t)
	results := memory.New()
	h := b.hub(func(c *hub.Config) { c.Store = results })
	one := b.host(1, func(h *host) { h.trial = measures })
	s := spec()
	s.Result = "r1"
	for range 2 {
		if r := h.Place(one.id, hub.PlaceOptions{}).Run(t.Context(), s, agent.Hooks{Ready: func(context.Context, time.Duration) (time.Time, error) { return time.Time{}, nil }}); r.Error != nil || r.ID != "r1" {
			t.Errorf("%+v", r)
		}
	}
	if one.orders != 1 {
		t.Errorf("%d orders", one.orders)
	}
}

func TestAnAgentThatRefusesIsSaid(t *testing.T) {
	b := newBroker(t)
	h := b.hub(nil)
	one := b.host(1, nil)
	s := spec()
	s.Result = "r1"
	if r := h.Place(one.id, hub.PlaceOptions{}).Run(t.Context(), s, agent.Hooks{}); r.Error == nil || r.Error.Message != "the policy of this host refuses it" {
		t.Errorf("%+v", r.Error)
	}
	if got := one.deliver(ordered("r1")); got.Error == nil || got.Error.Code != "hub.result.not_ordered" {
		t.Errorf("%+v", got)
	}
}

// As after a time in which its process was suspended: another hub may serve, and want the result.
func TestAHubThatMayNotServeKeepsNoResultFromAnother(t *testing.T) {
	b := newBroker(t)
	var serves atomic.Bool
	serves.Store(true)
	h := b.hub(func(c *hub.Config) { c.Store, c.Serves = memory.New(), serves.Load })
	one := b.host(1, func(h *host) { h.trial = measures })
	run := func(ctx context.Context, result string) *measure.Result {
		s := spec()
		s.Result = result
		return h.Place(one.id, hub.PlaceOptions{}).Run(ctx, s, agent.Hooks{Ready: func(context.Context, time.Duration) (time.Time, error) { return time.Time{}, nil }})
	}
	document := func(r *measure.Result) fleet.Receipt {
		packed := pack(encoded(r))
		return h.Take(t.Context(), one.id, r.ID, sum(packed), packed)
	}
	r := run(t.Context(), "r1")
	if got := document(r); r.Error != nil || !got.Kept {
		t.Fatal(r.Error, got)
	}
	serves.Store(false)
	if got := document(r); got.Kept || got.Error == nil {
		t.Errorf("it keeps a result: %+v", got)
	}
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	if r := run(ctx, "r2"); r.Error == nil || one.orderCount() != 1 {
		t.Errorf("%v, %d orders", r.Error, one.orderCount())
	}
}

func TestATrialWaitsForRoomInTheSpoolOfItsAgent(t *testing.T) {
	for name, c := range map[string]struct {
		full     int
		patience time.Duration
		code     string
	}{
		"there is room again in time": {2, time.Minute, ""},
		"without patience":            {2, 0, "daemon.spool.disk"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBroker(t)
			h := b.hub(func(c *hub.Config) { c.Store = memory.New() })
			one := b.host(1, func(h *host) { h.trial, h.full = measures, c.full })
			s := spec()
			s.Result = "r1"
			r := h.Place(one.id, hub.PlaceOptions{Patience: c.patience}).Run(t.Context(), s, agent.Hooks{Ready: func(context.Context, time.Duration) (time.Time, error) { return time.Time{}, nil }})
			if code := measure.AsError(r.Error, measure.KindInternal); c.code == "" && r.Error != nil || c.code != "" && (code == nil || code.Code != c.code) {
				t.Errorf("%v", r.Error)
			}
		})
	}
}

func TestAResultIsTakenFromTheAgentThatRanTheTrial(t *testing.T) {
	b := newBroker(t)
	results := memory.New()
	h := b.hub(func(c *hub.Config) { c.Store = results })
	two := b.host(2, nil)
	s := spec()
	s.Result = "r1"
	one := b.host(1, func(h *host) {
		h.trial = func(r *running) {
			forged := r.result()
			forged.Summary.GoodputBps = 5
			if got := two.deliver(forged); got.Error == nil || got.Error.Code != "hub.result.not_ordered" {
				t.Errorf("%+v", got)
			}
			two.publish(fleet.UpTrial, fleet.TrialReport{Error: measure.TextError(measure.KindBroken, "forged", "")}, "r1")
			_ = two.conn.Flush()
			other := r.result()
			other.Test = measure.TestUDP
			if got := r.host.deliver(other); got.Error == nil || got.Error.Code != "hub.result.test" {
				t.Errorf("%+v", got)
			}
			elsewhere := r.result()
			elsewhere.Trial.Campaign = "another campaign"
			r.host.deliver(elsewhere)
		}
	})
	if r := h.Place(one.id, hub.PlaceOptions{}).Run(t.Context(), s, agent.Hooks{}); r.Error != nil || r.Summary.GoodputBps != 1e9 || r.Trial.Campaign != "c" {
		t.Errorf("%+v", r)
	}
	if got := stored(t, results, "r1").Trial.Campaign; got != "c" {
		t.Errorf("it is in campaign %q", got)
	}
}

func TestATrialThatIsNotWantedStops(t *testing.T) {
	b := newBroker(t)
	h := b.hub(nil)
	why := measure.TextError(measure.KindInterrupted, "enough", "")
	for i, ends := range []bool{true, false} {
		t.Run(fmt.Sprint("it ends: ", ends), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			one := b.host(i, func(h *host) {
				h.trial = func(r *running) {
					cancel(why)
					said := <-r.ended
					if said == nil || said.Message != why.Message {
						t.Errorf("it was told %v", said)
					}
					if ends {
						d := r.result()
						d.Error = measure.TextError(measure.KindInterrupted, "stopped", "")
						h.deliver(d)
					}
				}
			})
			r := h.Place(one.id, hub.PlaceOptions{}).Run(ctx, spec(), agent.Hooks{})
			if !errors.Is(r.Error, why) || ends != (r.Summary.GoodputBps == 1e9) {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestATrialWhoseGroupCannotStartFails(t *testing.T) {
	b := newBroker(t)
	h := b.hub(nil)
	why := measure.TextError(measure.KindBroken, "another one failed", "")
	one := b.host(1, func(h *host) {
		h.trial = func(r *running) {
			r.report(fleet.TrialReport{Ready: true})
			<-r.ended
			r.host.deliver(r.result())
		}
	})
	r := h.Place(one.id, hub.PlaceOptions{}).Run(t.Context(), spec(), agent.Hooks{Ready: func(context.Context, time.Duration) (time.Time, error) { return time.Time{}, why }})
	if !errors.Is(r.Error, why) {
		t.Errorf("%+v", r.Error)
	}
}

func TestATrialThatDoesNotWaitFails(t *testing.T) {
	b := newBroker(t)
	h := b.hub(nil)
	one := b.host(1, func(h *host) { h.trial = func(r *running) { r.host.deliver(r.result()) } })
	wait := func(ctx context.Context, _ time.Duration) (time.Time, error) {
		<-ctx.Done()
		return time.Time{}, ctx.Err()
	}
	if r := h.Place(one.id, hub.PlaceOptions{}).Run(t.Context(), spec(), agent.Hooks{Ready: wait}); r.Error == nil || r.Error.Code != "agent.process.no_wait" {
		t.Errorf("%+v", r.Error)
	}
}

func TestATrialThatLeavesNoResultSaysWhy(t *testing.T) {
	b := newBroker(t)
	h := b.hub(nil)
	one := b.host(1, func(h *host) {
		h.trial = func(r *running) {
			r.report(fleet.TrialReport{Error: measure.TextError(measure.KindStore, "the spool is full", "")})
		}
	})
	if r := h.Place(one.id, hub.PlaceOptions{}).Run(t.Context(), spec(), agent.Hooks{}); r.Error == nil || r.Error.Message != "the spool is full" {
		t.Errorf("%+v", r.Error)
	}
}

func TestATrialWhoseAgentGoesAwayIsLost(t *testing.T) {
	b := newBroker(t)
	results := memory.New()
	h := b.hub(func(c *hub.Config) { c.Store = results })
	var late *measure.Result
	one := b.host(1, func(h *host) {
		h.trial = func(r *running) {
			late = r.result()
			go h.close() // it waits for this trial
			<-r.ended
		}
	})
	begin := time.Now()
	const patience = 200 * time.Millisecond
	r := h.Place(one.id, hub.PlaceOptions{Patience: patience}).Run(t.Context(), spec(), agent.Hooks{})
	if !agent.Lost(r.Error) || r.Error.Code != "fleet.agent_away" || r.Error.Figures["host"] != "a" {
		t.Errorf("%+v", r.Error)
	}
	if waited := time.Since(begin); waited < patience+silence/2 {
		t.Errorf("it waited %v", waited)
	}
	if got := one.deliver(late); !got.Kept {
		t.Errorf("%+v", got)
	}
	if got := stored(t, results, late.ID); len(got.Findings.With(finding.ArrivedLate)) != 1 {
		t.Errorf("%+v", got.Findings)
	}
}

func TestATrialOutlivesAnAgentThatComesBack(t *testing.T) {
	b := newBroker(t)
	h := b.hub(nil)
	w := h.Agents.Watch()
	defer w.Stop()
	var running1 *running
	begun := make(chan *running, 1)
	one := b.host(1, func(h *host) {
		h.trial = func(r *running) { begun <- r; <-r.ended }
	})
	got := make(chan *measure.Result, 1)
	go func() {
		got <- h.Place(one.id, hub.PlaceOptions{Patience: time.Minute}).Run(context.Background(), spec(), agent.Hooks{})
	}()
	running1 = receive(t, begun)
	until(t, "it is connected", w, func() bool { a, _ := h.Agents.Find(one.id); return a.State == hub.Connected })
	one.mu.Lock()
	close(one.stop) // it is silent
	one.mu.Unlock()
	until(t, "it is away", w, func() bool { a, _ := h.Agents.Find(one.id); return a.State == hub.Away })
	one.hello()
	one.deliver(running1.result())
	if r := receive(t, got); r.Error != nil {
		t.Errorf("%+v", r.Error)
	}
}

func TestATrialIsLostWhenItsAgentIsStartedAgain(t *testing.T) {
	b := newBroker(t)
	h := b.hub(nil)
	one := b.host(1, func(h *host) {
		h.trial = func(*running) {} // it forgets the trial
	})
	r := h.Place(one.id, hub.PlaceOptions{Patience: time.Minute}).Run(t.Context(), spec(), agent.Hooks{})
	if !agent.Lost(r.Error) || r.Error.Figures["why"] != "dropped" {
		t.Errorf("%+v", r.Error)
	}
}

func TestAnAgentThatComesLateGetsItsOrder(t *testing.T) {
	b := newBroker(t)
	h := b.hub(nil)
	w := h.Agents.Watch()
	defer w.Stop()
	got := make(chan *measure.Result, 1)
	go func() {
		got <- h.Place(identity(1), hub.PlaceOptions{Patience: time.Minute}).Run(context.Background(), spec(), agent.Hooks{})
	}()
	b.host(1, func(h *host) { h.trial = func(r *running) { h.deliver(r.result()) } })
	if r := receive(t, got); r.Error != nil {
		t.Errorf("%+v", r.Error)
	}
}

func TestADeferredResultIsAcknowledgedWhenItsCampaignHasKeptIt(t *testing.T) {
	b := newBroker(t)
	results := memory.New()
	h := b.hub(func(c *hub.Config) { c.Store = results })
	receipts := make(chan fleet.Receipt, 2)
	one := b.host(1, func(h *host) {
		h.trial = func(r *running) { receipts <- h.deliver(r.result()); receipts <- h.deliver(r.result()) }
	})
	s := spec()
	s.Result = "r1"
	r := h.Place(one.id, hub.PlaceOptions{Deferred: true}).Run(t.Context(), s, agent.Hooks{})
	if r.Error != nil || len(receipts) != 0 {
		t.Errorf("%+v, %d receipts", r.Error, len(receipts))
	}
	if n, _ := results.Missing(t.Context(), []string{r.ID}); len(n) != 1 {
		t.Error("it is in the store")
	}
	r.Findings.Add(finding.RepeatsLost, "", measure.Figures{"result": "r0"})
	if err := h.Store().Put(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time as after a receipt that was lost
		if got := receive(t, receipts); !got.Kept || got.Conflict {
			t.Errorf("%+v", got)
		}
	}
	if got := stored(t, results, r.ID); len(got.Findings) != 1 {
		t.Error(got.Findings)
	}
}

func TestADeferredResultThatIsNotKeptStaysWithItsAgent(t *testing.T) {
	b := newBroker(t)
	h := b.hub(func(c *hub.Config) { c.Answers = 200 * time.Millisecond })
	receipts := make(chan fleet.Receipt, 1)
	one := b.host(1, func(h *host) {
		h.trial = func(r *running) { receipts <- h.deliver(r.result()) }
	})
	s := spec()
	s.Result = "r1"
	h.Place(one.id, hub.PlaceOptions{Deferred: true}).Run(t.Context(), s, agent.Hooks{})
	if got := receive(t, receipts); got.Kept || got.Error == nil || got.Error.Code != "hub.result.deferred" {
		t.Errorf("%+v", got)
	}
}

func TestAnAgentRunsAServer(t *testing.T) {
	b := newBroker(t)
	h := b.hub(nil)
	var mu sync.Mutex
	servers := map[string]*endpoint.Server{}
	one := b.host(1, func(h *host) {
		h.serve = func(s fleet.Serve) fleet.Served {
			mu.Lock()
			defer mu.Unlock()
			if s.Server == nil {
				delete(servers, s.Name)
				return fleet.Served{}
			}
			servers[s.Name] = s.Server
			if s.Server.CopyRoot != "" {
				return fleet.Served{Error: measure.TextError(measure.KindRefused, "no copies here", "")}
			}
			return fleet.Served{Listening: endpoint.Listening{Port: 7000}}
		}
	})
	const token = "secret"
	at, end, err := h.Serve(t.Context(), one.id, endpoint.Server{Token: token, Ports: []int{0}})
	if err != nil || at.Port != 7000 {
		t.Fatal(at, err)
	}
	mu.Lock()
	for _, s := range servers {
		if s.Token != token {
			t.Error(s)
		}
	}
	mu.Unlock()
	end()
	if _, _, err := h.Serve(t.Context(), one.id, endpoint.Server{CopyRoot: "/srv"}); err == nil || err.Error() != "no copies here" {
		t.Error(err)
	}
	if len(servers) != 0 {
		t.Error(servers)
	}
}

func TestOnlyTheAnswerOfTheAgentThatWasAskedCounts(t *testing.T) {
	b := newBroker(t)
	h := b.hub(func(c *hub.Config) { c.Answers = 500 * time.Millisecond })
	two := b.connect()
	for i, c := range []struct {
		answer func(*nats.Msg)
		want   string
	}{
		{func(m *nats.Msg) { _ = m.Respond(encoded(fleet.Beat{Instance: "good"})) }, ""},
		{func(m *nats.Msg) { // twice
			_ = m.Respond(encoded(fleet.Beat{Instance: "good"}))
			_ = m.Respond(encoded(fleet.Beat{Instance: "bad"}))
		}, ""},
		{func(m *nats.Msg) { // of another agent with the word of this one
			forged := fleet.Up(identity(99), fleet.UpAnswer, m.Reply[len(fleet.Up(identity(0), fleet.UpAnswer, "")):])
			_ = two.Publish(forged, encoded(fleet.Beat{Instance: "bad"}))
			_ = two.Flush()
			_ = m.Respond(encoded(fleet.Beat{Instance: "good"}))
		}, ""},
		{func(m *nats.Msg) { // to another request
			_ = two.Publish(fleet.Up(identity(3), fleet.UpAnswer, "guess"), encoded(fleet.Beat{Instance: "bad"}))
			_ = two.Flush()
			_ = m.Respond(encoded(fleet.Beat{Instance: "good"}))
		}, ""},
		{func(m *nats.Msg) { _ = m.Respond([]byte("junk")) }, "fleet.message.syntax"},
		{func(m *nats.Msg) { _ = m.Respond(make([]byte, fleet.MaxState+1)) }, "fleet.message.long"},
		{func(m *nats.Msg) { time.AfterFunc(time.Second, func() { _ = m.Respond(encoded(fleet.Beat{})) }) }, "hub.request.no_answer"}, // late
		{nil, "hub.request.no_answer"}, // not connected
	} {
		id := identity(i)
		if c.answer != nil {
			s, err := two.Subscribe(fleet.Down(id, fleet.DownAsk), c.answer)
			if err != nil || two.Flush() != nil {
				t.Fatal(err)
			}
			defer s.Unsubscribe()
		}
		begin := time.Now()
		beat, err := h.Ask(t.Context(), id)
		code := ""
		if err != nil {
			code = measure.AsError(err, "").Code
		} else if beat.Instance != "good" {
			t.Errorf("%d: the answer of %s", i, beat.Instance)
		}
		if code != c.want {
			t.Errorf("%d: %v, want %s", i, err, c.want)
		}
		if c.answer == nil && time.Since(begin) > 400*time.Millisecond {
			t.Error("an agent that is not connected is waited for")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Ask(ctx, identity(7)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Checks before a campaign run so: no campaign has a place for their results.
func TestADeferredResultWithoutAnIdentityIsNotKept(t *testing.T) {
	b := newBroker(t)
	results := memory.New()
	h := b.hub(func(c *hub.Config) { c.Store = results })
	receipts := make(chan fleet.Receipt, 1)
	one := b.host(1, func(h *host) {
		h.trial = func(r *running) { receipts <- h.deliver(r.result()) }
	})
	s := spec()
	s.Result = ""
	if r := h.Place(one.id, hub.PlaceOptions{Deferred: true}).Run(t.Context(), s, agent.Hooks{}); r.Error != nil {
		t.Error(r.Error)
	}
	if got := receive(t, receipts); !got.Kept {
		t.Errorf("%+v", got)
	}
	if n, err := results.Count(t.Context(), store.Query{}); n != 0 || err != nil {
		t.Error(n, err)
	}
}

func TestADeferredResultOfATrialThatWasStoppedIsNotKept(t *testing.T) {
	b := newBroker(t)
	results := memory.New()
	h := b.hub(func(c *hub.Config) { c.Store = results })
	ctx, cancel := context.WithCancel(t.Context())
	receipts := make(chan fleet.Receipt, 1)
	one := b.host(1, func(h *host) {
		h.trial = func(r *running) {
			cancel()
			<-r.ended
			d := r.result()
			d.Error = measure.TextError(measure.KindInterrupted, "stopped", "")
			receipts <- h.deliver(d)
		}
	})
	s := spec()
	s.Result = "r1"
	h.Place(one.id, hub.PlaceOptions{Deferred: true}).Run(ctx, s, agent.Hooks{})
	if got := receive(t, receipts); !got.Kept {
		t.Errorf("%+v", got)
	}
	if n, err := results.Count(t.Context(), store.Query{}); n != 0 || err != nil {
		t.Error(n, err)
	}
}
