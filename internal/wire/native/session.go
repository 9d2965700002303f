package native

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
	"soku/internal/wire"
)

// session is the client's side of one trial. The events stream is its life:
// when that connection ends, the server frees everything.
type session struct {
	control  *control
	request  wire.Request
	hooks    wire.Hooks
	created  Created
	options  measure.Options
	remote   netip.AddrPort // where the control connection leads; data goes there too
	own      uint16         // port of a connect test, 0 for none; set before ready is closed
	attempts atomic.Uint64  // to replace data connections
	lines    io.Reader      // the body of the events stream
	cuts     controlCuts

	life    context.Context // ends with Close, and when nothing more comes from the events stream
	endLife context.CancelFunc

	ready chan struct{} // closed when the server waits for the data connections
	over  chan struct{} // closed when nothing more comes from the events stream
	left  chan struct{} // closed when its goroutine has ended
	end   *measure.End  // the server's half; set before over is closed
	err   error         // why there is none; set before over is closed
	errs  chan error    // see Err
	began atomic.Int64  // when the start was asked for, Unix nanoseconds; 0 before
	moved atomic.Int64  // when the server last counted bytes, Unix nanoseconds

	longest time.Duration // LongestEnd

	ahead chan *exchange // gets the connection for the start, nil if there is none; nil itself until it is opened
	calls sync.WaitGroup // goroutine that opens it

	mu     sync.Mutex
	closed bool
	events *exchange
	conns  []io.Closer
}

// Open creates a session on the server at addr ("host:port") and returns when the server
// is ready for it. While other clients measure, it waits in the server's queue and reports
// its position through h.State. Ending ctx ends the wait.
//
// Errors are *measure.Error: of kind unreachable (no address, refused, no
// answer), refused (busy, limits, token, TLS, not a soku server, another
// protocol version) or usage.
func Open(ctx context.Context, addr string, r wire.Request, h wire.Hooks) (wire.Session, error) {
	if h.State == nil {
		h.State = func(wire.State) {}
	}
	if h.Observe == nil {
		h.Observe = func(measure.Progress) {}
	}
	s := &session{
		control: &control{addr: addr, options: r.Options, token: r.Token, tls: r.TLS},
		request: r, hooks: h, longest: LongestEnd,
		ready: make(chan struct{}), over: make(chan struct{}), left: make(chan struct{}), errs: make(chan error, 1),
	}
	s.cuts.limit = ReattachTimeout
	s.life, s.endLife = context.WithCancel(context.Background())
	if err := s.create(ctx); err != nil {
		s.endLife()
		return nil, err
	}
	go func() {
		defer close(s.left)
		s.listen()
	}()
	if err := s.awaitReady(ctx); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func (s *session) awaitReady(ctx context.Context) error {
	select {
	case <-s.ready:
		return nil
	case <-s.over:
		if s.err != nil {
			return s.err
		}
		return measure.Fail(measure.KindRefused, "native.ended_early", measure.Figures{"address": s.control.addr})
	case <-ctx.Done():
		return wire.Ended(ctx)
	}
}

// create makes the session and attaches to its events on one control connection.
func (s *session) create(ctx context.Context) error {
	x, err := s.control.connect(ctx)
	if err != nil {
		return err
	}
	if err := s.attach(ctx, x); err != nil {
		_ = x.conn.Close()
		return err
	}
	return nil
}

func (s *session) attach(ctx context.Context, x *exchange) error {
	body := CreateRequest{Test: s.request.Test, Options: s.request.Options, Findings: true, ResumeFiles: resumes(s.request.Test)}
	answer, err := s.control.do(ctx, x, http.MethodPost, SessionsPath, body)
	if err != nil {
		return err
	}
	if err := s.control.decode(ctx, x, answer, &s.created); err != nil {
		return err
	}
	if s.created.ID == "" || strings.Trim(s.created.ID, "0123456789abcdef") != "" || s.created.Server == nil {
		return notSoku(s.control.addr)
	}
	s.options = allowed(s.request.Test, s.request.Options, s.created.Options)
	s.created.Server.Series = nil // nothing was measured yet
	s.created.Findings = presentableFindings(s.created.Findings, s.created.Warnings)
	to, ok := x.conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return measure.Fail(measure.KindInternal, "native.no_tcp_address", measure.Figures{"address": s.control.addr})
	}
	peer := to.AddrPort()
	s.remote = netip.AddrPortFrom(peer.Addr().Unmap(), peer.Port())
	if s.lines, err = s.control.do(ctx, x, http.MethodGet, s.path(EventsPath), nil); err == nil {
		s.follow(x)
	}
	return err
}

// follow makes x the connection of the events stream.
func (s *session) follow(x *exchange) {
	x.in.endless()
	if socket := x.socket(); socket != nil {
		sock.AcknowledgeAtOnce(socket) // the server takes the round trips of events
		if tcp, is := socket.(*net.TCPConn); is && s.created.ResumeKey != nil {
			// A reset may have reached the server alone: nothing else asks for one here.
			_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: Heartbeat, Interval: time.Second, Count: int((Silence - Heartbeat) / time.Second)})
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = x
	if s.closed {
		_ = x.conn.Close()
	}
}

// allowed takes from the server's answer only what a server may change: it may lower a
// rate, or set one for a connect test. All other options stay as requested.
func allowed(test measure.Test, asked, answered measure.Options) measure.Options {
	if answered.Rate > 0 && (asked.Rate == 0 || answered.Rate < asked.Rate) {
		asked.Rate = answered.Rate
	}
	if r := answered.RequestRate; r > 0 && (r < asked.RequestRate || asked.RequestRate == 0 && option.SpecOf(test).Held) {
		asked.RequestRate = answered.RequestRate
	}
	return asked
}

