package campaign

import (
	"context"
	"sync"
	"time"

	"soku/internal/measure"
)

// readyTimeout is how long a trial that is ready waits for the others of its
// group. It is shorter than a server waits for the start of a session that is
// ready, 30 s, so that the reason for the failure is known.
const readyTimeout = 20 * time.Second

// barrier lets the trials of a group start together: each waits at it when it is
// ready, and the last one releases all. A trial that fails before it is ready
// fails the whole group, because what the others would measure is not what was
// planned.
type barrier struct {
	cancel context.CancelCauseFunc // ends the group's trials
	open   chan struct{}           // closed when all are ready

	mu      sync.Mutex
	missing map[*attempt]bool // not ready yet
	failed  *measure.Error    // why the group did not start
	culprit *attempt          // the trial that failed by itself; nil: none
}

func newBarrier(all []*attempt, cancel context.CancelCauseFunc) *barrier {
	b := &barrier{cancel: cancel, open: make(chan struct{}), missing: map[*attempt]bool{}}
	for _, a := range all {
		b.missing[a] = true
	}
	return b
}

// join makes a trial wait for its group.
func (b *barrier) join(a *attempt, h *Hooks) {
	h.Ready = func(ctx context.Context) error {
		if err := b.wait(ctx, a); err != nil {
			return err
		}
		a.started = time.Now()
		return nil
	}
	h.Started = func(at time.Time, uncertainty time.Duration) { a.started, a.startError = at, uncertainty }
}

// wait returns when all trials are ready, or with the reason why they will not
// start.
func (b *barrier) wait(ctx context.Context, a *attempt) error {
	b.mu.Lock()
	delete(b.missing, a)
	if len(b.missing) == 0 && b.failed == nil {
		close(b.open)
	}
	b.mu.Unlock()
	late := time.NewTimer(readyTimeout)
	defer late.Stop()
	select {
	case <-b.open:
		return nil
	case <-late.C:
		b.giveUp()
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed != nil {
		return b.failed
	}
	return context.Cause(ctx)
}

// giveUp fails the group because trials are not ready in time.
func (b *barrier) giveUp() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for a := range b.missing {
		k := a.job.Key()
		b.abort(nil, measure.Fail(measure.KindUnreachable, "campaign.group_not_ready", measure.Figures{
			"pattern": k.Pattern, "label": k.Label, "round": k.Round, "repeat": k.Repeat, "client": k.Client, "server": k.Server, "limit_ns": readyTimeout,
		}))
		return
	}
}

// leave takes note that a trial has ended. If it was not ready before, the group
// fails.
func (b *barrier) leave(a *attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.missing[a] {
		return
	}
	delete(b.missing, a)
	e, k := measure.AsError(a.result.Error, measure.KindInternal), a.job.Key()
	b.abort(a, measure.Fail(e.Kind, "campaign.group_failed", measure.Figures{
		"pattern": k.Pattern, "label": k.Label, "round": k.Round, "repeat": k.Repeat, "client": k.Client, "server": k.Server, "cause": e,
	}))
}

// abort ends the trials of the group. The first reason stands.
func (b *barrier) abort(culprit *attempt, why *measure.Error) {
	if b.failed == nil {
		b.failed, b.culprit = why, culprit
		b.cancel(why)
	}
}

// into writes into the results of a group how much later than the first of them each trial
// started, and how exactly that is known, or why none did.
func (b *barrier) into(all []*attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var first *attempt
	for _, a := range all {
		if !a.started.IsZero() && (first == nil || a.started.Before(first.started)) {
			first = a
		}
	}
	for _, a := range all {
		if b.failed != nil && a != b.culprit {
			a.result.Error = b.failed
		}
		if a.started.IsZero() {
			continue
		}
		skew := a.started.Sub(first.started).Nanoseconds()
		t, group := a.job.Trial, *a.job.Trial.Group
		group.StartSkewNs = &skew
		if a != first {
			group.StartSkewErrorNs = (a.startError + first.startError).Nanoseconds()
		}
		t.Group = &group
		a.result.Trial = &t
	}
}
