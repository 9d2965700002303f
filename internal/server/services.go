package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire/native"
)

// services implements [Services].
type services struct{ s *Server }

func (v services) Context() context.Context { return v.s.base }
func (v services) Log() *slog.Logger        { return v.s.log }
func (v services) Limits() native.Limits    { return v.s.limits() }

func (v services) Serves(client netip.Addr, secret bool) bool {
	return v.s.allowed(client) && (v.s.cfg.Token == "" || secret)
}

func (v services) Enter(client string, test measure.Test) (*Turn, error) {
	t := &Turn{queue: v.s.queue, client: client, test: test, born: time.Now(), granted: newLatch()}
	if _, err := t.queue.enter(t); err != nil {
		return nil, err
	}
	return t, nil
}

func (v services) Reserve(client netip.Addr, n int) (release func(), err error) {
	return v.s.descriptors.reserve(client, n)
}

func (v services) WatchHost(local netip.Addr) (stop func(host.Moved) *measure.Host) {
	return v.s.watchHost(local, netip.Addr{})
}

// watchHost implements [Services] and serves native sessions, too.
func (s *Server) watchHost(local, remote netip.Addr) (stop func(host.Moved) *measure.Host) {
	facts := s.facts.latest(local) // those of the answer to a client may be older
	watch := s.engines.watch(facts.Interface)
	return func(moved host.Moved) *measure.Host {
		counters := watch(moved)
		s.details.get(s.base, local) // old ones are read again, which is awaited: the trial moves no packets now
		facts.Details = s.details.latest(local).Details
		facts.RouteMTU = host.RouteMTU(remote)
		return &measure.Host{Facts: facts, Counters: &counters}
	}
}

// Turn is a place among those who measure, or in the queue for that. The protocols of other
// tools cannot report a position in a queue: their clients wait without a message.
type Turn struct {
	queue   *admission
	client  string
	test    measure.Test
	born    time.Time
	granted *latch
}

// Granted is closed when it is this turn.
func (t *Turn) Granted() <-chan struct{} { return t.granted.ch }

// IsGranted reports whether it is this turn.
func (t *Turn) IsGranted() bool { return t.granted.fired() }

// ErrSpoke is the error of a client that sent something before its turn.
var ErrSpoke = errors.New("sent something before its turn")

// Await waits until it is this turn. The client sends nothing to c until then: a read ends only
// when it is gone. The error is that of the read, [ErrSpoke] or the cause of ctx.
func (t *Turn) Await(ctx context.Context, c net.Conn) error {
	if t.IsGranted() {
		return nil
	}
	_ = c.SetDeadline(time.Time{})
	read := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		read <- cmp.Or(err, ErrSpoke)
	}()
	select {
	case err := <-read:
		return err
	case <-ctx.Done():
	case <-t.granted.ch:
	}
	_ = c.SetReadDeadline(time.Unix(1, 0))
	switch err := <-read; {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !sock.TimedOut(err):
		return err
	}
	return nil
}

// Leave gives the turn up, or the place in the queue. It is called once.
func (t *Turn) Leave() { t.queue.leave(t) }

// grant implements waiter.
func (t *Turn) grant() { t.granted.fire() }

// queued implements waiter.
func (t *Turn) queued(int) {}

// shown implements waiter.
func (t *Turn) shown() native.QueueEntry {
	return native.QueueEntry{Client: t.client, Test: t.test, Age: measure.Duration(time.Since(t.born))}
}
