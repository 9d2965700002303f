package iperf3

import (
	"context"
	"io"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
)

// Ended implements [wire.Ender].
func (s *session) Ended() {
	s.ended = s.endOf(time.Now())
	if s.endsAtOnce() {
		s.end()
	}
}

// endOf returns when a test ended whose end was noticed at the given time. One of a time that
// only sends has ended with that time: a busy host notices it later.
func (s *session) endOf(noticed time.Time) time.Time {
	o := s.request.Options
	end := s.began.Add(o.Omit.Std() + o.Duration.Std())
	if !s.endsAtOnce() || o.Duration <= 0 || s.asked.Reverse || s.asked.Bidirectional || noticed.Before(end) {
		return noticed
	}
	return end
}

// endsAtOnce reports whether the server hears of the end when this end's flows have
// ended. Of an amount, and of files, everything is to arrive.
func (s *session) endsAtOnce() bool {
	x := s.request.IPerf3
	return x.EndAtOnce && s.request.Options.Bytes == 0 && x.Blocks == 0 && x.Contents.Source == nil && x.Contents.Sink == nil
}

// end sends the end of the test.
func (s *session) end() {
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	_ = s.control.SetWriteDeadline(soon())
	s.endErr = WriteState(s.control, TestEnd)
}

// Finish implements wire.Session.
func (s *session) Finish(ctx context.Context, own *measure.End) (*measure.End, error) {
	defer context.AfterFunc(ctx, func() { _ = s.control.SetDeadline(time.Unix(1, 0)) })()
	if s.ended.IsZero() {
		s.Ended()
	}
	var pause time.Duration
	if !s.endsAtOnce() {
		pause = s.drain(ctx, own)
		s.end()
	}
	mine := ResultsOf(own, s.asked, false, s.ended.Sub(s.began))
	s.mu.Lock()
	s.exchange.Own, s.exchange.Pause = mine, pause
	s.mu.Unlock()
	sock.Within(ctx, s.control.SetDeadline, time.Now().Add(s.resultsTimeout()))
	if s.endErr != nil {
		return nil, s.explainControl(ctx, askingResults, s.endErr)
	}
	if a := <-s.next; a.err != nil {
		if cause := wire.Ended(ctx); cause != nil {
			return nil, cause
		}
		return nil, a.err
	}
	if err := WriteResults(s.control, mine); err != nil {
		return nil, s.explainControl(ctx, askingResults, err)
	}
	far, err := ReadResults(s.control, s.asked.GetServerOutput)
	if err != nil {
		return nil, s.explainControl(ctx, askingResults, err)
	}
	s.mu.Lock()
	s.exchange.Far = far
	s.mu.Unlock()
	if err := s.expect(ctx, askingResults, DisplayResults); err != nil {
		return nil, err
	}
	s.silence()
	s.part()
	if s.hooks.State != nil {
		s.hooks.State(wire.State{Name: wire.Done})
	}
	end := EndOf(far, s.asked, true)
	for i := range end.Flows {
		f := &end.Flows[i]
		f.DurationNs = max(f.DurationNs-int64(pause), f.DurationNs/2)
	}
	return end, nil
}

// part sends the last state and waits until the server has closed its end: until then it
// would answer the next client that it is busy.
func (s *session) part() {
	if WriteState(s.control, Done) != nil || s.control.CloseWrite() != nil {
		return
	}
	_ = s.control.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = io.CopyN(io.Discard, s.control, 1<<10)
}

// drain waits until the server has probably read its sockets, because it discards unread
// bytes at the end of the test. It returns how long that took: nothing was sent meanwhile,
// while the server's clock ran.
func (s *session) drain(ctx context.Context, own *measure.End) time.Duration {
	var longest time.Duration
	sends := false
	for _, f := range own.Flows {
		sends = sends || f.Role == measure.Sender
		longest = max(longest, time.Duration(f.DurationNs))
	}
	if !sends {
		return 0
	}
	began := time.Now()
	sock.Pause(ctx, min(100*time.Millisecond, max(20*time.Millisecond, longest/100)))
	return time.Since(began)
}

// resultsTimeout is how long the server may take for its results: it answers only when
// the bytes queued on the path have arrived.
func (s *session) resultsTimeout() time.Duration {
	return 30*time.Second + s.request.Options.ConnectTimeout.Std()
}
