package tcp

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"soku/internal/sock"
)

// settle ends all streams and returns how many bytes of each the peer did not
// acknowledge. A flow that was stopped is cut off at once; otherwise each
// stream gets a bounded time to deliver what is queued.
func (s *sender) settle(ctx context.Context) (lost []int64) {
	lost = make([]int64, len(s.conns))
	finished := make([]bool, len(s.conns))
	if s.policy.KeepOpen && s.group.Err() == nil {
		return s.acknowledged(ctx)
	}
	if s.group.Err() == nil {
		for i := range s.conns {
			_ = s.conns[i].CloseWrite()
			finished[i] = true
		}
		done := start(len(s.conns), s.deliver)
		select {
		case <-done:
		case <-ctx.Done():
			s.group.Stop(context.Cause(ctx))
			<-done
		}
	}
	for i, c := range s.conns {
		lost[i] = unacknowledged(c, finished[i])
		if lost[i] > 0 || s.group.Err() != nil {
			sock.Abort(c)
		}
	}
	return lost
}

// acknowledged waits, for a bounded time, until the peer's kernel has every byte of
// connections that are kept, and returns how many of each it does not have. It
// waits for none where the system does not tell.
func (s *sender) acknowledged(ctx context.Context) (lost []int64) {
	lost = make([]int64, len(s.conns))
	timeout := sock.Now().Add(s.patience())
	for i, c := range s.conns {
		lost[i] = unacknowledged(c, false)
		for wait := time.Millisecond; lost[i] > 0 && sock.Now().Before(timeout) && ctx.Err() == nil; wait = min(2*wait, 50*time.Millisecond) {
			t := time.NewTimer(wait)
			select {
			case <-t.C:
			case <-s.policy.Over: // the far end counts no more
				timeout = sock.Now()
			case <-ctx.Done():
				s.group.Stop(context.Cause(ctx))
			}
			t.Stop()
			lost[i] = unacknowledged(c, false)
		}
	}
	return lost
}

// patience is how long what is queued at the end of a kept flow may take.
func (f *flow) patience() time.Duration {
	return min(2*time.Second, max(500*time.Millisecond, f.o.Duration.Std()/5)) + f.limits.spare
}

// deliver waits until the peer has stream's last byte: it says so by ending
// its own side, or its kernel acknowledged everything. A timed flow's peer may
// give up, after its time to drain, with a reset; that is no failure.
func (s *sender) deliver(stream int) {
	c := s.conns[stream]
	var scratch [512]byte
	queued, moved := int64(-1), sock.Now()
	giveUp := sock.Now().Add(s.drain() + s.limits.spare)
	for wait := 2 * time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		s.group.DeadlineOf(stream, sock.Now().Add(wait))
		_, err := c.Read(scratch[:])
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil && !expired(err):
			if !s.timed() {
				s.group.Stop(s.broken("finish sending to", stream, err))
			}
			return
		}
		if s.group.Err() != nil {
			return
		}
		q, known := sock.Unsent(c)
		if known && q == 0 {
			return
		}
		if q != queued {
			queued, moved = q, sock.Now()
		}
		switch {
		case s.timed() && sock.Now().After(giveUp):
			return
		case !s.timed() && sock.Since(moved) > s.limits.Idle:
			s.group.Stop(s.broken("finish sending to", stream, errors.New("nothing is acknowledged any more")))
			return
		}
	}
}

// unacknowledged is how many of c's bytes the peer's kernel does not have; the
// mark that ends the stream, which the kernel counts as a byte, is none.
func unacknowledged(c *net.TCPConn, finished bool) int64 {
	n, ok := sock.Unsent(c)
	if !ok || n == 0 {
		return 0
	}
	if finished {
		n--
	}
	return n
}
