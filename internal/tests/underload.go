package tests

import (
	"context"
	"errors"
	"net"

	"soku/internal/engine"
	"soku/internal/engine/latency"
	"soku/internal/measure"
)

// errLoadOver ends the messages beside a load that ended by itself.
var errLoadOver = errors.New("the load has ended")

// underLoad measures the path before, beside and after the flows. What was
// measured before a failure is kept.
func (e ClientEnd) underLoad(ctx context.Context, o measure.Options, f engine.Flow) (*measure.End, error) {
	probes := e.Conns.TCP[len(e.Conns.TCP)-measure.Probes:]
	end := &measure.End{UnderLoad: &measure.UnderLoad{}}
	var err error
	if end.UnderLoad.Before, err = probe(ctx, probes[0], o.IdleProbe()); err != nil {
		return end, err
	}
	beside, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	done := make(chan struct{})
	var probeErr error
	go func() {
		defer close(done)
		end.UnderLoad.During, probeErr = probe(beside, probes[1], o.LoadProbe())
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
	end.UnderLoad.After, err = probe(ctx, probes[2], o.IdleProbe())
	return end, err
}

// probe measures round trips over a connection of its own. It is not pinned: the
// option is for the flows.
func probe(ctx context.Context, conn net.Conn, o measure.Options) (*measure.Latency, error) {
	return latency.Run(ctx, []net.Conn{conn}, o, engine.Flow{})
}
