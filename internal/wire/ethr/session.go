package ethr

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
)

// session is the client's side of one test. It has no connection of its own: every
// data connection asks for itself.
type session struct {
	remote   netip.AddrPort
	request  wire.Request
	dialer   *net.Dialer
	first    *net.TCPConn // of a TCP or latency test: opened before the others
	synced   bool
	begins   time.Time // when the server's second begins, of a session that is synced
	findings measure.Findings

	mu     sync.Mutex
	closed bool
	conns  []io.Closer
}

// maxRounds bounds the lap of a latency test: the server makes room for so many times.
const maxRounds = 100_000

// Open asks the server at addr ("host:port", the host an IP address) for a test. It
// opens the first data connection, which begins with the request, and agrees on when
// to begin where the server can. Of a UDP test it looks whether anybody listens; of a
// test of connections it opens nothing. Every answer has the connect timeout to come.
//
// Errors are *measure.Error: of kind unreachable (refused, no answer), refused (no
// server of Ethr), or usage.
func Open(ctx context.Context, addr string, r wire.Request, h wire.Hooks) (wire.Session, error) {
	remote, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, measure.Fail(measure.KindUsage, "dial.malformed", measure.Figures{"address": addr, "cause": err, "example_port": Port})
	}
	if r.Token != "" || r.TLS != nil {
		return nil, measure.Fail(measure.KindUsage, "ethr.token", nil)
	}
	dialer, err := sock.DialerFor("tcp", r.Options)
	if err != nil {
		return nil, measure.AsError(err, measure.KindUsage)
	}
	s := &session{remote: remote, request: r, dialer: dialer}
	switch r.Test {
	case measure.TestConnect:
		return s, nil
	case measure.TestUDP:
		return s, s.knock(ctx)
	}
	if err := s.begin(ctx); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// knock makes a connection and closes it: datagrams get no answer, and are not to be
// sent at a host where nobody waits for them.
func (s *session) knock(ctx context.Context) error {
	c, err := s.dial(ctx, 0)
	if err == nil {
		sock.Abort(c)
		return nil
	}
	if measure.KindOf(err) == measure.KindUnreachable && !errors.Is(err, errRefused) && ctx.Err() == nil {
		s.findings.Add(measure.CodeReceiverUnconfirmed, "", measure.Figures{"port": s.remote.Port()})
		return nil
	}
	return err
}

// begin opens the first connection. A server of version 1.0.0 takes the question of
// when to begin for payload and says nothing to it, so that there is another
// connection then, which asks nothing.
func (s *session) begin(ctx context.Context) error {
	c, took, err := s.ask(ctx, 0)
	if err != nil {
		return err
	}
	if s.request.Test == measure.TestTCP {
		synced, err := s.synchronise(ctx, c, took)
		if err != nil {
			return err
		}
		if s.synced = synced; !synced {
			sock.Abort(c)
			if c, _, err = s.ask(ctx, 0); err != nil {
				return err
			}
		}
	}
	s.first = c
	return nil
}

// Options implements wire.Session.
func (s *session) Options() measure.Options { return s.request.Options }

// Findings implements wire.Session.
func (s *session) Findings() measure.Findings { return s.findings }

// TCP implements wire.Session. A server that sends does so from when it answered, or
// a moment later, so that the other connections of such a test are opened when the
// first begins.
func (s *session) TCP(ctx context.Context) ([]*net.TCPConn, error) {
	n := s.request.Options.Streams
	if s.request.Test == measure.TestLatency {
		n = s.request.Options.Flows
	}
	if s.request.Options.Direction == measure.Reverse && n > 1 {
		if err := s.await(ctx); err != nil {
			return nil, err
		}
	}
	conns := []*net.TCPConn{s.first}
	for len(conns) < n {
		c, _, err := s.ask(ctx, len(conns))
		if err != nil {
			return nil, err
		}
		conns = append(conns, c)
	}
	return conns, nil
}

