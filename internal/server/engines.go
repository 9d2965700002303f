package server

import (
	"context"
	"net/netip"

	"soku/internal/host"
	"soku/internal/host/series"
	"soku/internal/measure"
	"soku/internal/tests"
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
