package tests

import (
	"context"
	"net/netip"

	"soku/internal/engine"
	"soku/internal/engine/connect"
	"soku/internal/measure"
	"soku/internal/text"
	"soku/internal/wire"
)

func init() {
	register(Descriptor{
		Test: measure.TestConnect, Open: openConnect, Serverless: connectServerless, Overhead: connectOverhead, Conditions: connectConditions,
		Accept: acceptConnections, Serve: serveConnect, Limit: limitConnections,
		Args:    func(o measure.Options) text.Args { return text.Args{"ToPort": connect.OptionsOf(o).ToPort} },
		Summary: connectSummary,
		Live:    func(View) []Column { return roundTripColumns("live.set_up") },
	})
}

func openConnect(ctx context.Context, s wire.Session, o measure.Options) (ClientEnd, error) {
	target, entry, err := chooseEntry(ctx, s, o)
	return ClientEnd{Run: func(ctx context.Context, o measure.Options, f engine.Flow) (*measure.End, error) {
		return connectTo(ctx, target, entry, o, f)
	}}, err
}

func connectTo(ctx context.Context, target connect.Target, entry string, o measure.Options, f engine.Flow) (*measure.End, error) {
	end, err := connect.Run(ctx, target, o, f.Pins, f.Observe)
	if end == nil {
		return &measure.End{}, err
	}
	end.Connect.Entry = entry
	return end, err
}

// connectServerless connects to a port at which no soku server counts.
func connectServerless(ctx context.Context, a Serverless) (found ServerlessResult, err error) {
	own := connect.OptionsOf(a.Options)
	target := connect.Target{Addr: netip.AddrPortFrom(a.Target, uint16(own.ToPort)), Reset: own.Close == "rst"}
	if err := a.Begin(); err != nil {
		return found, err
	}
	end, err := connectTo(ctx, target, entryForeign, a.Options, engine.Flow{Pins: a.Pins, Observe: a.Observe})
	found.End = *end
	return found, err
}

// connectConditions are what a set-up on loopback depends on.
func connectConditions(o measure.Options, _ *measure.End) string { return connect.FloorConditions(o) }

// connectOverhead measures what this host adds to a set-up.
func connectOverhead(ctx context.Context, o measure.Options, own *measure.End) (*measure.FloorReading, error) {
	return leastBaseline(float64(own.Latency.Histogram.Percentile(50)), nil, func() (*measure.FloorReading, error) { return connect.Floor(ctx, o) })
}
