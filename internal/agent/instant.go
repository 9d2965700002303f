package agent

import (
	"context"
	"time"

	"soku/internal/measure"
	"soku/internal/sock/pace"
)

// Times of a start at an agreed instant.
const (
	startLead = 350 * time.Millisecond // for the order to start to be read, on top of its way
	mostLead  = 5 * time.Second
	latest    = 500 * time.Millisecond // after the instant the order is too late; before, the start is late and the skew says so
	lastSleep = 2 * time.Millisecond   // is slept more precisely
	settles   = 100 * time.Millisecond // before the instant a trial starts its server and reads the counters of its host
)

// Lead is how long before the instant of its start a trial must get the order, over a way on which the clocks were compared.
func (c Clock) Lead() time.Duration { return min(startLead+6*c.Uncertainty, mostLead) }

const codeLate = "agent.process.late"

// Late reports whether a trial did not start because the instant at which its group started was over.
func Late(e *measure.Error) bool { return e != nil && e.Code == codeLate }

// LateStart is the failure of a trial that got no order to start in time. by is how late it was.
func (s Spec) LateStart(by time.Duration) *measure.Error {
	return measure.Fail(measure.KindBroken, codeLate, measure.Figures{"host": s.Client.String(), "by_ns": by.Nanoseconds(), "limit_ns": latest.Nanoseconds()})
}

// TooLate reports whether a trial that is to start at an instant cannot do so any more; zero is no instant.
func TooLate(at, now time.Time) bool { return !at.IsZero() && now.Sub(at) > latest }

// awaitInstant returns at an instant of this machine, or immediately if it is zero or just over.
func (s Spec) awaitInstant(ctx context.Context, at time.Time) error {
	if at.IsZero() {
		return nil
	}
	if now := time.Now(); TooLate(at, now) {
		return s.LateStart(now.Sub(at))
	}
	return waitUntil(ctx, at)
}

// waitUntil returns at a time, precisely, or with the cause of ctx.
func waitUntil(ctx context.Context, at time.Time) error {
	soon := time.NewTimer(time.Until(at) - lastSleep)
	defer soon.Stop()
	select {
	case <-soon.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for left := time.Until(at); left > 0; left = time.Until(at) {
		pace.Sleep(left)
	}
	return nil
}
