package native

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
)

// controlCuts are the cuts of the control connection of a session, which goes on after them.
type controlCuts struct {
	limit   time.Duration // of attempts after a cut
	running atomic.Bool   // the test was started
	since   time.Time     // the last connection was attached; of the goroutine that listens

	n, ns, longest atomic.Int64

	mu   sync.Mutex
	away chan struct{} // closed when the attempts to reattach end; nil: there are none
}

// begin begins attempts to reattach. The caller calls end after them.
func (c *controlCuts) begin() (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	away := make(chan struct{})
	c.away = away
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		close(away)
		c.away = nil
	}
}

// attempts returns what begin makes, or nil if the client does not try to reattach.
func (c *controlCuts) attempts() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.away
}

// ControlCuts implements wire.Resumer.
func (s *session) ControlCuts() wire.ControlCuts {
	c := &s.cuts
	return wire.ControlCuts{Cuts: int(c.n.Load()), Lasted: time.Duration(c.ns.Load()), Longest: time.Duration(c.longest.Load())}
}

// reattach attaches to the events after their connection was cut. It returns nil if that is not
// possible, or if cause is no cut: a server that closes the connection has ended.
func (s *session) reattach(cause error) (lines io.Reader) {
	c := &s.cuts
	if _, is := errors.AsType[net.Error](cause); !is || !s.survivesCuts() || c.n.Load() >= measure.MostCopyCuts {
		return nil
	}
	noticed := time.Now()
	if sock.TimedOut(cause) {
		noticed = noticed.Add(-Silence)
	}
	defer c.begin()()
	s.mu.Lock()
	events := s.events
	s.mu.Unlock()
	_ = events.conn.Close()
	ctx, cancel := context.WithTimeout(s.life, c.limit)
	defer cancel()
	wait := time.Duration(0)
	if time.Since(c.since) < engine.RetryMost { // cut again
		wait = engine.RetryAfter
	}
	x, lines, err := s.retry(ctx, wait, http.MethodGet, s.path(EventsPath))
	if err != nil {
		return nil
	}
	s.follow(x)
	s.moved.Store(time.Now().UnixNano())
	c.since = time.Now()
	lasted := c.since.Sub(noticed)
	c.n.Add(1)
	c.ns.Add(int64(lasted))
	c.longest.Store(max(c.longest.Load(), int64(lasted)))
	return lines
}

// survivesCuts reports whether the server keeps the session when the connection of its events is
// cut.
func (s *session) survivesCuts() bool {
	return s.created.ResumeKey != nil && resumes(s.request.Test) && s.cuts.running.Load()
}

// retry makes a request, each time on a connection of its own, until a soku server answers or
// ctx ends. It makes the first attempt after wait.
func (s *session) retry(ctx context.Context, wait time.Duration, method, path string) (x *exchange, body io.ReadCloser, err error) {
	for ; ; wait = engine.RetryWait(wait) {
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

// finish reports that this end has finished. After a cut it waits until the events are attached,
// since the server's half is among them, and retries for longer than it takes to notice that they
// are lost, which ends that.
func (s *session) finish(ctx context.Context) error {
	if !s.survivesCuts() {
		return s.control.once(ctx, http.MethodPost, s.path(FinishPath), nil, nil)
	}
	if away := s.cuts.attempts(); away != nil {
		select {
		case <-away:
		case <-ctx.Done():
		}
	}
	ctx, cancel := context.WithTimeout(ctx, s.cuts.limit+Silence)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	x, _, err := s.retry(ctx, 0, http.MethodPost, s.path(FinishPath))
	if err == nil {
		_ = x.conn.Close()
	}
	return err
}
