package tests

import (
	"context"
	"errors"
	"net"

	"soku/internal/engine"
	"soku/internal/engine/latency"
	"soku/internal/engine/tcp"
	"soku/internal/measure"
)

// errLoadOver ends the latency messages when the load has ended without a stop.
var errLoadOver = errors.New("the load has ended")

// underLoad measures the path before, during and after the flows. Figures that
// were measured before a failure are kept.
func (e ClientEnd) underLoad(ctx context.Context, o measure.Options, f engine.Flow) (*measure.End, error) {
	probes := e.Conns.TCP[len(e.Conns.TCP)-tcp.ProbeConnections:]
	end := &measure.End{UnderLoad: &measure.UnderLoad{}}
	var err error
	if end.UnderLoad.Before, err = roundTrips(ctx, probes[0], tcp.IdleProbe(o)); err != nil {
		return end, err
	}
	beside, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	done := make(chan struct{})
	var probeErr error
	go func() {
		defer close(done)
		end.UnderLoad.During, probeErr = roundTrips(beside, probes[1], tcp.LoadProbe(o))
		if errors.Is(probeErr, errLoadOver) {
			probeErr = nil
		}
	}()
	load, err := e.flows(ctx, o, f)
	end.Flows = load.Flows
	if err != nil || o.Duration == 0 {
		stop(errLoadOver)
	}
	<-done
	if err = errors.Join(err, probeErr); err != nil {
		return end, err
	}
	end.UnderLoad.After, err = roundTrips(ctx, probes[2], tcp.IdleProbe(o))
	return end, err
}

// probeOptions are options of a probe, which leaves the processors to the load.
func probeOptions(o measure.Options) measure.Options {
	measure.EditOwn(&o, func(own *latency.Options) { own.Spin = "off" })
	return o
}

// roundTrips measures round trips over a connection of its own. It is not pinned: the
// option is for the flows.
func roundTrips(ctx context.Context, conn net.Conn, o measure.Options) (*measure.Latency, error) {
	return latency.Run(ctx, []net.Conn{conn}, probeOptions(o), engine.Flow{})
}

// underLoad answers the messages that measure the latency of the path before,
// during and after the flows. The client ends each part by ending its connection,
// so the flows begin when the path was measured without them.
func (e ServerEnd) underLoad(ctx context.Context) (*measure.End, error) {
	end := &measure.End{}
	probes := e.Conns.TCP[len(e.Conns.TCP)-tcp.ProbeConnections:]
	answer := func(ctx context.Context, part int, o measure.Options) error {
		// Without pins: the option is for the flows.
		_, err := e.Engines.Echo(ctx, []net.Conn{probes[part]}, probeOptions(o), engine.Flow{Limit: e.Limit}, nil)
		return err
	}
	idle, load := tcp.IdleProbe(e.Options), tcp.LoadProbe(e.Options)
	if err := answer(ctx, 0, idle); err != nil {
		return end, err
	}
	beside, stop := context.WithCancel(ctx)
	defer stop()
	answered := make(chan error, 1)
	go func() { answered <- answer(beside, 1, load) }()
	end, err := serveFlows(ctx, e)
	if err != nil {
		stop()
	}
	if err = errors.Join(err, <-answered); err != nil {
		return end, err
	}
	return end, answer(ctx, 2, idle)
}
