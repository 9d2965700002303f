package server

import (
	"fmt"

	"soku/internal/measure"
	"soku/internal/sock"
)

// permit checks the options of a client as the client should have, and holds
// them to the limits of this server: a test that is longer than allowed is
// refused, because a shorter one would not be what was asked for; a rate is
// lowered, and a warning that goes into the result says so.
func (s *Server) permit(test measure.Test, asked measure.Options) (measure.Options, []string, error) {
	o, err := asked.Effective(test)
	if err != nil {
		return o, nil, err
	}
	if limit := s.cfg.MaxDuration; limit > 0 && o.Duration > 0 && o.Omit+o.Duration > limit {
		return o, nil, measure.Errorf(measure.KindRefused, "the test would take %s and this server allows %s (--max-duration)", o.Omit+o.Duration, limit).
			WithHint("ask for --duration %s or less, omitted start included", limit)
	}
	if _, err := pinsOf(o); err != nil {
		return o, nil, onServer(err)
	}
	o, warnings := s.slow(test, o)
	return o, warnings, nil
}

// pinsOf are the pins of this end.
func pinsOf(o measure.Options) (*sock.Pins, error) {
	_, own, err := measure.ParsePin(o.Pin)
	if err != nil {
		return nil, err
	}
	return sock.NewPins(own)
}

// slow lowers rates to the limit of this server.
func (s *Server) slow(test measure.Test, o measure.Options) (measure.Options, []string) {
	limit := s.cfg.MaxRate
	if limit == 0 {
		return o, nil
	}
	switch test {
	case measure.TestTCP, measure.TestUDP:
		if o.Rate > 0 && o.Rate <= limit {
			return o, nil
		}
		asked := "no limit"
		if o.Rate > 0 {
			asked = o.Rate.String()
		}
		o.Rate = limit
		return o, []string{fmt.Sprintf("the server lowered the rate to %s, its limit (--max-rate); asked for: %s", limit, asked)}
	case measure.TestConnect:
		return slowConnections(limit, o)
	case measure.TestLatency:
		most := float64(limit) / 8 / float64(o.Size)
		if o.RequestRate <= most {
			return o, nil
		}
		asked := o.RequestRate
		o.RequestRate = most
		return o, []string{fmt.Sprintf("the server lowered the requests to %.4g a second, because of its limit of %s (--max-rate); asked for: %.4g", most, limit, asked)}
	}
	return o, nil
}
