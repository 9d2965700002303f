package hub

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/agent"
	"soku/internal/fleet"
	"soku/internal/measure"
	trialserver "soku/internal/server"
)

// PlaceOptions say how a place runs trials.
type PlaceOptions struct {
	// Patience is how long a trial waits for an agent that has gone away, from then on. Then it is lost: see
	// [agent.Lost]. Its result is kept all the same when it arrives.
	Patience time.Duration
	// Server is the identity of the agent that is the server of trials, or empty. A trial that fails because that agent went
	// away or was started again is lost.
	Server string
	// Deferred leaves each result to the caller, which adds to it and puts it into [Hub.Store], as the executor of
	// campaigns does. The agent keeps its document until then. A result that the caller gave no identity, as of a
	// check before a campaign, and that of a trial that was stopped are not kept. If it is false, the result is in
	// the sink when Run returns.
	Deferred bool
	// Former takes a trial over that a hub before this one ordered: its result is taken, or awaited while it runs. It is
	// not begun: if its agent does not know it, or it failed while no hub watched, it is lost.
	Former bool
}

// Place is where the trials run whose client is an agent, given by its identity. Ending ctx stops a trial; Run returns its
// result, or after 3 s without one: an agent cannot be stopped within the 100 ms of other places.
func (h *Hub) Place(client string, o PlaceOptions) agent.Place { return place{h, client, o} }

type place struct {
	hub    *Hub
	client string
	o      PlaceOptions
}

// codeLeaseLost is that of a campaign that another hub has: see package sqljournal.
const codeLeaseLost = "journal.lease_lost"

// Bounds of a trial's time.
const (
	stopWithin    = 3 * time.Second  // from the stop of a trial to its result
	deliverWithin = 10 * time.Minute // from the end of a trial to its result
	longestTrial  = 25 * time.Hour   // of one whose time is not known, or that waits for its start
	orderEvery    = time.Second      // between two attempts to reach an agent
	checkEvery    = time.Second      // whether the agent is still there, at most
)

// Run implements [agent.Place].
func (p place) Run(ctx context.Context, s agent.Spec, hooks agent.Hooks) *measure.Result {
	h := p.hub
	s.Schema, s.AwaitStart, s.Acknowledge = agent.Schema, hooks.Ready != nil, false
	unnamed := s.Result == ""
	s.Result = cmp.Or(s.Result, measure.NewResultID(time.Now()))
	if !plainWord(s.Result) {
		return s.NotRun(time.Now(), measure.Fail(measure.KindUsage, "hub.result.identity", nil))
	}
	if r, err := h.cfg.Store.Get(ctx, s.Result); !unnamed && err == nil {
		return r // of an order before: the agent may have deleted its document
	}
	began := time.Now()
	if p.o.Former {
		began = began.Add(-longestTrial)
	}
	ours := h.orders.orderedFrom(p.client, s.Result)
	o, err := h.orders.add(p.client, s, began, p.o, p.o.Deferred && unnamed)
	if err != nil {
		return s.NotRun(time.Now(), err)
	}
	t := &trialRun{place: p, spec: s, ours: ours, hooks: hooks, order: o, begun: time.Now(), events: make(chan func(), 4), noStart: func() {}}
	_, server, _ := h.Agents.get(p.o.Server)
	t.ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r := t.follow(ctx)
	t.cancel()
	t.work.Wait()
	t.reportStart(ctx)
	stopped := ctx.Err() != nil && (r == nil || r.Error != nil) && !h.abandoned.Load()
	if p.o.Former && r != nil && r.Error != nil && t.failed == nil && ctx.Err() == nil {
		t.failed, stopped = s.Away("unwatched"), true
	}
	if p.o.Server != "" && r != nil && r.Error != nil && t.failed == nil && ctx.Err() == nil {
		switch why := h.gone(ctx, p.o.Server, server); { // it is measured again
		case why != "":
			t.failed, stopped = s.ServerAway(why), true
		case r.Error.Code == trialserver.CodeGrantLate: // its client was away for so long
			t.failed, stopped = s.Away("away"), true
		}
	}
	h.orders.leave(o, t.refused, p.o.Deferred && stopped)
	switch {
	case r == nil:
		return s.NotRun(time.Now(), cmp.Or(t.failed, context.Cause(ctx)))
	case t.failed != nil:
		r.Error = measure.AsError(t.failed, measure.KindBroken)
	case r.Error != nil && ctx.Err() != nil: // the agent only knows that it was stopped
		r.Error = measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	}
	trial := s.Trial
	r.Trial = &trial
	return r
}