// UDP implements wire.Session.
func (s *session) UDP(ctx context.Context) ([]net.Conn, error) {
	var conns []net.Conn
	for i := range s.request.Options.Streams {
		dialer, err := sock.DialerFrom("udp", s.request.Options, s.localPort(i))
		if err != nil {
			return nil, measure.AsError(err, measure.KindUsage)
		}
		c, err := dialer.DialContext(ctx, "udp", s.remote.String())
		if err != nil {
			return nil, s.explain(ctx, err)
		}
		if s.request.Options.Window == 0 {
			sock.RaiseQueue(c)
		}
		sock.ReportRefusals(c)
		if err := s.keep(c); err != nil {
			return nil, err
		}
		conns = append(conns, c)
	}
	return conns, nil
}

// localPort is where connection i leaves from, 0 for anywhere.
func (s *session) localPort(i int) int {
	if s.request.LocalPort == 0 {
		return 0
	}
	return s.request.LocalPort + i
}

// Entry implements wire.Session.
func (s *session) Entry() wire.Entry { return wire.Entry{Main: s.remote, Plain: true} }

// Start implements wire.Session: it waits for the server's second, which is at most
// [maxDelay] away.
func (s *session) Start(ctx context.Context) error { return s.await(ctx) }

func (s *session) await(ctx context.Context) error {
	t := time.NewTimer(time.Until(s.begins))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return wire.Ended(ctx)
	}
}

// Finish implements wire.Session. The server tells nothing; that it did not keep to a
// rate is seen here.
func (s *session) Finish(_ context.Context, own *measure.End) (*measure.End, error) {
	end := &measure.End{Findings: s.findings}
	rate := float64(s.request.Options.Rate)
	for _, f := range own.Flows {
		bytes := int64(0)
		for _, x := range f.Streams {
			bytes += x.ReceivedBytes
		}
		if f.Role == measure.Receiver && rate > 0 && float64(bytes)*8e9 > 1.1*rate*float64(max(f.DurationNs, 1)) {
			end.Findings.Add(measure.CodeServerExceedsRate, measure.AtServer, measure.Figures{"rate_bps": s.request.Options.Rate})
		}
	}
	return end, nil
}

// FlowPolicy implements wire.Session.
func (s *session) FlowPolicy() engine.FlowPolicy {
	switch s.request.Test {
	case measure.TestUDP:
		return engine.FlowPolicy{KeepOpen: true, NoPeerReport: true, Datagrams: bare{}}
	case measure.TestLatency:
		return engine.FlowPolicy{ExtraMessageEvery: int64(s.rounds())}
	}
	return engine.FlowPolicy{KeepOpen: true, NoPeerReport: true}
}

// Server implements wire.Session: nothing is told.
func (s *session) Server() *measure.Host { return nil }

// Protocol implements wire.Session.
func (s *session) Protocol() string {
	if s.synced {
		return "ethr/1.0.0 with start synchronisation"
	}
	return "ethr/1.0.0"
}

// Err implements wire.Session. Nothing is heard of a server but on the data
// connections.
func (s *session) Err() <-chan error { return nil }

// Close implements wire.Session.
func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, c := range s.conns {
		_ = c.Close()
	}
	s.conns = nil
	return nil
}

// keep makes Close close c too. It closes c at once when that was called already.
func (s *session) keep(c io.Closer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = c.Close()
		return measure.Fail(measure.KindInterrupted, "session.closed", measure.Figures{"address": s.remote.String()})
	}
	s.conns = append(s.conns, c)
	return nil
}

// bare datagrams have no header: an Ethr server counts what comes.
type bare struct{}

func (bare) Size() int { return 0 }

func (bare) PutAll([]byte, int, int, uint64, time.Time) {}

func (bare) Parse([]byte) (number uint64, sentNs int64, fin, ok bool) { return 0, 0, false, false }

func (bare) Fin([]byte, int, uint64, time.Time) int { return 0 }
