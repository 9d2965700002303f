package tcp

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
)

// settle ends all streams and returns how many bytes of each the peer did not
// acknowledge. A flow that was stopped is reset immediately; otherwise each stream gets a
// bounded time to deliver what is queued, unless the policy ends flows without waiting.
func (s *sender) settle(ctx context.Context) (lost []int64) {
	lost = make([]int64, len(s.conns))
	finished := make([]bool, len(s.conns))
	switch {
	case s.group.Err() != nil:
	case s.policy.EndAtOnce:
		return lost
	case s.policy.KeepOpen:
		return s.acknowledged(ctx)
	}
	if s.group.Err() == nil {
		for i := range s.conns {
			_ = s.conns[i].CloseWrite()
			finished[i] = true
		}
		done := s.start(len(s.conns), s.deliver)
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

// acknowledged waits until the peer's kernel has acknowledged every byte on connections that
// stay open, and returns how many bytes of each are missing. It waits for a bounded time, or
// for a peer that ends the flow as long as bytes are acknowledged. It does not wait if the
// system does not report that.
func (s *sender) acknowledged(ctx context.Context) (lost []int64) {
	lost = make([]int64, len(s.conns))
	timeout := sock.Now().Add(s.queueDrainTime())
	for i, c := range s.conns {
		lost[i] = unacknowledged(c, false)
		for wait := time.Millisecond; lost[i] > 0 && sock.Now().Before(timeout) && ctx.Err() == nil; wait = min(2*wait, 50*time.Millisecond) {
			select {
			case <-time.After(wait):
			case <-s.policy.Over: // the peer has stopped counting
				timeout = sock.Now()
			case <-ctx.Done():
				s.group.Stop(context.Cause(ctx))
			}
			before := lost[i]
			if lost[i] = unacknowledged(c, false); s.policy.PeerEnds && lost[i] != before && !s.ending.Over() {
				timeout = sock.Now().Add(s.limits.Idle)
			}
		}
	}
	return lost
}

// queueDrainTime returns how long the queued bytes may take at the end of a flow whose
// connections stay open.
func (f *flow) queueDrainTime() time.Duration {
	return min(2*time.Second, max(500*time.Millisecond, f.o.Duration.Std()/5)) + f.limits.spare
}

// deliver waits until the peer has stream's last byte: the peer shuts down its side, or
// its kernel acknowledged everything. The peer of a timed flow may reset the connection
// after its time to drain; that is not a failure.
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
				s.group.Stop(engine.FailStream(s.conns, stream, "tcp.finish", measure.Figures{"cause": err}))
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
			s.group.Stop(engine.FailStream(s.conns, stream, "tcp.unacknowledged", nil))
			return
		}
	}
}

// unacknowledged returns how many of c's bytes the peer's kernel has not acknowledged,
// without the FIN, which the kernel counts as a byte.
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
