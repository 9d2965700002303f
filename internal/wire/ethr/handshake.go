package ethr

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
	"soku/internal/wire"
)

// maxDelay is the maximum delay until the server's next second, with a margin for stopped
// clocks.
const maxDelay = 2 * time.Second

// dial opens a connection that Close closes, from a local port, 0 for any.
func (s *session) dial(ctx context.Context, port int) (*net.TCPConn, error) {
	dialer := s.dialer
	if port != 0 {
		var err error
		if dialer, err = sock.DialerFrom("tcp", s.request.Options, port); err != nil {
			return nil, measure.AsError(err, measure.KindUsage)
		}
	}
	c, err := dialer.DialContext(ctx, "tcp", s.remote.String())
	if err != nil {
		return nil, s.explain(ctx, err)
	}
	if port != 0 { // a reset at its end leaves the port free for the next test
		_ = c.(*net.TCPConn).SetLinger(0)
	}
	return c.(*net.TCPConn), s.keep(c)
}

// ask opens connection i, sends the request for the test, and returns how long the answer
// took.
func (s *session) ask(ctx context.Context, i int) (c *net.TCPConn, took time.Duration, err error) {
	if c, err = s.dial(ctx, s.localPort(i)); err != nil {
		return nil, 0, err
	}
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Now()) })()
	sock.Within(ctx, c.SetDeadline, time.Now().Add(s.request.Options.ConnectTimeout.Std()))
	began := time.Now()
	_, err = c.Write(Append(nil, s.syn()))
	var answer Message
	if err == nil {
		answer, err = Read(c)
	}
	if err == nil && answer.Kind != Ack {
		err = errGob
	}
	if err != nil {
		return nil, 0, s.unanswered(ctx, err)
	}
	took = time.Since(began)
	_ = c.SetDeadline(time.Time{})
	return c, took, c.SetNoDelay(sock.FromOptions(s.request.Options).NoDelay || option.SpecOf(s.request.Test).Messages)
}

// syn is the request for the test.
func (s *session) syn() Message {
	o := s.request.Options
	m := Message{Kind: Syn, Test: Bandwidth, Synced: true, Params: Params{
		Threads: uint32(o.Streams), Buffer: uint32(o.Length), Rounds: 1000, Reverse: o.Direction == measure.Reverse,
		Duration: (o.Omit + o.Duration).Std(), Warmup: 1, ToS: uint8(o.TOS),
	}}
	if o.Streams > 0 {
		m.Params.Rate = uint64(o.Rate) / 8 / uint64(o.Streams)
	}
	if s.request.Test == measure.TestLatency {
		m.Test, m.Params.Threads, m.Params.Buffer, m.Params.Rounds = Latency, uint32(o.Flows), uint32(o.Size), s.rounds()
	}
	return m
}

// rounds is the number of round trips in a batch of the latency test.
func (s *session) rounds() uint32 { return uint32(min(max(s.request.Row, 1), maxRounds)) }

// syncTimeout is how long a server may take to answer SyncStart: a few times the time of
// its first answer, because a server that supports it answers immediately.
func syncTimeout(took time.Duration) time.Duration { return max(500*time.Millisecond, 4*took) }

// synchronise negotiates the start with the server, and returns false if the server does not
// support this. The server waits briefly for SyncStart and answers with the time until its next
// second. The client sends back the round trip of that exchange, and subtracts half of it.
func (s *session) synchronise(ctx context.Context, c *net.TCPConn, took time.Duration) (bool, error) {
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Now()) })()
	sock.Within(ctx, c.SetDeadline, time.Now().Add(syncTimeout(took)))
	asked := time.Now()
	if _, err := c.Write(Append(nil, Message{Kind: SyncStart, Synced: true})); err != nil {
		return false, s.unanswered(ctx, err)
	}
	ready, err := Read(c)
	came := time.Now()
	switch {
	case ctx.Err() != nil:
		return false, wire.Ended(ctx)
	case err != nil || ready.Kind != SyncReady:
		return false, nil // no answer, payload of a sending server, or a refusal
	case ready.Delay > maxDelay:
		return false, measure.Fail(measure.KindRefused, "ethr.delay", measure.Figures{"address": s.remote.String(), "delay_ns": ready.Delay})
	}
	rtt := came.Sub(asked)
	if ready.Delay > 0 {
		s.begins = came.Add(ready.Delay - rtt/2)
	}
	if _, err := c.Write(Append(nil, Message{Kind: SyncGo, RTT: rtt, Synced: true})); err != nil {
		return false, s.unanswered(ctx, err)
	}
	_ = c.SetDeadline(time.Time{})
	return true, nil
}

// unanswered is the error of a request without a valid answer.
func (s *session) unanswered(ctx context.Context, err error) error {
	if cause := wire.Ended(ctx); cause != nil {
		return cause
	}
	switch {
	case sock.TimedOut(err):
		return measure.Fail(measure.KindUnreachable, "ethr.no_answer", measure.Figures{"address": s.remote.String(), "wait_ns": s.request.Options.ConnectTimeout})
	case errors.Is(err, errGob), errors.Is(err, errLength):
		return measure.Fail(measure.KindRefused, "ethr.other_program", measure.Figures{"address": s.remote.String()})
	case errors.Is(err, io.EOF):
		return measure.Fail(measure.KindRefused, "ethr.closed", measure.Figures{"address": s.remote.String()})
	}
	return measure.Fail(measure.KindRefused, "ethr.failed", measure.Figures{"address": s.remote.String(), "cause": err})
}

// explain is the error of a connection that could not be opened.
func (s *session) explain(ctx context.Context, err error) error {
	if known := wire.Known(ctx, err); known != nil {
		return known
	}
	switch {
	case sock.Refused(err):
		return measure.Fail(measure.KindUnreachable, "dial.refused", measure.Figures{"address": s.remote.String()}).
			WithHintCode("ethr.refused", measure.Figures{"port": s.remote.Port()}).WithCause(errRefused)
	case sock.TimedOut(err):
		return measure.Fail(measure.KindUnreachable, "dial.no_answer", measure.Figures{"address": s.remote.String()}).
			WithHintCode("dial.firewall", measure.Figures{"network": "TCP", "port": s.remote.Port()})
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return measure.Fail(measure.KindUnreachable, "dial.failed", measure.Figures{"address": s.remote.String(), "cause": err}).WithHintCode("dial.routes_local", nil)
}

var errRefused = errors.New("refused")
