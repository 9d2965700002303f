package tests

import (
	"context"
	"net/netip"

	"soku/internal/engine/connect"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// connectBytes is the number of bytes that setting up and closing a connection
// moves in one direction, headers of IPv6 and Ethernet included. --max-rate
// counts them for a connection, in addition to its request.
const connectBytes = 400

// connectionCost is how many bytes a connection counts against --max-rate.
func connectionCost(o measure.Options) int64 { return connectBytes + int64(o.Size) }

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
	listener.Limit(e.Limit.In, connectionCost(e.Options))
	err := e.untilFinished(ctx, e.clientFinished, func(ctx context.Context) error {
		end.Connect = listener.Serve(ctx, e.Pins)
		return nil
	})
	if listener.OutOfFiles() {
		end.Findings.Add(finding.FileDescriptorsRanOut, measure.AtServer, nil)
	}
	if n := end.Connect.ForeignConns; n > 0 {
		end.Findings.Add(finding.ForeignConnections, measure.AtServer, measure.Figures{"connections": n})
	}
	return end, err
}

// limitConnections holds a test to the rate of the server: what has no rate of its own
// gets one.
func limitConnections(limit measure.Rate, o measure.Options) (measure.Options, measure.Findings) {
	most := float64(limit) / 8 / float64(connectionCost(o))
	if o.RequestRate > 0 && o.RequestRate <= most {
		return o, nil
	}
	figures := measure.Figures{"connections_per_second": most, "limit_bps": limit}
	if o.RequestRate > 0 {
		figures["requested_per_second"] = o.RequestRate
	}
	o.RequestRate = most
	return o, measure.Findings{measure.NewFinding(finding.ServerLoweredConnections, measure.AtServer, figures)}
}
