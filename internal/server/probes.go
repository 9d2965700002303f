package server

import (
	"context"
	"errors"
	"net"

	"soku/internal/engine"
	"soku/internal/measure"
)

// flowsWithProbes answers the messages that tell the latency of the path before,
// beside and after the flows. The client ends each part by ending its connection,
// so the flows begin when the path was measured without them.
func (s *Server) flowsWithProbes(ctx context.Context, cancel context.CancelCauseFunc, ss *session) ([]measure.FlowEnd, error) {
	probes := ss.tcp[len(ss.tcp)-measure.Probes:]
	answer := func(ctx context.Context, part int, o measure.Options) error {
		// Without pins: the option is for the flows.
		_, err := s.engines.echo(ctx, []net.Conn{probes[part]}, o, engine.Flow{}, nil)
		return err
	}
	idle, load := ss.options.IdleProbe(), ss.options.LoadProbe()
	if err := answer(ctx, 0, idle); err != nil {
		return nil, err
	}
	beside, stop := context.WithCancel(ctx)
	defer stop()
	answered := make(chan error, 1)
	go func() { answered <- answer(beside, 1, load) }()
	flows, err := s.flows(ctx, cancel, ss, nil)
	if err != nil {
		stop()
	}
	if err = errors.Join(err, <-answered); err != nil {
		return flows, err
	}
	return flows, answer(ctx, 2, idle)
}