// trialRun is a trial that runs on an agent. Its fields are used by the goroutine of Run, but for events.
type trialRun struct {
	place place
	spec  agent.Spec
	hooks agent.Hooks
	order *order
	ours  bool // this hub ordered it before, maybe after the agent greeted it
	begun time.Time

	ctx    context.Context // of what the goroutines send; ends with Run
	cancel context.CancelFunc
	work   sync.WaitGroup
	events chan func() // what goroutines have to report, run by that of Run

	instance string    // of the agent when it took the order; empty: it has not
	missing  time.Time // since when it has not been running the trial by its beats; zero: it has
	noStart  func()    // ends the hook Ready
	ready    bool      // it has reported so
	start    agent.Start
	begins   time.Time // the instant at which it is to start
	started  time.Time // when the first report that follows the start arrived
	stopping <-chan time.Time
	refused  bool  // there is no trial
	failed   error // why the trial has failed, whatever its result says
	over     bool  // no result is waited for
}

// follow returns the result of the trial, or nil if there is none: failed or ctx says why.
func (t *trialRun) follow(ctx context.Context) *measure.Result {
	if t.place.o.Former {
		t.claim(ctx)
	} else {
		t.send(ctx)
	}
	check := time.NewTicker(max(min(t.place.hub.cfg.Silence/3, checkEvery), 10*time.Millisecond))
	defer check.Stop()
	stop := ctx.Done()
	for !t.over {
		select {
		case r := <-t.order.delivered:
			t.reports()
			if r.Error == nil && t.hooks.Ready != nil && t.start.Ordered.IsZero() && t.failed == nil {
				t.failed = t.spec.NotWaiting()
			}
			return r
		case <-t.order.bell:
			t.reports()
		case event := <-t.events:
			event()
		case now := <-check.C:
			t.check(now)
		case <-stop:
			stop = nil
			if e := measure.AsError(context.Cause(ctx), measure.KindInterrupted); e.Code == codeLeaseLost {
				t.place.hub.Abandon()
			}
			if t.place.hub.abandoned.Load() {
				return nil
			}
			t.end(nil, measure.AsError(context.Cause(ctx), measure.KindInterrupted))
		case <-t.stopping:
			return nil
		case <-t.place.hub.ctx.Done():
			t.failed = cmp.Or(t.failed, error(measure.Fail(measure.KindInterrupted, "hub.closed", nil)))
			return nil
		}
	}
	return nil
}

// background runs f in a goroutine that Run waits for, and gives its outcome to that of Run.
func (t *trialRun) background(f func() error, then func(error)) {
	t.work.Go(func() {
		var err error
		t.place.hub.safely(func() {
			err = measure.Fail(measure.KindInternal, "hub.defect", nil) // if f panics
			err = f()
		})
		select {
		case t.events <- func() { then(err) }:
		case <-t.ctx.Done():
		}
	})
}

// send gives the order to the agent, again while it cannot be reached or its spool has no room: an order that arrives twice is one.
func (t *trialRun) send(ctx context.Context) {
	h := t.place.hub
	attempt := func() error {
		return h.command(t.ctx, t.place.client, fleet.DownTrial, fleet.TrialOrder{Spec: t.spec, Again: t.order.again})
	}
	t.retry(ctx, attempt, func(err error) {
		if err != nil {
			t.refused, t.over, t.failed = true, true, err
			return
		}
		_, t.instance, _ = h.Agents.get(t.place.client)
	})
}