func (s *session) path(pattern string) string {
	return strings.Replace(pattern, "{id}", s.created.ID, 1)
}

// settle records how the session ended and reports a failure through Err.
func (s *session) settle(end *measure.End, err error) {
	s.end, s.err = end, err
	if err == nil && end != nil && end.Error != nil {
		err = end.Error
	}
	close(s.over)
	s.endLife()
	if err != nil && !s.isClosed() {
		s.errs <- err // the only send, and there is room for one
	}
}

// because prefers the server's error over the error of a failed call; the server's may
// arrive slightly later.
func (s *session) because(ctx context.Context, err error) error {
	if cause := wire.Ended(ctx); cause != nil {
		return cause
	}
	select {
	case <-s.over:
		if s.err != nil {
			return s.err
		}
		if s.end.Error != nil {
			return s.end.Error
		}
	case <-time.After(500 * time.Millisecond):
	case <-ctx.Done():
		return wire.Ended(ctx)
	}
	return err
}

// Entry implements wire.Session.
func (s *session) Entry() wire.Entry {
	e := wire.Entry{
		Main:     s.remote,
		Preamble: Preamble{Version: Version, Kind: KindConnect, Key: s.created.Key}.Append(nil),
	}
	if s.own != 0 {
		e.Own = netip.AddrPortFrom(s.remote.Addr(), s.own)
	}
	return e
}

// connectAhead opens the connection of the start while the data connections open,
// which saves a round trip.
func (s *session) connectAhead(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	_ = s.keep(hangUp(cancel)) // Close does not wait for a server that does not answer
	ahead := make(chan *exchange, 1)
	s.ahead = ahead
	s.calls.Go(func() {
		x, err := s.control.connect(ctx)
		if err != nil || s.keep(x.conn) != nil {
			x = nil // Start opens its own, and reports why it cannot
		}
		ahead <- x
	})
}

// hangUp ends a call when it is closed.
type hangUp context.CancelFunc

func (h hangUp) Close() error { h(); return nil }

// safeIdleTime is how long a server is certain to keep a connection without a request.
const safeIdleTime = SniffTimeout / 2

// startConnection is a connection for one request.
func (s *session) startConnection(ctx context.Context) (*exchange, error) {
	if s.ahead != nil {
		x := <-s.ahead
		s.ahead = nil
		if x != nil && time.Since(x.since) < safeIdleTime {
			return x, nil
		}
		if x != nil {
			_ = x.conn.Close()
		}
	}
	return s.control.connect(ctx)
}

// Start implements wire.Session.
func (s *session) Start(ctx context.Context) error {
	s.began.Store(time.Now().UnixNano())
	x, err := s.startConnection(ctx)
	if err == nil {
		defer x.conn.Close()
		_, err = s.control.do(ctx, x, http.MethodPost, s.path(StartPath), nil)
	}
	if err != nil {
		return s.because(ctx, err)
	}
	s.moved.Store(time.Now().UnixNano())
	s.cuts.running.Store(true)
	return nil
}

// Finish implements wire.Session. It fails if the server's half does not arrive for
// [EndTimeout] while no bytes are counted, or for [LongestEnd].
func (s *session) Finish(ctx context.Context, _ *measure.End) (*measure.End, error) {
	finished := time.Now()
	s.moved.Store(finished.UnixNano())
	select {
	case <-s.over:
		return s.end, s.err
	default:
	}
	if err := s.finish(ctx); err != nil {
		// If the server finished first, it no longer has the session, and its half
		// has arrived or is on its way.
		err = s.because(ctx, err)
		select {
		case <-s.over:
			return s.end, s.err
		default:
			return nil, err
		}
	}
	check := time.NewTicker(time.Second)
	defer check.Stop()
	for {
		select {
		case <-s.over:
			return s.end, s.err
		case <-ctx.Done():
			return nil, wire.Ended(ctx)
		case <-check.C:
			if time.Since(time.Unix(0, s.moved.Load())) > EndTimeout && s.cuts.attempts() == nil {
				return nil, s.noEnd(EndTimeout)
			}
			if time.Since(finished) > s.longest {
				return nil, s.noEnd(s.longest)
			}
		}
	}
}

func (s *session) noEnd(wait time.Duration) error {
	return measure.Fail(measure.KindBroken, "native.no_end", measure.Figures{"address": s.control.addr, "wait_ns": wait}).WithHintCode("native.server_log", nil)
}

// Options implements wire.Session.
func (s *session) Options() measure.Options { return s.options }

// Findings implements wire.Session.
func (s *session) Findings() measure.Findings { return s.created.Findings }

// Server implements wire.Session.
func (s *session) Server() *measure.Host { return s.created.Server }

// FlowPolicy implements wire.Session.
func (s *session) FlowPolicy() engine.FlowPolicy { return engine.FlowPolicy{} }

// Protocol implements wire.Session.
func (s *session) Protocol() string { return Name }

// Err implements wire.Session.
func (s *session) Err() <-chan error { return s.errs }

// Close implements wire.Session. It waits for the goroutine of the events
// stream, so it must not be called from a hook.
func (s *session) Close() error {
	s.mu.Lock()
	s.closed = true
	conns, events := s.conns, s.events
	s.conns = nil
	s.mu.Unlock()
	s.endLife()
	events.leave()
	for _, c := range conns {
		_ = c.Close()
	}
	<-s.left
	s.calls.Wait()
	return nil
}

func (s *session) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// keep makes Close close c too. If Close was called already, it closes c immediately.
func (s *session) keep(c io.Closer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = c.Close()
		return net.ErrClosed
	}
	s.conns = append(s.conns, c)
	return nil
}

var errSessionClosed = errors.New("the session is closed")
