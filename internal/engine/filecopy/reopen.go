package filecopy

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/sock"
)

const (
	// silence is after which time without an answer a connection counts as cut.
	silence = 8 * time.Second
	// A connection without data is probed: after the first time, then every second.
	probeAfter, probeEvery = 2 * time.Second, time.Second
)

// reopening is what a link needs to go on after a cut.
type reopening struct {
	index    int
	by       *engine.Reconnect // nil: a cut ends the copy
	cuts     *cuts
	settings sock.Settings
	// resend puts what was sent from an offset on into b, at least a byte of it. An error
	// is that of a file.
	resend func(b []byte, at int64) (int, error)
	spare  []byte

	taking sync.Mutex // held by the one that replaces the connection of a server
	use    sync.Mutex // held in calls on the connection, and guards what follows
	// Bytes since the copy began, on all connections: written, of them those that the other
	// end has or that were written to this connection, and read.
	sent, owed, received int64
	oldest               int64     // from where resend can send again
	adopted              time.Time // when the connection replaced another one
	began                time.Time // a call that moved a part and failed, which the next one does, too; zero: none did
}

// zeros are the answers of a sink.
func zeros(b []byte, _ int64) (int, error) { clear(b); return len(b), nil }

// survive makes the connections notice cuts, and a server take those that replace them.
func (l links) survive(ctx context.Context, by *engine.Reconnect) (stop func()) {
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
		untake = by.Take(l.take)
	} else if by.Watch != nil {
		untake = by.Watch(l.lose)
	}
	return func() {
		cancel()
		untake()
		watcher.Wait()
	}
}

// probe makes the system look whether the other end of a silent connection is still there.
func probe(c *net.TCPConn) {
	_ = c.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: probeAfter, Interval: probeEvery, Count: int((silence - probeAfter) / probeEvery)})
}

// watch ends the calls on connections whose other end has answered nothing for silence.
// Timeouts of the system would end those, too, whose other end is full for so long
// (TCP_USER_TIMEOUT).
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

// lose ends the calls on a connection that the other end has lost.
func (l links) lose(index int) {
	if index >= 0 && index < len(l) {
		_ = l[index].current().SetDeadline(past)
	}
}

// isCut reports whether an error means that the connection was cut and can be replaced.
func (l *link) isCut(ctx context.Context, err error) bool {
	_, own := errors.AsType[*measure.Error](err)
	return l.by != nil && !own && ctx.Err() == nil && l.life.Err() == nil
}

// divide adds the time of watch to that of a cut and that of the network.
func (l *link) divide(w *work, watch *stopwatch) {
	l.mu.Lock()
	lost := l.lost
	if !l.cutAt.IsZero() {
		lost = sock.Since(l.cutAt)
	}
	l.mu.Unlock()
	lost = min(lost, sock.Since(watch.last))
	w.cut.Add(int64(lost))
	w.network.Add(-int64(lost))
	watch.lap(&w.network)
}

// replaced waits until another connection is in place of c, on which a call that began at
// start failed.
func (l *link) replaced(ctx context.Context, c *net.TCPConn, cause error, start time.Time) error {
	l.mu.Lock()
	if l.conn != c {
		l.mu.Unlock()
		return nil
	}
	if l.cutAt.IsZero() && l.left != c {
		if l.by.Lost != nil {
			l.by.Lost(l.index)
		}
		l.cutAt = sock.Now()
		if sock.TimedOut(cause) { // it has been for that long
			if l.cutAt = l.cutAt.Add(-silence); l.cutAt.Before(start) {
				l.cutAt = start
			}
		}
	}
	changed := l.changed
	l.mu.Unlock()
	if l.by.Open != nil {
		return l.reopen(ctx, cause)
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
	case <-l.life.Done():
	}
	return cause
}

// reopen opens the connection again. A server waits as long as the session lives, which ends
// when its client gives up.
func (l *link) reopen(ctx context.Context, cause error) error {
	limited, cancel := context.WithTimeout(ctx, engine.ReopenLimit)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	wait := time.Duration(0)
	if sock.Since(l.adopted) < engine.ReopenMost { // cut again
		wait = engine.ReopenAfter
	}
	for ; ; wait = engine.ReopenWait(wait) {
		select {
		case <-limited.Done():
		case <-time.After(wait):
		}
		c, far, err := l.by.Open(limited, l.index, l.progress())
		if err == nil {
			l.use.Lock()
			defer l.use.Unlock()
			if err = l.adopt(c, far); err != nil {
				_ = c.Close()
			}
			return err
		}
		switch {
		case ctx.Err() != nil || l.life.Err() != nil:
			return cause
		case limited.Err() != nil:
			return measure.Fail(measure.KindBroken, "copy.cut", measure.Figures{"peer": l.peer(), "cause": bare(cause), "limit_ns": engine.ReopenLimit}).WithCause(engine.ErrPeer)
		}
	}
}

// progress is where this end is. The caller uses the link.
func (l *link) progress() engine.Progress {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := engine.Progress{Received: l.received}
	if !l.cutAt.IsZero() {
		p.Cut = sock.Since(l.cutAt)
	}
	return p
}

