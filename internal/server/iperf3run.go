package server

import (
	"context"
	"errors"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/flows"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire/iperf3"
)

// measure runs this end of a test whose streams are all there until the client says
// that it is over.
func (t *iperf3Test) measure() (*measure.End, error) {
	s := t.server
	ctx, cancel := context.WithCancelCause(t.ctx)
	defer cancel(nil)
	stop := func(err error) { t.end(err, cancel) }
	if t.asked.Time > 0 {
		limit := time.Duration(t.asked.Omit+t.asked.Time)*time.Second + iperf3Grace
		timer := time.AfterFunc(limit, func() { stop(refuse(iperf3.CodeExpired, "%w", errIperf3Expired)) })
		defer timer.Stop()
	}
	pinning := s.cfg.Pin
	if cpu := t.asked.ServerAffinity; cpu != nil {
		pinning = measure.Pinning{On: true, CPUs: []int{*cpu}}
	}
	pins, err := sock.NewPins(pinning)
	if err != nil {
		return nil, refuse(iperf3.CodeAffinity, "%w", err)
	}
	t.pins = pins
	s.log.Info("test started", "protocol", "iperf3", "client", t.client, "test", t.asked.Protocol,
		"direction", t.options.Direction, "connections", t.asked.Streams())
	facts := s.facts.latest(t.local)
	watch := s.engines.watch(facts.Interface)
	t.tellOpened()
	if err := errors.Join(t.say(iperf3.TestStart), t.say(iperf3.TestRunning)); err != nil {
		watch(host.Moved{})
		return nil, err
	}
	end := &measure.End{}
	begin := time.Now()
	end.Flows, err = t.flows(ctx, stop)
	if err == nil {
		// A client that closed its streams is about to say that the test is over.
		err = t.awaitEnd(ctx)
	}
	t.ran = time.Since(begin)
	if t.over.fired() { // receivers go on for a moment after it
		t.ran = t.overAt.Sub(begin)
	}
	if err != nil {
		// A client that stops says so, and resets its streams: either may be seen first.
		select {
		case <-ctx.Done():
		case <-time.After(iperf3Why):
		}
	}
	counters := watch(host.MovedBy(end, t.options))
	end.Host = &measure.Host{Facts: facts, Counters: &counters}
	switch cause := t.cause(); {
	case err == nil:
	case cause != nil:
		return end, cause
	case ctx.Err() != nil:
		return end, context.Cause(ctx)
	}
	if err != nil {
		code := iperf3.CodeStreamRead
		switch {
		case errors.Is(err, engine.ErrStalled):
			code = iperf3.CodeSilence
		case t.asked.Reverse:
			code = iperf3.CodeStreamWrite
		}
		return end, &refusal{code, err}
	}
	return end, nil
}

func (t *iperf3Test) awaitEnd(ctx context.Context) error {
	patience := iperf3Results
	if t.server.cfg.IPerf3Files.Source != nil { // a file may end long before the client's time
		patience += time.Duration(t.asked.Omit+t.asked.Time) * time.Second
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-t.over.ch:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-limit.C:
		return refuse(iperf3.CodeSilence, "the streams ended, and the client did not end the test in %s", patience)
	}
}

// flows runs this end of every direction.
func (t *iperf3Test) flows(ctx context.Context, stop func(error)) ([]measure.FlowEnd, error) {
	police := t.police(stop)
	f := engine.Flow{Policy: t.policy, Pins: t.pins, Observe: func(p measure.Progress) {
		police(p)
		t.shows.Observe(p)
	}}
	return flows.Sockets.Run(ctx, flows.Server, t.conns(), t.options, f)
}

// exchange gives the client this end's half for its own.
func (t *iperf3Test) exchange(end *measure.End) error {
	t.closeStreams()
	if err := t.say(iperf3.ExchangeResults); err != nil {
		return err
	}
	own := iperf3.ResultsOf(end, t.asked, true, t.ran)
	own.CongestionUsed = t.congestion
	text, document := t.shows.Measured(end, own)
	t.hear(iperf3Results)
	if _, err := iperf3.ReadResults(t.control, false); err != nil {
		return refuse(iperf3.CodeReceiveResults, "read the client's results: %w", err)
	}
	if t.asked.GetServerOutput {
		own.ServerOutputText, own.ServerOutputJSON = text, document
	}
	_ = t.control.SetWriteDeadline(time.Now().Add(iperf3Results))
	if err := iperf3.WriteResults(t.control, own); err != nil {
		return err
	}
	if err := t.say(iperf3.DisplayResults); err != nil {
		return err
	}
	// Nothing depends on the last word; some versions close without it.
	t.hear(iperf3Word)
	_, _ = iperf3.ReadState(t.control)
	return nil
}
