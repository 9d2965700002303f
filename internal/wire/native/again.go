package native

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
)

// again is how a session goes on whose control connection is cut.
type again struct {
	limit time.Duration // of attempts after a cut
	runs  atomic.Bool   // the test was started
	tries atomic.Bool   // no connection carries the events at the moment
	read  int           // events of the kind that the server keeps; of the goroutine that listens
	since time.Time     // the last one was attached; of the same

	cuts, ns, longest atomic.Int64
}

// ControlCuts implements wire.Resumer.
func (s *session) ControlCuts() wire.ControlCuts {
	a := &s.again
	return wire.ControlCuts{Cuts: int(a.cuts.Load()), Lasted: time.Duration(a.ns.Load()), Longest: time.Duration(a.longest.Load())}
}

// attachAgain attaches to the events after their connection was cut; nil where that is not
// possible, or cause is no cut: a server that closes the connection has ended.
func (s *session) attachAgain(cause error) (lines io.Reader) {
	if _, is := errors.AsType[net.Error](cause); !is || !s.again.can(s) || s.again.cuts.Load() >= measure.MostCopyCuts {
		return nil
	}
	noticed := time.Now()
	if sock.TimedOut(cause) {
		noticed = noticed.Add(-Silence)
	}
	s.again.tries.Store(true)
	defer s.again.tries.Store(false)
	_ = s.eventsExchange().conn.Close()
	ctx, cancel := context.WithTimeout(s.life, s.again.limit)
	defer cancel()
	wait := time.Duration(0)
	if time.Since(s.again.since) < engine.ReopenMost { // cut again
		wait = engine.ReopenAfter
	}
	path := s.path(EventsPath) + "?after=" + strconv.Itoa(s.again.read)
	x, lines, err := s.insist(ctx, wait, http.MethodGet, path)
	if err != nil {
		return nil
	}
	s.follow(x)
	s.moved.Store(time.Now().UnixNano())
	s.again.since = time.Now()
	lasted := s.again.since.Sub(noticed)
	s.again.cuts.Add(1)
	s.again.ns.Add(int64(lasted))
	s.again.longest.Store(max(s.again.longest.Load(), int64(lasted)))
	return lines
}

// can reports whether the server keeps the session when the connection of its events is cut.
func (a *again) can(s *session) bool {
	return s.created.ResumeKey != nil && resumes(s.request.Test) && a.runs.Load()
}

// insist makes a request, each time on a connection of its own, until a soku server answers or
// ctx ends. The first attempt is made after wait.
func (s *session) insist(ctx context.Context, wait time.Duration, method, path string) (x *exchange, body io.ReadCloser, err error) {
	for ; ; wait = engine.ReopenWait(wait) {
		select {
		case <-ctx.Done():
			if err == nil {
				err = wire.Ended(ctx)
			}
			return nil, nil, err
		case <-time.After(wait):
		}
		if x, err = s.control.connect(ctx); err != nil {
			continue
		}
		if body, err = s.control.do(ctx, x, method, path, nil); err == nil {
			return x, body, nil
		}
		_ = x.conn.Close()
		if x.refused {
			return nil, nil, err
		}
	}
}

// finish reports that this end has finished; after a cut again and again, for longer than it
// takes to know that the events are lost, which ends that.
func (s *session) finish(ctx context.Context) error {
	if !s.again.can(s) {
		return s.control.once(ctx, http.MethodPost, s.path(FinishPath), nil, nil)
	}
	ctx, cancel := context.WithTimeout(ctx, s.again.limit+Silence)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	x, _, err := s.insist(ctx, 0, http.MethodPost, s.path(FinishPath))
	if err == nil {
		_ = x.conn.Close()
	}
	return err
}

// acknowledge tells the server of a session that it keeps for a cut that the last event was
// read.
func (s *session) acknowledge() {
	if s.again.can(s) {
		s.eventsExchange().leave()
	}
}

func (s *session) eventsExchange() *exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events
}
