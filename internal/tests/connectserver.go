package tests

import (
	"context"
	"net/netip"
	"time"

	"soku/internal/engine/connect"
	"soku/internal/measure"
)

// connectBytes is what setting up and closing a connection moves in one
// direction, headers of IPv6 and Ethernet included: what --max-rate takes a
// connection for, beside its request.
const connectBytes = 400

// connectionCost is how many bytes a connection counts against --max-rate.
func connectionCost(o measure.Options) float64 { return connectBytes + float64(o.Size) }

// acceptConnections opens a port of the test's own, at the address that the client came
// to and for the client's addresses only. Where that fails, connections come to the
// server's main port alone, unless the client insists.
func acceptConnections(e Engines, local netip.Addr, peers []netip.Addr, o measure.Options) (Acceptor, error) {
	if connect.OptionsOf(o).Entry == entryMain {
		return connect.Portless(o), nil
	}
	return e.Listen(local, peers, o)
}

// serveConnect counts connections until the client is finished.
func serveConnect(ctx context.Context, e ServerEnd) (*measure.End, error) {
	listener, end := e.Acceptor.(*connect.Listener), &measure.End{}
	police := func(ctx context.Context) error { return policeConnections(ctx, e, listener) }
	err := e.untilFinished(ctx, police, func(ctx context.Context) error {
		end.Connect = listener.Serve(ctx, e.Pins)
		return nil
	})
	if listener.OutOfFiles() {
		end.Findings.Add(measure.CodeFileDescriptorsRanOut, measure.AtServer, nil)
	}
	if n := end.Connect.ForeignConns; n > 0 {
		end.Findings.Add(measure.CodeForeignConnections, measure.AtServer, measure.Figures{"connections": n})
	}
	return end, err
}

// policeConnections waits for the client to be finished, and refuses one that makes
// clearly more connections than the server allows.
func policeConnections(ctx context.Context, e ServerEnd, listener *connect.Listener) error {
	if e.MaxRate == 0 {
		return e.clientFinished(ctx)
	}
	begin, most := time.Now(), float64(e.MaxRate)/8/connectionCost(e.Options)
	every := time.NewTicker(100 * time.Millisecond)
	defer every.Stop()
	for {
		select {
		case <-e.Finished:
			return errFinished
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-every.C:
		}
		if float64(listener.Accepted()) > 1.1*most*time.Since(begin).Seconds()+max(most, 1000) {
			return measure.Fail(measure.KindRefused, "server.max_rate.connections", measure.Figures{"limit_per_second": most})
		}
	}
}

// limitConnections holds a test to the rate of the server: what has no rate of its own
// gets one.
func limitConnections(limit measure.Rate, o measure.Options) (measure.Options, measure.Findings) {
	most := float64(limit) / 8 / connectionCost(o)
	if o.RequestRate > 0 && o.RequestRate <= most {
		return o, nil
	}
	figures := measure.Figures{"connections_per_second": most, "limit_bps": limit}
	if o.RequestRate > 0 {
		figures["requested_per_second"] = o.RequestRate
	}
	o.RequestRate = most
	return o, measure.Findings{measure.NewFinding(measure.CodeServerLoweredConnections, measure.AtServer, figures)}
}
