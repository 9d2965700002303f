package server

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"soku/internal/engine/flows"
	"soku/internal/host"
	"soku/internal/host/series"
	"soku/internal/measure"
	"soku/internal/tests"
	"soku/internal/wire/native"
)

// engines are what moves packets and reads this host, so that tests can take
// the place of either.
type engines struct {
	tests.Engines
	facts   func(context.Context, netip.Addr) measure.Facts
	details func(context.Context, measure.Facts) measure.Details
	watch   func(iface string) (stop func(host.Moved) measure.Counters)
	// sample begins a series of this host and returns what ends it, or nil if there is none.
	sample func(series.Config) (stop func() *measure.Series)
}

func realEngines() engines {
	return engines{
		Engines: tests.Sockets, facts: host.Facts, details: host.Details,
		watch: func(iface string) func(host.Moved) measure.Counters { return host.Watch(iface).Stop },
		sample: func(c series.Config) func() *measure.Series {
			if s := series.Start(c); s != nil {
				return s.Stop
			}
			return nil
		},
	}
}

// measure runs this end of a complete session and returns what it counted.
func (s *Server) measure(ss *session, later func(func(context.Context))) *measure.End {
	ctx, cancel := context.WithCancelCause(ss.ctx)
	defer cancel(nil)
	if limit, why := s.timeLimit(ss); limit > 0 {
		t := time.AfterFunc(limit, func() { cancel(why) })
		defer t.Stop()
	}
	pins, _ := pinsOf(ss.options) // which were permitted
	ss.pins = pins
	udp := ss.settleUDP()
	conns := flows.Conns{TCP: ss.tcp, UDP: udp}
	sampled := sync.OnceValue(s.sample(ss, conns))
	defer func() { sampled() }() // also after a panic
	watched := s.watchHost(ss.local, ss.client.Addr())
	limit, unwatch := s.enforce(ss, cancel)
	defer unwatch()
	acceptor := ss.acceptor()
	if acceptor != nil {
		acceptor.Begin(ctx) // before the client opens the first
	}
	ss.out.state(native.EventRunning)
	ss.running.fire()

	end, err := tests.Of(ss.test).Serve(ctx, tests.ServerEnd{
		Options: ownOptions(ss), Conns: conns, Acceptor: acceptor, Pins: pins,
		Observe: ss.observe, Limit: limit, Finished: ss.finished.ch, Engines: s.engines.Engines, Later: later, Reconnect: ss.resumes.reconnect(ss.finished),
	})
	end.Findings = append(slices.Clone(ss.findings), end.Findings...)
	taken := sampled() // before the details of the host are read
	end.Host = watched(host.MovedBy(end, ss.options))
	end.Host.PinnedCPUs, end.Host.Series = pins.Pinned(), taken
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

// sample begins the series of this host, the connections and the control connection, and
// returns what ends it. There is none without the option, which clients of earlier versions
// do not have, nor if [series.MostAtOnce] sessions have one.
func (s *Server) sample(ss *session, conns flows.Conns) (stop func() *measure.Series) {
	none := func() *measure.Series { return nil }
	if ss.options.Series != measure.SeriesOn {
		return none
	}
	// A server of few descriptors has them for connections.
	if d := s.descriptors; d.total > 0 && d.left() < 2*series.MostAtOnce*series.Descriptors {
		return none
	}
	release, err := s.descriptors.reserve(ss.client.Addr(), series.Descriptors)
	if err != nil {
		return none
	}
	sources := conns.Watch(flows.Server, ss.options)
	if control := ss.control.Load(); control != nil {
		sources = append(sources, flows.WatchControl(control))
	}
	end := s.engines.sample(series.Config{Interface: s.facts.latest(ss.local).Interface, Sources: sources})
	if end == nil {
		release()
		return none
	}
	ss.sampled.Store(true)
	return func() *measure.Series {
		defer release()
		return end()
	}
}

// timeLimit is how long the engines may run at most, and what to say after it.
// The options of a session that has a duration were checked against MaxDuration, which a
// client may nevertheless exceed.
func (s *Server) timeLimit(ss *session) (time.Duration, error) {
	o := ss.options
	limit, why := time.Duration(0), error(nil)
	if o.Duration > 0 {
		limit = (o.Omit + o.Duration).Std() + native.Overtime
		why = measure.Fail(measure.KindBroken, "server.overtime", measure.Figures{"limit_ns": native.Overtime})
	}
	if most := s.cfg.MaxDuration; most > 0 && (limit == 0 || limit > LongestServed(most)) {
		limit = most.Std()
		if o.Duration > 0 {
			limit = LongestServed(most)
		}
		why = measure.Fail(measure.KindRefused, "server.max_duration.ended", measure.Figures{"limit_ns": most})
	}
	return limit, why
}

// observe counts the live intervals and passes on those of what comes. The client watches what it
// receives itself.
func (ss *session) observe(p measure.Progress) {
	ss.rate.moved(p.Bytes, time.Duration(p.EndNs-p.StartNs))
	if p.Role != measure.Sender && p.Whole() {
		ss.out.interval(p)
	}
}