// claim has the agent give the result of a trial that it runs or ran, once it has greeted this hub.
func (t *trialRun) claim(ctx context.Context) {
	agents := t.place.hub.Agents
	watcher := agents.Watch()
	t.background(func() error {
		defer watcher.Stop()
		for {
			if a, _, _ := agents.get(t.place.client); a.State == Connected && a.Hello.Instance != "" {
				if knows(&a, t.spec.Result) || t.ours && t.isThere() {
					return nil
				}
				return t.spec.Dropped()
			}
			select {
			case <-watcher.C:
			case <-t.ctx.Done():
				return nil
			}
		}
	}, func(err error) {
		switch {
		case err != nil:
			t.failed, t.over = cmp.Or(t.failed, err), true
		case t.stopping == nil:
			t.send(ctx) // it is begun already: its agent delivers its result
		}
	})
}

// isThere asks an agent whether it runs a trial that this hub ordered after the agent greeted it, or may have its result.
func (t *trialRun) isThere() bool {
	b, err := t.place.hub.Ask(t.ctx, t.place.client)
	return err != nil || b.Spooled > 0 || slices.Contains(b.Running, t.spec.Result)
}

// knows reports whether an agent runs a trial or has its result, by its last beat and what it said when it greeted this hub.
func knows(a *Agent, result string) bool {
	return slices.Contains(a.Beat.Running, result) ||
		a.Beat.Spooled > 0 && (slices.Contains(a.Hello.Running, result) || slices.Contains(a.Hello.Spooled, result))
}

// repeats reports whether an attempt that failed is made again: an agent whose spool has no room is given as long as one that is away.
func (t *trialRun) repeats(err error) bool {
	e := measure.AsError(err, measure.KindBroken)
	switch {
	case e == nil:
		return false
	case strings.HasPrefix(e.Code, fleet.CodeSpool):
		return time.Since(t.begun) < t.place.o.Patience
	}
	return e.Code == codeNoAnswer || e.Code == codeNotSent
}

// retry makes attempts until one is answered, or the trial is stopped or lost.
func (t *trialRun) retry(ctx context.Context, attempt func() error, then func(error)) {
	t.background(func() error {
		for {
			err := attempt()
			if !t.repeats(err) {
				return err
			}
			wait := time.NewTimer(min(orderEvery, t.place.hub.cfg.Silence))
			select {
			case <-wait.C:
			case <-ctx.Done():
				wait.Stop()
				return err
			case <-t.ctx.Done():
				wait.Stop()
				return err
			}
		}
	}, func(err error) {
		if t.repeats(err) {
			return // ctx has ended, which follow sees
		}
		then(err)
	})
}

// end stops the trial and waits a bounded time for its result. failed is why it has failed, unless only its caller wants
// it no more; why is what the agent is told.
func (t *trialRun) end(failed error, why *measure.Error) {
	t.failed = cmp.Or(t.failed, failed)
	if t.stopping != nil {
		return
	}
	within := stopWithin
	if t.place.o.Former { // its agent may not have found this hub yet
		within += t.place.hub.cfg.Silence
	}
	t.stopping = time.After(within)
	t.noStart()
	stop := func() error {
		return t.place.hub.command(t.ctx, t.place.client, fleet.DownStop, fleet.Stop{Result: t.spec.Result, Error: why})
	}
	t.retry(t.ctx, stop, func(err error) { // an agent that has gone delivers its result later
		t.over = t.place.o.Former && measure.KindOf(err) == measure.KindNotFound
	})
}

func (t *trialRun) fail(err error) { t.end(err, measure.AsError(err, measure.KindBroken)) }

// report gives a report of a trial to its place.
func (h *Hub) report(agent string, m *nats.Msg) {
	at := time.Now()
	result, _ := strings.CutPrefix(m.Subject, fleet.Up(agent, fleet.UpTrial, ""))
	o := h.orders.of(agent, result)
	if o == nil {
		return
	}
	r, err := fleet.Decode[fleet.TrialReport](m.Data, fleet.MaxState)
	if err != nil {
		h.cfg.Log.Warn("a report of a trial cannot be read", "agent", agent, "result", result, "cause", err)
		return
	}
	o.reported(stamped{r, at})
}

