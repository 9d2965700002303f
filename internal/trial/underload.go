package trial

import (
	"context"
	"errors"
	"net"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/sock"
)

// errLoadOver ends the messages beside a load that ended by itself.
var errLoadOver = errors.New("the load has ended")

// underLoad measures the path before, beside and after the flows. What was
// measured before a failure is kept.
func (d data) underLoad(ctx context.Context, o measure.Options, obs measure.Observer) (*measure.End, error) {
	alone := sock.WithPins(ctx, nil) // the option pin is for the flows
	probes := d.tcp[len(d.tcp)-measure.Probes:]
	end := &measure.End{UnderLoad: &measure.UnderLoad{}}
	var err error
	if end.UnderLoad.Before, err = latency.Run(alone, probes[0], o.IdleProbe(), nil); err != nil {
		return end, err
	}
	beside, stop := context.WithCancelCause(alone)
	defer stop(nil)
	done := make(chan struct{})
	var probeErr error
	go func() {
		defer close(done)
		end.UnderLoad.During, probeErr = probe(beside, probes[1], o)
	}()
	end.Flows, err = d.flows(ctx, measure.TestTCP, o, obs)
	if err != nil || o.Duration == 0 {
		stop(errLoadOver)
	}
	<-done
	if err = errors.Join(err, probeErr); err != nil {
		return end, err
	}
	end.UnderLoad.After, err = latency.Run(alone, probes[2], o.IdleProbe(), nil)
	return end, err
}

// probe measures beside the load until both have ended.
func probe(ctx context.Context, conn net.Conn, o measure.Options) (*measure.Latency, error) {
	l, err := latency.Run(ctx, conn, o.LoadProbe(), nil)
	if errors.Is(err, errLoadOver) {
		err = nil
	}
	return l, err
}
