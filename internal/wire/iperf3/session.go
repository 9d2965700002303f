package iperf3

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
)

// wordTimeout is how long the server may take for a message that it can send immediately, in
// addition to the connect timeout.
const wordTimeout = 10 * time.Second

// An iperf3 server closes its port after each test and opens it again: a connection at
// that moment is refused or closed without a message, and retried after 20, 40... 160 ms.
const mostBetween = 160 * time.Millisecond

var errBetween = errors.New("the server was not there")

// soon is the deadline for finishing a message in progress.
func soon() time.Time { return time.Now().Add(2 * time.Second) }

// session is the client's side of one test.
type session struct {
	request wire.Request
	hooks   wire.Hooks
	remote  netip.AddrPort
	control *net.TCPConn
	cookie  Cookie
	asked   *Parameters
	began   time.Time // when the server sent TestRunning
	start   *engine.Start
	ended   time.Time // when this end's flows had ended

	next    chan answer // the state that the reader got after the test
	reader  sync.WaitGroup
	failed  chan error
	closing sync.Once

	mu       sync.Mutex
	exchange Exchange
	conns    []net.Conn // data connections
	ending   bool       // TestEnd was sent
	endErr   error      // of sending it
	over     bool       // no more messages
	closed   bool
}

// answer is a received state, or the error instead.
type answer struct {
	state State
	err   error
}

// Open requests a test from the iperf3 server at hostPort, an address and a port. Errors
// are *measure.Error: unreachable if there is no server, refused if the server is busy or
// does not allow the test, broken if it disconnects or is no iperf3 server, usage for
// options that iperf3 does not support.
func Open(ctx context.Context, hostPort string, r wire.Request, h wire.Hooks) (wire.Session, error) {
	p, err := ParametersFor(r)
	if err != nil {
		return nil, err
	}
	remote, err := netip.ParseAddrPort(hostPort)
	if err != nil {
		return nil, measure.Fail(measure.KindUsage, "dial.malformed", measure.Figures{"address": hostPort, "cause": err, "example_port": DefaultPort})
	}
	r.Options = wholeWrites(r.Options, p.Length)
	var s *session
	for wait := 20 * time.Millisecond; ; wait *= 2 {
		s = &session{request: r, hooks: h, remote: remote, cookie: NewCookie(), asked: p, next: make(chan answer, 1), failed: make(chan error, 1), start: engine.NewStart()}
		err := s.greet(ctx)
		if err == nil {
			break
		}
		if !errors.Is(err, errBetween) || wait > mostBetween {
			return nil, measure.AsError(err, measure.KindBroken)
		}
		if !sock.Pause(ctx, wait) {
			return nil, wire.Ended(ctx)
		}
	}
	if h.State != nil {
		h.State(wire.State{Name: wire.Ready})
	}
	return s, nil
}

// greet connects and exchanges parameters.
func (s *session) greet(ctx context.Context) (err error) {
	// The trial's socket options apply to its streams only.
	dialer, err := sock.DialerFor("tcp", measure.Options{
		Bind: s.request.Options.Bind, Device: s.request.Options.Device,
		IPVersion: s.request.Options.IPVersion, ConnectTimeout: s.request.Options.ConnectTimeout,
	})
	if err != nil {
		return measure.AsError(err, measure.KindUsage)
	}
	c, err := dialer.DialContext(ctx, "tcp", s.remote.String())
	if err != nil {
		return between(explainDial(ctx, "TCP", s.remote, err), err)
	}
	s.control = c.(*net.TCPConn)
	defer func() {
		if err != nil {
			_ = s.control.Close()
		}
	}()
	if err := s.watchOver(s.control); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = s.control.Close() })()
	s.exchange = Exchange{Cookie: s.cookie.String(), Parameters: *s.asked, Local: sock.AddrPort(c.LocalAddr()), Remote: sock.AddrPort(c.RemoteAddr())}
	if info, ok := sock.TCPInfo(s.control); ok {
		s.exchange.ControlMSS = int(info.MSS)
		s.fitPath(int(info.MSS))
	}
	_ = s.control.SetDeadline(time.Now().Add(s.request.Options.ConnectTimeout.Std() + wordTimeout))
	if _, err := s.control.Write(s.cookie[:]); err != nil {
		return between(s.explainControl(ctx, askingParameters, err), err)
	}
	if err := s.expect(ctx, askingParameters, ParamExchange); err != nil {
		return err
	}
	if err := WriteParameters(s.control, s.asked); err != nil {
		return s.explainControl(ctx, askingParameters, err)
	}
	return s.expect(ctx, askingParameters, CreateStreams)
}

// watchOver enables keep-alive, so that the kernel detects a lost server.
func (s *session) watchOver(control *net.TCPConn) error {
	keep := net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3}
	if asked := s.request.IPerf3.KeepAlive; asked != nil {
		keep = *asked
	}
	if err := control.SetKeepAliveConfig(keep); err != nil && s.request.IPerf3.KeepAlive != nil {
		return measure.Fail(measure.KindUsage, "iperf3.keepalive", measure.Figures{"cause": err})
	}
	return s.limitUnacknowledged(control)
}

func (s *session) limitUnacknowledged(c *net.TCPConn) error {
	if d := s.request.IPerf3.Unacknowledged; d > 0 {
		return sock.LimitUnacknowledged(c, d)
	}
	return nil
}

