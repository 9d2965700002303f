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
	"soku/internal/measure/finding"
	"soku/internal/sock"
	"soku/internal/wire"
)

// session is the client's side of one test. It has no control connection: every data
// connection begins with its own request.
type session struct {
	remote   netip.AddrPort
	request  wire.Request
	dialer   *net.Dialer
	first    *net.TCPConn // of a TCP or latency test: opened before the others
	synced   bool
	begins   time.Time // when the server's second begins, in a synchronised session
	findings measure.Findings

	mu     sync.Mutex
	closed bool
	conns  []io.Closer
}

// maxRounds is the maximum batch of a latency test: the server allocates memory for it.
const maxRounds = 100_000

// Open requests a test from the server at addr ("host:port", the host an IP address). It
// opens the first data connection, which begins with the request, and synchronises the
// start if the server supports it. For a UDP test it checks that the server listens; for a
// connection test it opens nothing. The connect timeout applies to every answer.
//
// Errors are *measure.Error: of kind unreachable (refused, no answer), refused (not an
// Ethr server), or usage.
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

// knock opens a connection and closes it: datagrams get no answer, and must not be sent
// to a host without a server.
func (s *session) knock(ctx context.Context) error {
	c, err := s.dial(ctx, 0)
	if err == nil {
		sock.Abort(c)
		return nil
	}
	if measure.KindOf(err) == measure.KindUnreachable && !errors.Is(err, errRefused) && ctx.Err() == nil {
		s.findings.Add(finding.ReceiverUnconfirmed, "", measure.Figures{"port": s.remote.Port()})
		return nil
	}
	return err
}

// begin opens the first connection. A server of version 1.0.0 takes SyncStart for payload
// and does not answer it; begin then opens another connection without SyncStart.
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

// TCP implements wire.Session. A sending server starts when it has answered, or shortly
// after, so the other connections of such a test are opened when the first starts.
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

// localPort is the local port of connection i, 0 for any.
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
	if !sock.Pause(ctx, time.Until(s.begins)) {
		return wire.Ended(ctx)
	}
	return nil
}

// Finish implements wire.Session. The server reports nothing; the client detects that it
// did not keep the rate.
func (s *session) Finish(_ context.Context, own *measure.End) (*measure.End, error) {
	end := &measure.End{Findings: s.findings}
	rate := float64(s.request.Options.Rate)
	for _, f := range own.Flows {
		bytes := int64(0)
		for _, x := range f.Streams {
			bytes += x.ReceivedBytes
		}
		if f.Role == measure.Receiver && rate > 0 && float64(bytes)*8e9 > 1.1*rate*float64(max(f.DurationNs, 1)) {
			end.Findings.Add(finding.ServerExceedsRate, measure.AtServer, measure.Figures{"rate_bps": s.request.Options.Rate})
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

// Server implements wire.Session: an Ethr server reports nothing about its host.
func (s *session) Server() *measure.Host { return nil }

// Protocol implements wire.Session.
func (s *session) Protocol() string {
	if s.synced {
		return "ethr/1.0.0 with start synchronisation"
	}
	return "ethr/1.0.0"
}

// Err implements wire.Session. A server's failure shows on the data connections only.
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

// keep makes Close close c, too. If Close was called already, keep closes c immediately.
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

// bare datagrams have no header: an Ethr server counts every datagram.
type bare struct{}

func (bare) Size() int { return 0 }

func (bare) PutAll([]byte, int, int, uint64, time.Time) {}

func (bare) Parse([]byte) (number uint64, sentNs int64, fin, ok bool) { return 0, 0, false, false }

func (bare) Fin([]byte, int, uint64, time.Time) int { return 0 }
