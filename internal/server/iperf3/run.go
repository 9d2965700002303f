package iperf3

import (
	"context"
	"errors"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/flows"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/server"
	"soku/internal/sock"
	wire "soku/internal/wire/iperf3"
)

// measure runs this end of a test whose streams are all there until the client says
// that it is over.
func (t *test) measure() (*measure.End, error) {
	ctx, cancel := context.WithCancelCause(t.ctx)
	defer cancel(nil)
	stop := func(err error) { t.end(err, cancel) }
	if limit, why := t.timeLimit(); limit > 0 {
		timer := time.AfterFunc(limit, func() { stop(why) })
		defer timer.Stop()
	}
	pinning := t.handler.cfg.Pin
	if cpu := t.asked.ServerAffinity; cpu != nil {
		pinning = option.Pinning{On: true, CPUs: []int{*cpu}}
	}
	pins, err := sock.NewPins(pinning)
	if err != nil {
		return nil, &refusal{wire.CodeAffinity, err}
	}
	t.pins = pins
	t.log.Info("test started", "protocol", "iperf3", "client", t.client, "test", t.asked.Protocol,
		"direction", t.options.Direction, "connections", t.asked.Streams())
	watched := t.handler.WatchHost(t.local)
	t.reportOpened()
	if err := errors.Join(t.say(wire.TestStart), t.say(wire.TestRunning)); err != nil {
		watched(host.Moved{})
		return nil, err
	}
	end := &measure.End{}
	begin := time.Now()
	t.policy.Start.Begin(begin)
	end.Flows, err = t.flows(ctx, stop)
	if err == nil {
		// A client that closed its streams is about to say that the test is over.
		err = t.awaitEnd(ctx)
	}
	t.ran = time.Since(begin)
	if t.isOver() {
		t.ran = max(t.overAt.Sub(begin), lastMoved(end))
	}
	if err != nil {
		// A client that stops says so, and resets its streams: either may be seen first.
		sock.Pause(ctx, whyWait)
	}
	end.Host = watched(host.MovedBy(end, t.options))
	switch cause := t.cause(); {
	case err == nil:
	case cause != nil:
		return end, cause
	case ctx.Err() != nil:
		return end, context.Cause(ctx)
	}
	if err != nil {
		number := wire.CodeStreamRead
		switch {
		case errors.Is(err, engine.ErrStalled):
			number = wire.CodeSilence
		case t.asked.Reverse:
			number = wire.CodeStreamWrite
		}
		return end, &refusal{number, err}
	}
	return end, nil
}

// timeLimit is how long the test may be served, and why it is ended then. A client that
// asked for no more than the server's limit may nevertheless go on.
func (t *test) timeLimit() (limit time.Duration, why error) {
	if t.asked.Time > 0 {
		limit = time.Duration(t.asked.Omit+t.asked.Time)*time.Second + overtime
		why = &refusal{wire.CodeExpired, measure.Fail(measure.KindRefused, "server.iperf3.expired", nil)}
	}
	most := t.handler.Limits().MaxDuration
	if served := server.LongestServed(most); most > 0 && (limit == 0 || served < limit) {
		limit = served
		why = fail(wire.CodeMaxDuration, "server.max_duration.ended", measure.Figures{"limit_ns": most})
	}
	return limit, why
}

// lastMoved returns when the last byte of a receiver moved after the beginning of the
// test: it may have read for a moment after the end.
func lastMoved(end *measure.End) (at time.Duration) {
	for _, f := range end.Flows {
		if f.Role == measure.Receiver {
			at = max(at, time.Duration(f.StartNs+f.DurationNs))
		}
	}
	return at
}

func (t *test) awaitEnd(ctx context.Context) error {
	timeout := resultsWait
	if t.handler.cfg.Files.Source != nil { // a file may end long before the client's time
		timeout += time.Duration(t.asked.Omit+t.asked.Time) * time.Second
	}
	select {
	case <-t.over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(timeout):
		return fail(wire.CodeSilence, "server.iperf3.not_ended", measure.Figures{"limit_ns": timeout})
	}
}

// flows runs this end of every direction.
func (t *test) flows(ctx context.Context, stop func(error)) ([]measure.FlowEnd, error) {
	police := t.police(stop)
	limit, unwatch := t.limit(stop)
	defer unwatch()
	f := engine.Flow{Policy: t.policy, Pins: t.pins, Limit: limit, FarOptions: true, Observe: func(p measure.Progress) {
		police(p)
		t.turn.Moved(p.Bytes, time.Duration(p.EndNs-p.StartNs))
		t.shows.Observe(p)
	}}
	return flows.Sockets.Run(ctx, flows.Server, t.conns(), t.options, f)
}

// exchange gives the client this end's half for its own.
func (t *test) exchange(end *measure.End) error {
	t.closeStreams()
	if err := t.say(wire.ExchangeResults); err != nil {
		return err
	}
	own := wire.ResultsOf(end, t.asked, true, t.ran)
	own.CongestionUsed = t.congestion
	text, document := t.shows.Measured(end, own)
	t.hear(resultsWait)
	if _, err := wire.ReadResults(t.control, false); err != nil {
		return fail(wire.CodeReceiveResults, "server.iperf3.results", measure.Figures{"cause": err})
	}
	if t.asked.GetServerOutput {
		own.ServerOutputText, own.ServerOutputJSON = text, document
	}
	_ = t.control.SetWriteDeadline(time.Now().Add(resultsWait))
	if err := wire.WriteResults(t.control, own); err != nil {
		return err
	}
	if err := t.say(wire.DisplayResults); err != nil {
		return err
	}
	// Nothing depends on the last word; some versions close without it.
	t.hear(wordWait)
	_, _ = wire.ReadState(t.control)
	return nil
}
