package server

import (
	"context"
	"errors"

	"soku/internal/measure"
)

// flowsWithProbes answers the messages that tell the latency of the path before,
// beside and after the flows. The client ends each part by ending its connection,
// so the flows begin when the path was measured without them.
func (s *Server) flowsWithProbes(ctx context.Context, cancel context.CancelCauseFunc, ss *session) ([]measure.FlowEnd, error) {
	probes := ss.tcp[len(ss.tcp)-measure.Probes:]
	idle, load := ss.options.IdleProbe(), ss.options.LoadProbe()
	if err := s.engines.echo(ctx, probes[0], idle); err != nil {
		return nil, err
	}
	beside, stop := context.WithCancel(ctx)
	defer stop()
	answered := make(chan error, 1)
	go func() { answered <- s.engines.echo(beside, probes[1], load) }()
	flows, err := s.flows(ctx, cancel, ss, nil)
	if err != nil {
		stop()
	}
	if err = errors.Join(err, <-answered); err != nil {
		return flows, err
	}
	return flows, s.engines.echo(ctx, probes[2], idle)
}