// fitPath sets the datagram size to the segment size, if requested.
func (s *session) fitPath(mss int) {
	if s.request.Test != measure.TestUDP || !s.request.IPerf3.PathSize || mss < MinUDPLength || mss > MaxUDPLength {
		return
	}
	s.asked.Length, s.request.Options.Size = mss, measure.Size(mss)
	s.asked.fitOffload()
	s.exchange.Parameters = *s.asked
	if blocks := s.request.IPerf3.Blocks; blocks > 0 {
		s.request.Options.Bytes = measure.Size(blocks * int64(mss))
	}
	s.request.Options = wholeWrites(s.request.Options, mss)
}

// expect reads one state, which must be want.
func (s *session) expect(ctx context.Context, doing step, want State) error {
	got, err := ReadState(s.control)
	if err != nil && want == ParamExchange {
		return between(s.explainControl(ctx, doing, err), err)
	}
	if err != nil && want == CreateStreams && sock.Closed(err) && ctx.Err() == nil {
		return s.turnedAway()
	}
	if err != nil {
		return s.explainControl(ctx, doing, err)
	}
	if got == want {
		return nil
	}
	if err := s.explainState(got); err != nil {
		return err
	}
	return s.explainControl(ctx, doing, notIperf3())
}

// Options implements wire.Session: a server accepts or refuses a test as a whole. An
// amount is rounded to whole writes.
func (s *session) Options() measure.Options { return s.request.Options }

// Findings implements wire.Session.
func (s *session) Findings() measure.Findings { return nil }

// Entry implements wire.Session; there is none.
func (s *session) Entry() wire.Entry { return wire.Entry{} }

// Server implements wire.Session: an iperf3 server reports nothing about its host.
func (s *session) Server() *measure.Host { return nil }

// Protocol implements wire.Session.
func (s *session) Protocol() string { return "iperf3" }

// Err implements wire.Session.
func (s *session) Err() <-chan error { return s.failed }

// FlowPolicy implements wire.Session.
func (s *session) FlowPolicy() engine.FlowPolicy {
	m := engine.FlowPolicy{KeepOpen: true, Block: s.asked.Length, SilenceTimeout: s.request.IPerf3.Silence, Repeating: s.request.IPerf3.RepeatPayload, Contents: s.request.IPerf3.Contents}
	if s.request.IPerf3.EndAtOnce {
		m.Start, m.EndAtOnce = s.start, s.endsAtOnce()
	}
	if s.request.Test == measure.TestUDP {
		m.Datagrams = Datagrams(s.asked.Counters64)
	}
	return m
}

// keep adds c to the session's data connections. It fails if the session was closed
// meanwhile.
func (s *session) keep(c net.Conn, index int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = c.Close()
		return measure.Fail(measure.KindInterrupted, "session.closed", measure.Figures{"address": s.remote.String()})
	}
	s.conns = append(s.conns, c)
	s.exchange.Streams = append(s.exchange.Streams, StreamEnds{
		ID: StreamID(index), Sends: !s.asked.Reverse && index < s.asked.Parallel,
		Local: sock.AddrPort(c.LocalAddr()), Remote: sock.AddrPort(c.RemoteAddr()),
	})
	return nil
}

// Start implements wire.Session.
func (s *session) Start(ctx context.Context) error {
	release := context.AfterFunc(ctx, func() { _ = s.control.SetDeadline(time.Unix(1, 0)) })
	defer release()
	sock.Within(ctx, s.control.SetDeadline, time.Now().Add(s.request.Options.ConnectTimeout.Std()+wordTimeout))
	for _, state := range []State{TestStart, TestRunning} {
		if err := s.expect(ctx, starting, state); err != nil {
			return err
		}
	}
	if !release() {
		return wire.Ended(ctx)
	}
	_ = s.control.SetDeadline(time.Time{})
	s.began = time.Now()
	s.start.Begin(s.began)
	if s.hooks.State != nil {
		s.hooks.State(wire.State{Name: wire.Running})
	}
	s.reader.Go(s.listen)
	return nil
}

// listen waits for the server's state after the end of the test. A state before the end
// is a failure.
func (s *session) listen() {
	state, err := ReadState(s.control)
	s.mu.Lock()
	ending, closed := s.ending, s.closed
	s.mu.Unlock()
	switch {
	case err != nil:
		err = s.explainControl(context.Background(), measuring, err)
	case state != ExchangeResults || !ending:
		if err = s.explainState(state); err == nil {
			err = s.explainControl(context.Background(), measuring, notIperf3())
		}
	}
	if err != nil {
		s.silence()
		if !ending && !closed {
			s.failed <- err
		}
	}
	s.next <- answer{state, err}
}

// silence records that no more messages are sent to the server.
func (s *session) silence() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

// Close implements wire.Session. If the test did not complete, the server is sent
// ClientTerminate.
func (s *session) Close() error {
	s.closing.Do(func() {
		s.mu.Lock()
		s.closed = true
		conns, over := s.conns, s.over
		s.mu.Unlock()
		if !over {
			_ = s.control.SetWriteDeadline(soon())
			_ = WriteState(s.control, ClientTerminate)
		}
		for _, c := range conns {
			_ = c.Close()
		}
		_ = s.control.Close()
		s.reader.Wait()
	})
	return nil
}
