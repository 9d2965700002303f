package server

import (
	"context"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/sock/pace"
)

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