// take implements [engine.Reconnect].
func (l links) take(index int, c *net.TCPConn, far engine.Progress, answer func(engine.Progress) error) error {
	if index < 0 || index >= len(l) {
		return errNoLink
	}
	k := l[index]
	k.taking.Lock()
	defer k.taking.Unlock()
	old := k.leave()
	k.use.Lock()
	defer k.use.Unlock()
	err := k.refuse(far)
	if err == nil {
		err = answer(k.progress())
	}
	if err == nil {
		err = k.adopt(c, far)
	}
	if err != nil {
		_ = old.Close() // a client that has not left it finds that it is cut
	}
	return err
}

// leave ends the calls on the connection, which the client has left, and returns it.
func (l *link) leave() *net.TCPConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = l.conn
	_ = l.conn.SetDeadline(past)
	return l.conn
}

var errNoLink = errors.New("the copy has no connection of that number, or it has ended")

// refuse fails for what cannot be gone on with. The caller holds use.
func (l *link) refuse(far engine.Progress) error {
	switch {
	case l.life.Err() != nil:
		return errNoLink
	case far.Received < l.oldest || far.Received > l.sent:
		return l.unexpected()
	}
	return l.cuts.room(l.peer())
}

// adopt goes on with c, whose other end is at far. The caller holds use.
func (l *link) adopt(c *net.TCPConn, far engine.Progress) error {
	if err := l.refuse(far); err != nil {
		return err
	}
	if err := l.settings.Apply(c); err != nil {
		return err
	}
	probe(c)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.life.Err() != nil {
		return errNoLink
	}
	old := l.conn
	l.conn = c
	if l.waiting {
		_ = c.SetReadDeadline(past)
	}
	close(l.changed)
	l.changed = make(chan struct{})
	_ = old.Close()
	l.lost = max(0, min(far.Cut, engine.ReopenLimit+silence))
	if !l.cutAt.IsZero() {
		l.lost = max(l.lost, sock.Since(l.cutAt))
		l.cutAt = time.Time{}
	}
	l.owed, l.adopted = far.Received, sock.Now()
	l.cuts.add(l.index, l.lost, l.sent-l.owed)
	return nil
}

// sendAgain writes what the other end has not received. The caller holds use.
func (l *link) sendAgain(c *net.TCPConn) (int, error) {
	if l.spare == nil {
		l.spare = make([]byte, writeTogether)
	}
	n, err := l.resend(l.spare[:l.piece(int(min(l.sent-l.owed, writeTogether)))], l.owed)
	if err != nil {
		return 0, err
	}
	n, err = c.Write(l.spare[:n])
	l.owed += int64(n)
	return n, err
}

// linger keeps the connection, with all that was sent on it, until ctx ends: then the other
// end has everything.
func (l *link) linger(ctx context.Context) error {
	if l.by == nil {
		return nil
	}
	b, err := l.readUntil(ctx)
	if err == nil && len(b) > 0 {
		return l.unexpected()
	}
	return err
}

// readUntil reads a byte, or nothing if ctx ends before it comes. The buffer of the link is
// empty.
func (l *link) readUntil(ctx context.Context) ([]byte, error) {
	ended, b := make(chan struct{}), make([]byte, 1)
	stop := context.AfterFunc(ctx, func() { defer close(ended); l.endReads(true) })
	n, err := linkReader{l, ctx}.Read(b)
	if !stop() {
		<-ended
	}
	l.endReads(false)
	if err != nil && ctx.Err() != nil && l.life.Err() == nil {
		err = nil
	}
	return b[:n], l.failed("copy.receive", err)
}

// finished ends when the client of a server has finished; false for an end that cannot know.
// The caller calls stop.
func (l *link) finished() (ctx context.Context, stop func(), can bool) {
	if l.by == nil || l.by.Finished == nil {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancel(l.life)
	waiter := panics.Group{Stop: cancel}
	waiter.Go(func() {
		select {
		case <-l.by.Finished:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() { cancel(); waiter.Wait() }, true
}

// lastAnswer gives the answer to the end of the copy. The connection stays until the client has
// it, since a cut may have lost it, or has given up.
func (l *link) lastAnswer() error {
	if err := l.answer(); err != nil {
		return err
	}
	ctx, stop, can := l.finished()
	if !can {
		return nil
	}
	defer stop()
	limited, cancel := context.WithTimeout(ctx, silence+engine.ReopenLimit)
	defer cancel()
	return l.linger(limited)
}

// lastAnswered waits for that answer, which a client that has finished has given.
func (l *link) lastAnswered() error {
	ctx, stop, can := l.finished()
	if !can {
		return l.answered()
	}
	defer stop()
	b, err := l.readUntil(ctx)
	if err == nil && len(b) > 0 && b[0] != done {
		return l.unexpected()
	}
	return err
}

// endReads makes reads end at once, or go on.
func (l *link) endReads(now bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = now
	deadline := past
	if !now {
		deadline = time.Time{}
	}
	if l.life.Err() == nil {
		_ = l.conn.SetReadDeadline(deadline)
	}
}
