package server

import (
	"soku/internal/measure"
	"soku/internal/sock"
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
		return o, nil, measure.Errorf(measure.KindRefused, "the test would take %s and this server allows %s (--max-duration)", o.Omit+o.Duration, limit).
			WithHint("ask for --duration %s or less, omitted start included", limit)
	}
	if _, err := pinsOf(o); err != nil {
		return o, nil, onServer(err)
	}
	o, findings := s.slow(test, o)
	return o, findings, nil
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
func (s *Server) slow(test measure.Test, o measure.Options) (measure.Options, measure.Findings) {
	limit := s.cfg.MaxRate
	if limit == 0 {
		return o, nil
	}
	switch test {
	case measure.TestTCP, measure.TestUDP:
		if o.Rate > 0 && o.Rate <= limit {
			return o, nil
		}
		figures := measure.Figures{"rate_bps": limit}
		if o.Rate > 0 {
			figures["requested_bps"] = o.Rate
		}
		o.Rate = limit
		return o, measure.Findings{measure.NewFinding(measure.CodeServerLoweredRate, measure.AtServer, figures)}
	case measure.TestConnect:
		return slowConnections(limit, o)
	case measure.TestLatency:
		most := float64(limit) / 8 / float64(o.Size)
		if o.RequestRate <= most {
			return o, nil
		}
		finding := measure.NewFinding(measure.CodeServerLoweredRequests, measure.AtServer, measure.Figures{
			"requests_per_second": most, "requested_per_second": o.RequestRate, "limit_bps": limit,
		})
		o.RequestRate = most
		return o, measure.Findings{finding}
	}
	return o, nil
}
