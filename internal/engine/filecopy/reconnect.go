package filecopy

import (
	"context"
	"errors"
	"net"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/sock"
)

const (
	// silence is the time without an answer after which a connection counts as cut.
	silence = 8 * time.Second
	// A connection without data is probed: after the first time, then every second.
	probeAfter, probeEvery = 2 * time.Second, time.Second
)

// cutError is the failure of a call on a connection that can be replaced.
type cutError struct {
	failure *measure.Error // of the copy, if the connection is not replaced
	cause   error          // the system's error
}

func (e *cutError) Error() string { return e.failure.Error() }
func (e *cutError) Unwrap() error { return e.failure }

func isCut(err error) bool {
	_, is := errors.AsType[*cutError](err)
	return is
}

var errNoLink = errors.New("the copy has no connection of that number, or it has ended")

// watchForCuts makes the connections notice cuts, and a server accept those that replace them.
func (l links) watchForCuts(ctx context.Context, by *engine.Reconnect) (stop func()) {
	if by == nil {
		return func() {}
	}
	for _, k := range l {
		probe(k.conn)
	}
	ctx, cancel := context.WithCancel(ctx)
	watcher := panics.Group{Stop: cancel}
	watcher.Go(func() { l.watch(ctx) })
	untake := func() {}
	if by.Take != nil {
		untake = by.Take(l.replaceConn)
	}
	return func() {
		cancel()
		untake()
		watcher.Wait()
	}
}

// probe makes the system check whether the other end of a silent connection still exists.
func probe(c *net.TCPConn) {
	_ = c.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: probeAfter, Interval: probeEvery, Count: int((silence - probeAfter) / probeEvery)})
}

// watch ends the calls on connections whose other end has answered nothing for silence. The
// system's own timeout (TCP_USER_TIMEOUT) would also end connections whose receiver is full for
// that long.
func (l links) watch(ctx context.Context) {
	type state struct {
		conn  *net.TCPConn
		since time.Time
	}
	states := make([]state, len(l))
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for i, k := range l {
			c := k.current()
			waits, last, _ := sock.Unanswered(c)
			if s := &states[i]; !waits || s.conn != c || last < sock.Since(s.since) {
				*s = state{c, sock.Now().Add(-min(last, probeEvery))}
			} else if sock.Since(s.since) >= silence {
				_ = c.SetDeadline(past)
			}
		}
	}
}

// replacement tells how a connection replaced one that was cut.
type replacement struct {
	far    engine.Progress // of the other end
	lost   time.Duration   // how long the cut was
	waited time.Duration   // for how long of that a call on the connection waited
}

// bind makes the calls use the connection of the link. It reports whether that has replaced
// another one since the last bind.
func (l *link) bind() (r replacement, replaced bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rebind()
}

// rebind is bind, called with mu.
func (l *link) rebind() (r replacement, replaced bool) {
	if l.used == l.conn {
		return r, false
	}
	l.used = l.conn
	l.in.Reset(linkReader{l})
	l.out.Reset(linkWriter{l})
	r = l.last
	if !l.called.IsZero() {
		all := sock.Since(l.called)
		r.waited = min(r.lost, all)
		w := l.work.Load()
		w.cut.Add(int64(r.waited))
		w.network.Add(int64(all - r.waited))
		l.called = time.Time{}
	}
	return r, true
}

// advance counts a whole file or the end of a stage as received. It fails if the connection on
// which it came was replaced: the other end sends it again.
func (l *link) advance() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used != l.conn {
		return &cutError{l.failure("copy.receive", net.ErrClosed), net.ErrClosed}
	}
	l.own.Items++
	return nil
}

// complete counts a stage as written and flushed. The source learns of it by the answer over the
// connection that is bound then, or by its replacement.
func (l links) complete() {
	for _, k := range l {
		k.mu.Lock()
		k.own = engine.Progress{Stages: k.own.Stages + 1}
		k.rebind()
		k.mu.Unlock()
	}
}

// progress is what this end has received. The caller holds mu.
func (l *link) progress() engine.Progress {
	p := l.own
	if !l.cutAt.IsZero() {
		p.Cut = sock.Since(l.cutAt)
	}
	return p
}

// markCut notes when this end has found that its connection is cut.
func (l *link) markCut(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.cutAt.IsZero() || l.used != l.conn {
		return
	}
	l.cutAt = sock.Now()
	if sock.TimedOut(cause) { // the other end has been silent before
		if l.cutAt = l.cutAt.Add(-silence); l.cutAt.Before(l.called) {
			l.cutAt = l.called
		}
	}
}

