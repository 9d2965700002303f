package tests

import (
	"context"

	"soku/internal/engine"
	"soku/internal/engine/flows"
	"soku/internal/engine/tcp"
	"soku/internal/measure"
	"soku/internal/wire"
)

func init() {
	register(Descriptor{
		Test: measure.TestTCP, Prepare: prepareTCP, Open: openTCP, Compare: compareGoodput,
		Serve: serveTCP, Limit: limitStreams,
		Live: tcpColumns, Summary: flowSummary,
	})
}

// prepareTCP makes the payload of a sender.
func prepareTCP(o measure.Options) {
	if o.Direction != measure.Reverse {
		tcp.Prepare(o)
	}
}

func openTCP(ctx context.Context, s wire.Session, o measure.Options) (ClientEnd, error) {
	conns, err := s.TCP(ctx)
	end := ClientEnd{Conns: flows.Conns{TCP: conns}}
	end.Run = end.flows
	if tcp.OptionsOf(o).WithLatency {
		end.Run = end.underLoad
	}
	return end, err
}

// flows runs this end of every direction.
func (e ClientEnd) flows(ctx context.Context, o measure.Options, f engine.Flow) (*measure.End, error) {
	ends, err := flows.Sockets.Run(ctx, flows.Client, e.Conns, o, f)
	return &measure.End{Flows: ends}, err
}

func tcpColumns(v View) []Column {
	if v.Sender {
		return []Column{rateColumn("live.rate"), bytesColumn("live.moved")}
	}
	return []Column{rateColumn("live.goodput"), bytesColumn("live.received")}
}

func serveTCP(ctx context.Context, e ServerEnd) (*measure.End, error) {
	if tcp.OptionsOf(e.Options).WithLatency {
		return e.underLoad(ctx)
	}
	return serveFlows(ctx, e)
}
