package server

import (
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/tests"
)

// permit checks the options of a client as the client should have, and holds
// them to the limits of this server: a test that is longer than allowed is
// refused, because a shorter one would not be what was asked for; a rate is
// lowered, and a finding that goes into the result says so.
func (s *Server) permit(test measure.Test, asked measure.Options) (measure.Options, measure.Findings, error) {
	o, err := asked.Effective(test)
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
		if _, err := o.Effective(test); err != nil { // too low for what was asked for
			return o, nil, onServer(err)
		}
		return o, findings, nil
	}
	return o, nil, nil
}

// pinsOf are the pins of this end.
func pinsOf(o measure.Options) (*sock.Pins, error) {
	_, own, err := measure.ParsePin(o.Pin)
	if err != nil {
		return nil, err
	}
	return sock.NewPins(own)
}