// reconnect returns nil when another connection has replaced the one on which a call failed with
// err: the client opens it, the server waits for it until ctx ends. It returns err if that is no
// cut. The caller then calls [link.bind].
func (l *link) reconnect(ctx context.Context, err error) error {
	cut, is := errors.AsType[*cutError](err)
	if !is {
		return err
	}
	if l.by.Open != nil {
		err = l.open(ctx, cut)
	} else {
		err = l.awaitPeer(ctx, cut)
	}
	if err != nil {
		return l.cause(err)
	}
	return nil
}

// awaitPeer waits until the client has replaced the connection. The session ends when the client
// gives up.
func (l *link) awaitPeer(ctx context.Context, cut *cutError) error {
	l.mu.Lock()
	replaced, changed := l.used != l.conn, l.changed
	l.mu.Unlock()
	if replaced {
		return nil
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
	case <-l.life.Done():
	}
	return cut.failure
}

// open replaces the connection of a client. It retries for [engine.ReconnectLimit].
func (l *link) open(ctx context.Context, cut *cutError) error {
	limited, cancel := context.WithTimeout(ctx, engine.ReconnectLimit)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	wait := time.Duration(0)
	if sock.Since(l.adopted) < engine.RetryMost { // cut again
		wait = engine.RetryAfter
	}
	for ; ; wait = engine.RetryWait(wait) {
		select {
		case <-limited.Done():
		case <-time.After(wait):
		}
		l.mu.Lock()
		own := l.progress()
		l.mu.Unlock()
		c, far, err := l.by.Open(limited, l.index, own)
		if err == nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			if err = l.adopt(c, far); err != nil {
				_ = c.Close()
			}
			return err
		}
		switch {
		case ctx.Err() != nil || l.life.Err() != nil:
			return cut.failure
		case limited.Err() != nil:
			return measure.Fail(measure.KindBroken, "copy.cut", measure.Figures{"peer": l.peer(), "cause": bare(cut.cause), "limit_ns": engine.ReconnectLimit}).WithCause(engine.ErrPeer)
		}
	}
}

// replaceConn implements [engine.Take].
func (l links) replaceConn(index int, c *net.TCPConn, far engine.Progress, answer func(engine.Progress) error) error {
	if index < 0 || index >= len(l) {
		return errNoLink
	}
	k := l[index]
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.life.Err() != nil {
		return errNoLink
	}
	if err := answer(k.progress()); err != nil {
		return err
	}
	return k.adopt(c, far)
}

// adopt makes c the connection of the link and closes the former one, which ends the calls on
// it. The caller holds mu.
func (l *link) adopt(c *net.TCPConn, far engine.Progress) error {
	if l.life.Err() != nil {
		return errNoLink
	}
	if err := l.cuts.count(c.RemoteAddr().String()); err != nil {
		return err
	}
	if err := l.settings.Apply(c); err != nil {
		return err
	}
	probe(c)
	_ = l.conn.Close()
	close(l.changed)
	l.conn, l.changed, l.adopted = c, make(chan struct{}), sock.Now()
	l.last = replacement{far: far, lost: max(0, min(far.Cut, engine.ReconnectLimit+silence))}
	if !l.cutAt.IsZero() {
		l.last.lost = max(l.last.lost, sock.Since(l.cutAt))
	}
	l.cutAt = time.Time{}
	return nil
}

// finish ends the copy at the source, which had this number of stages. The copy has ended when the other end has removed
// everything: its answer says so, and a client that has finished.
func (l *link) finish(stages int) error {
	for {
		if r, replaced := l.bind(); replaced {
			l.cuts.add(l.index, r.lost, 0)
			if r.far.Stages > stages {
				return nil
			}
		}
		err := l.send(frame{kind: frameOver})
		if err == nil {
			err = l.flush()
		}
		switch {
		case err != nil:
		case l.by != nil && l.by.Finished != nil:
			err = l.awaitFinished()
		default:
			err = l.answered()
		}
		if err == nil {
			return nil
		}
		if err = l.reconnect(l.life, err); err != nil {
			return err
		}
	}
}

// awaitFinished waits until the client has finished. It fails when the client has replaced the
// connection.
func (l *link) awaitFinished() error {
	l.mu.Lock()
	replaced, changed := l.used != l.conn, l.changed
	l.mu.Unlock()
	if !replaced {
		select {
		case <-l.by.Finished:
			return nil
		case <-changed:
		case <-l.life.Done():
		}
	}
	return l.failed("copy.receive", net.ErrClosed)
}
