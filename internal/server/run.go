package server

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/flows"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/wire/native"
)

var errFinished = errors.New("the client is finished")

// measure runs this end of a complete session and returns what it counted.
func (s *Server) measure(ss *session) *measure.End {
	ctx, cancel := context.WithCancelCause(ss.ctx)
	defer cancel(nil)
	if limit, why := s.timeLimit(ss); limit > 0 {
		t := time.AfterFunc(limit, func() { cancel(why) })
		defer t.Stop()
	}
	pins, _ := pinsOf(ss.options) // which were permitted
	ss.pins = pins
	udp := ss.settleUDP()
	facts := s.facts.latest(ss.local) // those in the answer may be older
	watch := s.engines.watch(facts.Interface)
	entry := ss.entry.Load()
	if entry != nil {
		entry.Begin(ctx) // before the client opens the first
	}
	ss.out.state(native.EventRunning)
	ss.running.fire()

	end := &measure.End{Findings: slices.Clone(ss.findings)}
	var err error
	switch ss.test {
	case measure.TestConnect:
		err = s.takeConnections(ctx, cancel, ss, entry, end)
	case measure.TestLatency:
		end.Method, err = s.echo(ctx, cancel, ss, udp)
	default:
		if ss.options.WithLatency {
			end.Flows, err = s.flowsWithProbes(ctx, cancel, ss)
		} else {
			end.Flows, err = s.flows(ctx, cancel, ss, udp)
		}
	}
	counters := watch(host.MovedBy(end, ss.options))
	end.Host = &measure.Host{Facts: facts, Counters: &counters, PinnedCPUs: pins.Pinned()}
	if err == nil && pins.Err() != nil {
		err = onServer(pins.Err())
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			err = cause
		}
		end.Error = measure.AsError(err, measure.KindBroken)
	}
	return end
}

// timeLimit is how long the engines may run at most, and what to say after it.
// The options of a session that has a duration were checked against MaxDuration.
func (s *Server) timeLimit(ss *session) (time.Duration, error) {
	o := ss.options
	if o.Duration > 0 {
		limit := (o.Omit + o.Duration).Std() + native.Overtime
		return limit, measure.Errorf(measure.KindBroken, "the test did not end within %s after its time", native.Overtime)
	}
	if s.cfg.MaxDuration > 0 {
		return s.cfg.MaxDuration.Std(), measure.Errorf(measure.KindRefused, "the server ended the test after %s, its limit (--max-duration)", s.cfg.MaxDuration).
			WithHint("ask for less, or for a duration within the limit")
	}
	return 0, nil
}

// echo answers until the client is finished.
func (s *Server) echo(ctx context.Context, cancel context.CancelCauseFunc, ss *session, udp []net.Conn) (method string, err error) {
	conns := flows.Conns{TCP: ss.tcp, UDP: udp}.List()
	var watcher sync.WaitGroup
	defer watcher.Wait()
	defer cancel(nil)
	watcher.Go(func() {
		select {
		case <-ss.finished.ch:
			cancel(errFinished)
		case <-ctx.Done():
		}
	})
	method, err = s.engines.echo(ctx, conns, ss.options, engine.Flow{Pins: ss.pins}, nil)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errFinished):
		return method, nil
	case cause != nil:
		return method, cause
	}
	return method, err
}

// flows runs this end of every direction.
func (s *Server) flows(ctx context.Context, cancel context.CancelCauseFunc, ss *session, udp []net.Conn) ([]measure.FlowEnd, error) {
	f := engine.Flow{Pins: ss.pins, Observe: s.police(cancel, ss)}
	return s.engines.flows.Run(ctx, flows.Server, flows.Conns{TCP: ss.tcp, UDP: udp}, ownOptions(ss), f)
}

// police passes on the live intervals of what comes, and ends a session whose client
// sends clearly more than the server allows. The client watches what it receives itself.
func (s *Server) police(cancel context.CancelCauseFunc, ss *session) measure.Observer {
	allowed := newAllowance(s.cfg.MaxRate, 0)
	return func(p measure.Progress) {
		if p.Role == measure.Sender {
			return
		}
		if p.Whole() {
			ss.out.interval(p)
		}
		if allowed.spend(p.Bytes) {
			cancel(measure.Errorf(measure.KindRefused, "the server ended the test: the client sends faster than %s, the limit (--max-rate)", s.cfg.MaxRate).
				WithHint("use the same version of soku at both ends"))
		}
	}
}