// reports does what the agent has reported.
func (t *trialRun) reports() {
	for _, r := range t.order.fetch() {
		if r.Error != nil {
			t.failed, t.over = r.Error, true
			return
		}
		if r.Ready {
			t.isReady()
		}
		if !r.Started && r.Progress == nil {
			continue
		}
		if t.hooks.Ready != nil && t.start.Ordered.IsZero() {
			t.fail(t.spec.NotWaiting())
			return
		}
		if t.started.IsZero() {
			t.started = r.at
			if r.Started {
				t.start.Reported, t.start.Delay, t.start.UnixNs = r.at, time.Duration(r.StartDelayNs), r.StartedUnixNs
			}
		}
		if r.Progress != nil && t.hooks.Progress != nil {
			t.hooks.Progress(*r.Progress)
		}
	}
}

// isReady has the trial start at the instant that its hook Ready returns.
func (t *trialRun) isReady() {
	if t.ready || t.hooks.Ready == nil || t.stopping != nil {
		return
	}
	t.ready = true
	waits, cancel := context.WithCancel(t.ctx)
	t.noStart = cancel
	var clock agent.Clock
	var at time.Time
	t.retry(waits, func() (err error) {
		clock, err = t.place.hub.compareClock(waits, t.place.client)
		return err
	}, func(err error) {
		if err != nil {
			t.fail(err)
			return
		}
		t.background(func() (err error) {
			defer cancel()
			at, err = t.hooks.Ready(waits, clock.Lead())
			return err
		}, func(err error) {
			switch {
			case t.stopping != nil:
			case err != nil:
				t.fail(err)
			default:
				t.begin(clock, at)
			}
		})
	})
}

// begin sends the order to start, which names the instant on the agent's clock.
func (t *trialRun) begin(clock agent.Clock, at time.Time) {
	t.begins, t.start.Before, t.start.Ordered = at, clock, time.Now()
	order := fleet.Start{Result: t.spec.Result}
	if !at.IsZero() {
		order.AtUnixNs = clock.There(at)
	}
	t.retry(t.ctx, func() error {
		if now := time.Now(); agent.TooLate(at, now) {
			return t.spec.LateStart(now.Sub(at))
		}
		return t.place.hub.command(t.ctx, t.place.client, fleet.DownStart, order)
	}, func(err error) {
		if err != nil {
			t.fail(err)
		}
	})
}

// reportStart reports when the trial has started, if it has: now, so that comparing the clocks again does not disturb it.
func (t *trialRun) reportStart(ctx context.Context) {
	if t.hooks.Started == nil || t.start.Reported.IsZero() {
		return
	}
	t.start.CompareAgain(ctx, func(ctx context.Context) (agent.Clock, error) { return t.place.hub.compareClock(ctx, t.place.client) })
	t.hooks.Started(t.start.At())
}

// check ends a trial that takes too long or whose agent is lost.
func (t *trialRun) check(now time.Time) {
	if t.stopping != nil {
		return
	}
	limit := t.begun.Add(longestTrial)
	if longest := t.spec.Longest(); longest > 0 && !t.started.IsZero() {
		limit = t.started.Add(longest + deliverWithin)
	}
	if now.After(limit) {
		t.fail(t.spec.Overtime())
		return
	}
	a, instance, known := t.place.hub.Agents.get(t.place.client)
	switch {
	case known && (a.State == Revoked || a.State == Cloned):
		t.lost(string(a.State))
	case !known || a.State == Away:
		since := t.begun
		if a.Heard.After(since) {
			since = a.Heard
		}
		if now.Sub(since) >= t.place.hub.cfg.Silence+t.place.o.Patience {
			t.lost("away")
		}
	case t.instance == "":
	case t.runs(&a):
		t.missing = time.Time{}
	case instance != t.instance: // it greeted the hub after the order
		t.lost("restarted")
	case t.missing.IsZero():
		t.missing = now
	case now.Sub(t.missing) <= t.place.hub.cfg.Silence: // the beat may be older than the order
	default:
		t.lost("dropped")
	}
}

// runs reports whether an agent has the trial or its result, by its last beat and what it said when it connected.
func (t *trialRun) runs(a *Agent) bool {
	return slices.Contains(a.Beat.Running, t.spec.Result) || a.Beat.Spooled > 0 && (a.Hello.Instance == t.instance || slices.Contains(a.Hello.Spooled, t.spec.Result))
}

func (t *trialRun) lost(why string) {
	t.failed, t.over = cmp.Or(t.failed, error(t.spec.Away(why))), true
}
