package native

import (
	"context"
	"net"
	"sync"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
	"soku/internal/wire"
)

// handshakesAtOnce bounds how many data connections are being opened at a time,
// so that a thousand streams do not overflow the server's listen queue.
const handshakesAtOnce = 64

// openAll runs open for every index and returns the connections in index order.
// The first failure ends the others.
func openAll[C net.Conn](ctx context.Context, n int, open func(ctx context.Context, index int) (C, error)) ([]C, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	conns := make([]C, n)
	opened := make([]bool, n)
	turns := make(chan struct{}, handshakesAtOnce)
	var wg sync.WaitGroup
	for i := range n {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			if ctx.Err() != nil {
				return
			}
			c, err := open(ctx, i)
			if err != nil {
				cancel(err)
				return
			}
			conns[i], opened[i] = c, true
		})
	}
	wg.Wait()
	if ctx.Err() == nil {
		return conns, nil
	}
	for i, c := range conns {
		if opened[i] {
			_ = c.Close()
		}
	}
	return nil, measure.AsError(context.Cause(ctx), measure.KindInterrupted)
}

// TCP implements wire.Session.
func (s *session) TCP(ctx context.Context) ([]*net.TCPConn, error) {
	dialer, err := sock.DialerFor("tcp", s.options)
	if err != nil {
		return nil, measure.AsError(err, measure.KindUsage)
	}
	n := option.DataConnections(s.options, s.request.Test)
	s.connectAhead(ctx)
	conns, err := openAll(ctx, n, func(ctx context.Context, index int) (*net.TCPConn, error) {
		c, err := dialer.DialContext(ctx, "tcp", s.remote.String())
		if err != nil {
			return nil, explainDial(ctx, "tcp", s.remote.String(), err)
		}
		tcp := c.(*net.TCPConn)
		if err := s.introduce(ctx, tcp, index); err != nil {
			_ = tcp.Close()
			return nil, err
		}
		return tcp, nil
	})
	if err != nil {
		return nil, s.because(ctx, err)
	}
	return conns, s.keepAll(sock.Conns(conns))
}

// introduce sends the preamble and reads the server's answer.
func (s *session) introduce(ctx context.Context, c *net.TCPConn, index int) error {
	release := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer release()
	_ = c.SetDeadline(time.Now().Add(s.options.ConnectTimeout.Std()))
	var answer [1]byte
	_, err := c.Write(Preamble{Version: Version, Kind: KindData, Index: uint16(index), Key: s.created.Key}.Append(nil))
	if err == nil {
		_, err = c.Read(answer[:])
	}
	if cause := wire.Ended(ctx); cause != nil {
		return cause
	}
	if err != nil {
		code := "native.data.closed"
		if sock.TimedOut(err) {
			code = "native.data.no_answer"
		}
		return measure.Fail(measure.KindBroken, code, measure.Figures{"number": index, "address": s.remote.String()}).WithHintCode("native.server_log", nil)
	}
	switch Status(answer[0]) {
	case StatusOK:
		// The engines set their own deadlines; small messages are not delayed.
		_ = c.SetDeadline(time.Time{})
		return c.SetNoDelay(sock.FromOptions(s.options).NoDelay || option.SpecOf(s.request.Test).Messages)
	case StatusVersion:
		return measure.Fail(measure.KindRefused, "native.data.version", measure.Figures{"number": index, "address": s.remote.String(), "version": Version}).
			WithHintCode("native.same_version", nil)
	}
	return measure.Fail(measure.KindRefused, "native.data.refused", measure.Figures{"number": index, "address": s.remote.String()}).WithHintCode("native.server_log", nil)
}

func (s *session) keepAll(conns []net.Conn) error {
	for _, c := range conns {
		if s.keep(c) != nil {
			return measure.Fail(measure.KindInterrupted, "session.closed", measure.Figures{"address": s.control.addr}).WithCause(errSessionClosed)
		}
	}
	return nil
}

// UDP implements wire.Session.
func (s *session) UDP(ctx context.Context) ([]net.Conn, error) {
	dialer, err := sock.DialerFor("udp", s.options)
	if err != nil {
		return nil, measure.AsError(err, measure.KindUsage)
	}
	n := option.DataConnections(s.options, s.request.Test)
	s.connectAhead(ctx)
	conns, err := openAll(ctx, n, func(ctx context.Context, index int) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, "udp", s.remote.String())
		if err != nil {
			return nil, explainDial(ctx, "udp", s.remote.String(), err)
		}
		if s.options.Window == 0 {
			sock.RaiseQueue(c)
		}
		sock.ReportRefusals(c)
		if err := s.prove(ctx, c, index); err != nil {
			_ = c.Close()
			return nil, err
		}
		return c, nil
	})
	if err != nil {
		return nil, s.because(ctx, err)
	}
	return conns, s.keepAll(conns)
}

// prove runs the handshake of docs/protocol.md on one socket: an unanswered datagram is
// sent again after 100 ms, then with doubled intervals up to 1 s, until the connect
// timeout.
func (s *session) prove(ctx context.Context, c net.Conn, index int) error {
	release := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer release()
	limit := time.Now().Add(s.options.ConnectTimeout.Std())
	out := Datagram{Version: Version, Type: Hello, Index: uint16(index), Key: s.created.Key}
	refused := false
	for wait := 100 * time.Millisecond; time.Now().Before(limit); wait = min(2*wait, time.Second) {
		// A write can fail with the ICMP answer to an earlier one; the next may get through.
		_, err := c.Write(out.Append(nil))
		refused = refused || sock.Refused(err)
		again := time.Now().Add(wait)
		if again.After(limit) {
			again = limit
		}
		in, err := awaitDatagram(ctx, c, again, out)
		switch {
		case ctx.Err() != nil:
			return wire.Ended(ctx)
		case err != nil:
			refused = refused || sock.Refused(err)
			continue
		case in.Type == Challenge:
			out.Type, out.Nonce = Proof, in.Nonce
			wait = 50 * time.Millisecond // twice that for the next step
			continue
		case in.Type == Refuse:
			return measure.Fail(measure.KindRefused, "native.udp.refused", measure.Figures{"number": index, "address": s.remote.String()}).WithHintCode("native.server_log", nil)
		}
		return c.SetDeadline(time.Time{})
	}
	code := "native.udp.no_answer"
	if refused {
		code = "native.udp.icmp_refused"
	}
	return measure.Fail(measure.KindUnreachable, code, measure.Figures{"address": s.remote.String(), "wait_ns": s.options.ConnectTimeout}).
		WithHintCode("dial.udp_blocked", measure.Figures{"port": s.remote.Port()})
}

// awaitDatagram reads until the answer to out or the deadline.
func awaitDatagram(ctx context.Context, c net.Conn, deadline time.Time, out Datagram) (Datagram, error) {
	_ = c.SetReadDeadline(deadline)
	buf := make([]byte, DatagramSize+1)
	for {
		n, err := c.Read(buf)
		switch {
		case err == nil:
		case sock.TimedOut(err) || ctx.Err() != nil:
			return Datagram{}, err
		default:
			// An ICMP answer ends a read; wait the rest so as not to spin.
			pause(ctx, time.Until(deadline))
			return Datagram{}, err
		}
		in, err := ParseDatagram(buf[:n])
		if err != nil || in.Index != out.Index {
			continue
		}
		switch {
		case out.Type == Hello && in.Type == Challenge,
			out.Type == Proof && in.Type == Accept && in.Nonce == out.Nonce,
			in.Type == Refuse:
			return in, nil
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
