package server

import (
	"context"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/panics"
	"soku/internal/sock"
	"soku/internal/sock/pace"
	"soku/internal/tests"
)

// permit checks the options of a client as the client should have, and holds
// them to the limits of this server: a test that is longer than allowed is
// refused, because a shorter one would not be what was asked for; a rate is
// lowered, and a finding that goes into the result says so.
func (s *Server) permit(test measure.Test, asked measure.Options) (measure.Options, measure.Findings, error) {
	o, err := option.Effective(asked, test)
	if err != nil {
		return o, nil, err
	}
	if limit := s.cfg.MaxDuration; limit > 0 && o.Duration > 0 && o.Omit+o.Duration > limit {
		return o, nil, measure.Fail(measure.KindRefused, "server.max_duration", measure.Figures{"duration_ns": o.Omit + o.Duration, "limit_ns": limit})
	}
	if _, err := pinsOf(o); err != nil {
		return o, nil, onServer(err)
	}
	d := tests.Of(test)
	if d != nil && d.Admit != nil {
		if err := d.Admit(s.engines.Engines, o); err != nil {
			return o, nil, err
		}
	}
	if s.cfg.MaxRate > 0 && d != nil && d.Limit != nil {
		o, findings := d.Limit(s.cfg.MaxRate, o)
		if _, err := option.Effective(o, test); err != nil { // too low for what was asked for
			return o, nil, onServer(err)
		}
		return o, findings, nil
	}
	return o, nil, nil
}

// pinsOf are the pins of this end.
func pinsOf(o measure.Options) (*sock.Pins, error) {
	_, own, err := option.ParsePin(o.Pin)
	if err != nil {
		return nil, err
	}
	return sock.NewPins(own)
}

// leastOvertime is how long a test of any length may be served beyond the server's limit:
// a client that asks for all of it begins a round trip after its server, and what it sent
// last is still in the queues of the path.
const leastOvertime = time.Second

// LongestServed is how long a test may be served where limit is the longest that a client
// may ask for: a twentieth longer, and at least a second. 0 is no limit, for both.
func LongestServed(limit measure.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	return limit.Std() + max(leastOvertime, limit.Std()/20)
}

// patience is how long a client of another tool that asked for no rate is slowed down
// before its test ends with an error: the limit cannot be told to it, and its figure would
// not say why it is low.
const patience = 5 * time.Second

// NewBudget returns what a test of another tool's client may move under the server's limit
// on rates, both directions together; nil without a limit. rated says that the client asked
// for a rate, which is within the limit.
func NewBudget(limit measure.Rate, rated bool) *pace.Budget {
	switch {
	case limit == 0:
		return nil
	case rated:
		return pace.NewBudget(float64(limit), 0)
	}
	return pace.NewBudget(float64(limit), patience)
}

// Together is a limit for both directions together.
func Together(b *pace.Budget) engine.Limit { return engine.Limit{In: b, Out: b} }

// Enforce calls exceeded once the peer of a test has sent more than its limit allows. The
// caller calls stop after the test, which waits for that.
func Enforce(limit engine.Limit, exceeded func()) (stop func()) {
	if limit.None() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var watcher panics.Group
	watcher.Go(func() {
		select {
		case <-over(limit.In):
		case <-over(limit.Out):
		case <-ctx.Done():
			return
		}
		exceeded()
	})
	return func() { cancel(); watcher.Wait() }
}

// over is closed when the budget is exceeded; nil, which is never, for none.
func over(b *pace.Budget) <-chan struct{} {
	if b == nil {
		return nil
	}
	return b.Over()
}

// enforce ends a native session whose client sends more than the server allows.
func (s *Server) enforce(ss *session, cancel context.CancelCauseFunc) (engine.Limit, func()) {
	var limit engine.Limit
	if most := float64(s.cfg.MaxRate); most > 0 {
		limit = engine.Limit{In: pace.NewBudget(most, 0), Out: pace.NewBudget(most, 0)}
	}
	return limit, Enforce(limit, func() { cancel(s.exceeded(ss)) })
}

// exceeded is why such a session ends.
func (s *Server) exceeded(ss *session) error {
	figures := measure.Figures{"limit_bps": s.cfg.MaxRate}
	switch {
	case ss.test == measure.TestConnect:
		return measure.Fail(measure.KindRefused, "server.max_rate.connections", measure.Figures{"limit_per_second": ss.options.RequestRate})
	case ss.test == measure.TestLatency && ss.options.RequestRate == 0:
		figures["requests_per_second"] = float64(s.cfg.MaxRate) / 8 / float64(ss.options.Size)
		return measure.Fail(measure.KindRefused, "server.max_rate.messages", figures)
	}
	return measure.Fail(measure.KindRefused, "server.max_rate.ended", figures)
}
