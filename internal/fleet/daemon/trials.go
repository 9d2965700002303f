package daemon

import (
	"context"
	"maps"
	"os/exec"
	"slices"
	"sync"
	"time"

	"soku/internal/agent"
	"soku/internal/fleet"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/panics"
	"soku/internal/text"
)

// Bounds of trials.
const (
	mostTrials    = 64
	longestReady  = 10 * time.Minute // a trial that is ready waits for the order to start
	latestStart   = time.Minute      // from the order to the time that it names
	setUpDuration = 30 * time.Second // of a trial whose length only its end shows, on top of the policy's
)

// trials are those that run. It is safe for concurrent use.
type trials struct {
	d   *daemon
	ctx context.Context // its end ends all
	all panics.Group

	mu      sync.Mutex
	running map[string]*trial // by the identity of the result
	closed  error             // why no trial is begun any more
}

// trial is one that runs.
type trial struct {
	spec    agent.Spec
	cancel  context.CancelCauseFunc
	start   chan time.Time // the instant of the start; zero: now. Has room for one
	ordered bool           // it got one; the lock of trials guards it
	reports *reports
}

// begin takes an order and returns what runs the trial, after the order was answered. It is nil where
// the trial runs already, or its result is there. An error says why the trial is not run.
func (t *trials) begin(ctx context.Context, order fleet.TrialOrder) (run func(), err error) {
	s := order.Spec
	if !validResult(s.Result) || s.Schema != "" && s.Schema != agent.Schema {
		return nil, measure.Fail(measure.KindUsage, "daemon.order.spec", measure.Figures{"result": s.Result, "schema": s.Schema, "known": agent.Schema})
	}
	if order.Again != "" {
		if err := t.d.spool.forget(s.Result, order.Again); err != nil {
			return nil, err
		}
	}
	t.mu.Lock()
	known, err := t.admits(s.Result)
	t.mu.Unlock()
	if known {
		t.d.delivery.asked()
	}
	if known || err != nil {
		return nil, err
	}
	if err := t.d.spool.full(); err != nil {
		return nil, err
	}
	if s, err = t.d.Policy.admit(ctx, s); err != nil {
		return nil, err
	}
	if err := t.d.usage.admit(plannedBytes(s)); err != nil {
		return nil, err
	}
	own, cancel := context.WithCancelCause(t.ctx)
	r := &trial{spec: s, cancel: cancel, start: make(chan time.Time, 1)}
	r.reports = &reports{publish: func(m fleet.TrialReport) { t.d.publish(m, fleet.UpTrial, s.Result) }}
	if !s.AwaitStart {
		r.start <- time.Time{}
		r.ordered = true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, err := t.admits(s.Result); known || err != nil { // since the first look: a name takes seconds to resolve
		cancel(nil)
		return nil, err
	}
	t.running[s.Result] = r
	answered := make(chan struct{})
	t.all.Go(func() {
		select {
		case <-answered:
		case <-own.Done():
		}
		t.run(own, r)
	})
	return func() { close(answered) }, nil
}

// admits reports whether the result is known already, or why no trial may begin now. The lock is held.
func (t *trials) admits(result string) (known bool, err error) {
	n := len(t.running)
	switch {
	case t.running[result] != nil || t.d.spool.has(result):
		return true, nil
	case t.closed != nil:
		return false, t.closed
	case n >= mostTrials:
		return false, measure.Fail(measure.KindRefused, "daemon.order.many", measure.Figures{"running": n})
	}
	return false, nil
}

// plannedBytes are what the trial will move, if that is known.
func plannedBytes(s agent.Spec) int64 {
	o, err := option.Effective(s.Options, s.Test)
	if err != nil {
		return 0
	}
	bytes, _ := option.SpecOf(s.Test).Payload(o)
	return bytes
}

// run runs the trial and keeps its result.
func (t *trials) run(ctx context.Context, r *trial) {
	defer func() {
		t.mu.Lock()
		delete(t.running, r.spec.Result)
		t.mu.Unlock()
		r.cancel(nil)
	}()
	counted := newCounter(r.spec)
	var opened time.Time
	hooks := agent.Hooks{
		Ready: func(ctx context.Context, _ time.Duration) (at time.Time, err error) {
			at, err = r.awaitStart(ctx)
			opened = time.Now()
			if err == nil {
				if limit := t.limit(); limit > 0 {
					late := time.AfterFunc(limit+max(time.Until(at), 0), func() {
						r.cancel(measure.Fail(measure.KindRefused, "daemon.policy.duration", measure.Figures{"duration_ns": int64(limit), "limit_ns": int64(t.d.Policy.Duration)}))
					})
					context.AfterFunc(ctx, func() { late.Stop() })
				}
			}
			return at, err
		},
		Started: func(at time.Time, _ time.Duration) {
			r.reports.set(fleet.TrialReport{Started: true, StartDelayNs: at.Sub(opened).Nanoseconds(), StartedUnixNs: at.UnixNano()})
		},
		Progress: func(p measure.Progress) {
			if err := t.d.usage.add(counted.add(p)); err != nil {
				r.cancel(err)
			}
			r.reports.progress(p, time.Now())
		},
	}
	result := agent.Process{Now: time.Now, Clock: agent.SameClock, Command: func(ctx context.Context) (*exec.Cmd, error) { return t.d.Command(ctx, "trial") }}.Run(ctx, r.spec, hooks)
	result.ID = r.spec.Result
	_ = t.d.usage.add(moved(result) - counted.sum()) // no less than was counted: a trial that breaks off may have no figures
	t.d.usage.flush()
	t.keep(result, r.reports)
}

// keep puts a result into the spool and has it sent.
func (t *trials) keep(result *measure.Result, to *reports) {
	document, err := pack(result)
	if err == nil {
		err = t.d.spool.put(result.ID, document)
	}
	if err != nil {
		t.d.say(t.d.Catalogue.Sentence("daemon.result_lost", text.Args{"Result": result.ID, "Error": t.d.Catalogue.Failure(err)}))
		to.publish(fleet.TrialReport{Error: measure.AsError(err, measure.KindStore)})
		return
	}
	to.publish(fleet.TrialReport{Ended: true})
	t.d.delivery.added()
}

// limit is after how long a trial is ended, from its start; 0 is never.
func (t *trials) limit() time.Duration {
	if t.d.Policy.Duration <= 0 {
		return 0
	}
	return t.d.Policy.Duration.Std() + setUpDuration
}

// awaitStart reports that the trial is ready, waits for the order to start and returns the instant that it names.
func (r *trial) awaitStart(ctx context.Context) (time.Time, error) {
	if r.spec.AwaitStart {
		r.reports.set(fleet.TrialReport{Ready: true})
	}
	late := time.NewTimer(longestReady)
	defer late.Stop()
	select {
	case at := <-r.start:
		return at, nil
	case <-late.C:
		return time.Time{}, measure.Fail(measure.KindBroken, "daemon.start.late", measure.Figures{"after_ns": int64(longestReady)})
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
}

// start lets a trial start.
func (t *trials) start(order fleet.Start) error {
	now := time.Now()
	if wait := time.Unix(0, order.AtUnixNs).Sub(now); order.AtUnixNs != 0 && wait > latestStart {
		return measure.Fail(measure.KindRefused, "daemon.start.far", measure.Figures{
			"at": time.Unix(0, order.AtUnixNs).UTC().Format(time.RFC3339Nano), "now": now.UTC().Format(time.RFC3339Nano), "limit_ns": int64(latestStart),
		})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.running[order.Result]
	if r == nil {
		return measure.Fail(measure.KindNotFound, "daemon.order.unknown", measure.Figures{"result": order.Result})
	}
	if !r.ordered {
		r.ordered = true
		var at time.Time
		if order.AtUnixNs != 0 {
			at = time.Unix(0, order.AtUnixNs)
		}
		r.start <- at
	}
	return nil
}

// stop ends a trial. It does nothing where the trial has ended.
func (t *trials) stop(order fleet.Stop) error {
	t.mu.Lock()
	r := t.running[order.Result]
	t.mu.Unlock()
	switch {
	case r != nil:
		why := order.Error
		if why == nil {
			why = measure.Fail(measure.KindInterrupted, "daemon.stopped", nil)
		}
		r.cancel(why)
	case !t.d.spool.has(order.Result):
		return measure.Fail(measure.KindNotFound, "daemon.order.unknown", measure.Figures{"result": order.Result})
	}
	return nil
}

// names are the identities of the results of trials that run.
func (t *trials) names() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.running))
}

// repeat sends the states of all trials again, on a new connection.
func (t *trials) repeat() {
	t.mu.Lock()
	all := slices.Collect(maps.Values(t.running))
	t.mu.Unlock()
	for _, r := range all {
		r.reports.repeat()
	}
}

// end ends all trials with an error, and waits until their results are kept, at most for a time.
func (t *trials) end(why error, most time.Duration) {
	t.mu.Lock()
	t.closed = why
	for _, r := range t.running {
		r.cancel(why)
	}
	t.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = panics.Catch(t.all.Wait) // [daemon.work] raises it
	}()
	limit := time.NewTimer(most)
	defer limit.Stop()
	select {
	case <-ended:
	case <-limit.C:
	}
}
