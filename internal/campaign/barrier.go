package campaign

import (
	"context"
	"sync"
	"time"

	"soku/internal/agent"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
)

// readyTimeout is how long a trial that is ready waits for the others of its
// group. It is shorter than a server waits for the start of a session that is
// ready, 30 s, so that the reason for the failure is known.
const readyTimeout = 20 * time.Second

// barrier lets the trials of a group start together: each waits at it when it is
// ready, and the last one agrees the instant at which all start. A trial that fails before it is ready
// fails the whole group, because what the others would measure is not what was
// planned.
type barrier struct {
	cancel context.CancelCauseFunc // ends the group's trials
	open   chan struct{}           // closed when all are ready

	mu      sync.Mutex
	lead    time.Duration     // the longest that a trial needs
	at      time.Time         // when all start: as soon as they can if it is zero
	missing map[*attempt]bool // not ready yet
	ready   int               // trials that are, or were
	failed  *measure.Error    // why the group did not start
	culprit *attempt          // the trial that failed by itself; nil: none
}

// Codes of trials whose ends do not reach each other, or not the way that the test needs.
const (
	CodeNoWay  = "campaign.no_way"
	CodeOneWay = "campaign.one_way"
)

func newBarrier(all []*attempt, cancel context.CancelCauseFunc) *barrier {
	b := &barrier{cancel: cancel, open: make(chan struct{}), missing: map[*attempt]bool{}}
	for _, a := range all {
		b.missing[a] = true
	}
	return b
}

// join makes a trial wait for its group.
func (b *barrier) join(a *attempt, h *Hooks) {
	h.Ready = func(ctx context.Context, lead time.Duration) (time.Time, error) {
		if err := b.wait(ctx, a, lead); err != nil {
			return time.Time{}, err
		}
		if a.started = b.at; b.at.IsZero() {
			a.started = time.Now()
		}
		return b.at, nil
	}
	h.Started = func(at time.Time, uncertainty time.Duration) { a.started, a.startError = at, uncertainty }
}

// wait returns when all trials are ready, or with the reason why they will not
// start.
func (b *barrier) wait(ctx context.Context, a *attempt, lead time.Duration) error {
	b.mu.Lock()
	delete(b.missing, a)
	b.lead = max(b.lead, lead)
	b.ready++
	b.openIfReady()
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

// openIfReady lets the trials that wait start, if no other is awaited.
func (b *barrier) openIfReady() {
	if len(b.missing) > 0 || b.ready == 0 || b.failed != nil {
		return
	}
	if b.lead > 0 {
		b.at = time.Now().Add(b.lead)
	}
	close(b.open)
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

// leave takes note that a trial has ended. If it was not ready before, or was too late to start with the others, the group
// fails. The others start without a trial whose ends do not reach each other.
func (b *barrier) leave(a *attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.missing[a] && !agent.Late(a.result.Error) {
		return
	}
	delete(b.missing, a)
	if e := a.result.Error; e != nil && (e.Code == CodeNoWay || e.Code == CodeOneWay) {
		b.openIfReady()
		return
	}
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
	var first, last *attempt
	started := 0
	for _, a := range all {
		if a.started.IsZero() {
			continue
		}
		started++
		if first == nil || a.started.Before(first.started) {
			first = a
		}
		if last == nil || !a.started.Before(last.started) {
			last = a
		}
	}
	for _, a := range all {
		if b.failed != nil && a != b.culprit {
			a.result.Error = b.failed
		}
		if a.started.IsZero() {
			continue
		}
		skew, uncertainty := a.after(first)
		t, group := a.job.Trial, *a.job.Trial.Group
		if b.failed == nil {
			group.Trials = started
		}
		group.StartSkewNs, group.StartSkewErrorNs = new(skew.Nanoseconds()), uncertainty.Nanoseconds()
		t.Group = &group
		a.result.Trial = &t
		if a.result.Error == nil {
			a.warnOfSkew(last.after(first))
		}
	}
}

// after is how much later than the first trial of its group one started, and how exactly that is known.
func (a *attempt) after(first *attempt) (skew, uncertainty time.Duration) {
	if a != first {
		uncertainty = a.startError + first.startError
	}
	return a.started.Sub(first.started), uncertainty
}

// mostSkew is the part of a trial that its group may take to start without a finding.
const mostSkew = 0.01

// warnOfSkew adds a finding if the trials of a group may have started so far apart that it matters to this one.
func (a *attempt) warnOfSkew(skew, uncertainty time.Duration) {
	o, err := option.Effective(a.job.Options, a.job.Test)
	if err != nil || o.Duration <= 0 || float64(skew+uncertainty) <= mostSkew*float64(o.Duration) {
		return
	}
	figures := measure.Figures{"skew_ns": skew.Nanoseconds(), "duration_ns": o.Duration.Std().Nanoseconds()}
	if uncertainty > 0 {
		figures["error_ns"] = uncertainty.Nanoseconds()
	}
	a.result.Findings.Add(finding.StartsApart, "", figures)
}
