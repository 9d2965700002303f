package tests

import (
	"context"
	"errors"
	"net"
	"net/netip"

	"soku/internal/engine"
	"soku/internal/engine/connect"
	"soku/internal/engine/filecopy"
	"soku/internal/engine/flows"
	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/panics"
	"soku/internal/sock"
)

// ServerEnd is what the server's end of a test gets.
type ServerEnd struct {
	Options  measure.Options // as this end applies them
	Conns    flows.Conns
	Acceptor Acceptor // of a test that opened one, otherwise nil
	Pins     *sock.Pins
	Observe  measure.Observer // gets the intervals of what is received; may be nil
	Limit    engine.Limit     // of the server
	Finished <-chan struct{}  // closed when the client is finished
	Engines  Engines
	Later    func(func(context.Context)) // see [engine.Flow]
	// Reconnect takes data connections that the client opens again, or is nil if it cannot.
	Reconnect *engine.Reconnect
}

// Acceptor takes the connections of a test that measures setting them up.
type Acceptor interface {
	// Port is its own port, 0 for none.
	Port() int
	// Begin counts from now on, until ctx ends.
	Begin(ctx context.Context)
	// Take counts and answers a connection that came to the server's main port, and leaves
	// it open; it reports whether it was counted. It may block for a second.
	Take(c net.Conn) bool
	Close()
}

// Engines are what moves packets at the server's end, so that a server's own tests can
// take their place.
type Engines struct {
	Flows flows.Engines
	Echo  func(ctx context.Context, conns []net.Conn, o measure.Options, f engine.Flow, seen func(ns int64)) (measure.Timing, error)
	// CopyRoot takes the files of copies; nil takes none.
	CopyRoot *filecopy.Root
	Listen   func(local netip.Addr, peers []netip.Addr, o measure.Options) (*connect.Listener, error)
}

// Sockets are the engines that work on sockets of this host.
var Sockets = Engines{Flows: flows.Sockets, Echo: latency.Echo, Listen: connect.Listen}

// errFinished ends what runs until the client is finished.
var errFinished = errors.New("the client is finished")

// untilFinished runs an end that has no time of its own: its context ends with what
// watch returns, or with errFinished when the client is finished. It returns nil in the
// latter case, the reason in any other, and else what run returned.
func (e ServerEnd) untilFinished(ctx context.Context, watch func(context.Context) error, run func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	watcher := panics.Group{Stop: func() { cancel(nil) }}
	defer watcher.Wait()
	defer cancel(nil)
	watcher.Go(func() { cancel(watch(ctx)) })
	err := run(ctx)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errFinished):
		return nil
	case cause != nil:
		return cause
	}
	return err
}

// clientFinished waits until the client is finished.
func (e ServerEnd) clientFinished(ctx context.Context) error {
	select {
	case <-e.Finished:
		return errFinished
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// serveFlows runs the server's end of every direction.
func serveFlows(ctx context.Context, e ServerEnd) (*measure.End, error) {
	ends, err := e.Engines.Flows.Run(ctx, flows.Server, e.Conns, e.Options, engine.Flow{Pins: e.Pins, Observe: e.Observe, Limit: e.Limit, FarOptions: true, Later: e.Later})
	return &measure.End{Flows: ends}, err
}

// limitStreams lowers the rate of streams to that of the server.
func limitStreams(limit measure.Rate, o measure.Options) (measure.Options, measure.Findings) {
	if o.Rate > 0 && o.Rate <= limit {
		return o, nil
	}
	figures := measure.Figures{"rate_bps": limit}
	if o.Rate > 0 {
		figures["requested_bps"] = o.Rate
	}
	o.Rate = limit
	return o, measure.Findings{measure.NewFinding(finding.ServerLoweredRate, measure.AtServer, figures)}
}
