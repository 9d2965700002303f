package iperf3

import (
	"context"
	"net"
	"syscall"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
)

// TCP implements wire.Session. Streams are opened one after another, as servers expect.
func (s *session) TCP(ctx context.Context) ([]*net.TCPConn, error) {
	o := s.request.Options
	conns := make([]*net.TCPConn, s.asked.Streams())
	for i := range conns {
		dialer, err := s.dialer("tcp", i)
		if err != nil {
			return nil, err
		}
		c, err := dialer.DialContext(ctx, "tcp", s.remote.String())
		if err != nil {
			return nil, s.refused(explainDial(ctx, "TCP", s.remote, err))
		}
		conns[i] = c.(*net.TCPConn)
		if err := s.keep(c, i); err != nil {
			return nil, err
		}
		if err := s.limitUnacknowledged(conns[i]); err != nil {
			return nil, err
		}
		s.pace(conns[i])
		_ = c.SetDeadline(time.Now().Add(o.ConnectTimeout.Std()))
		if _, err := c.Write(s.cookie[:]); err != nil {
			return nil, s.refused(measure.Fail(measure.KindBroken, "iperf3.stream", measure.Figures{"number": i + 1, "address": s.remote.String(), "cause": err}).WithHintCode("iperf3.output", nil))
		}
		_ = c.SetDeadline(time.Time{})
		if err := conns[i].SetNoDelay(sock.FromOptions(o).NoDelay); err != nil {
			return nil, measure.Fail(measure.KindBroken, "iperf3.stream", measure.Figures{"number": i + 1, "address": s.remote.String(), "cause": err})
		}
	}
	return conns, nil
}

// dialer opens the connection of stream index.
func (s *session) dialer(base string, index int) (*net.Dialer, error) {
	port := s.request.IPerf3.ClientPort
	if port != 0 {
		port += index
	}
	d, err := sock.DialerFrom(base, s.request.Options, port)
	if err != nil {
		return nil, measure.AsError(err, measure.KindUsage)
	}
	return d, nil
}

// pace has the kernel pace a stream at the requested rate.
func (s *session) pace(c syscall.Conn) {
	if rate := s.request.IPerf3.FQRate; rate > 0 {
		sock.LimitPacing(c, max(1, uint64(rate)/8))
	}
}

// refused prefers an error that the server has sent meanwhile to the error seen here.
func (s *session) refused(seen error) error {
	_ = s.control.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	defer func() { _ = s.control.SetReadDeadline(time.Time{}) }()
	state, err := ReadState(s.control)
	if err != nil {
		return seen
	}
	if reported := s.explainState(state); reported != nil {
		return reported
	}
	return seen
}

// UDP implements wire.Session. Streams are opened one after another: a server listens for
// the next after it has answered the last.
func (s *session) UDP(ctx context.Context) ([]net.Conn, error) {
	conns := make([]net.Conn, s.asked.Streams())
	for i := range conns {
		dialer, err := s.dialer("udp", i)
		if err != nil {
			return nil, err
		}
		c, err := dialer.DialContext(ctx, "udp", s.remote.String())
		if err != nil {
			return nil, explainDial(ctx, "UDP", s.remote, err)
		}
		conns[i] = c
		if err := s.keep(c, i); err != nil {
			return nil, err
		}
		if s.request.Options.Window == 0 {
			sock.RaiseQueue(c)
		}
		sock.ReportRefusals(c)
		if u, ok := c.(*net.UDPConn); ok {
			s.pace(u)
		}
		if err := s.knock(ctx, c, i); err != nil {
			return nil, err
		}
	}
	return conns, nil
}

// knock opens a UDP stream. If only the answer to the first datagram was lost, a second
// one would be counted as payload, so it is sent only after a second.
func (s *session) knock(ctx context.Context, c net.Conn, index int) error {
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	limit := time.Now().Add(s.request.Options.ConnectTimeout.Std())
	refused := false
	for time.Now().Before(limit) && ctx.Err() == nil {
		_, err := c.Write([]byte(UDPConnect))
		refused = refused || sock.Refused(err)
		again := time.Now().Add(time.Second)
		if again.After(limit) {
			again = limit
		}
		for time.Now().Before(again) && ctx.Err() == nil {
			b := make([]byte, 16)
			sock.Within(ctx, c.SetReadDeadline, again)
			n, err := c.Read(b)
			switch {
			case err == nil && isUDPReply(b[:n]):
				_ = c.SetDeadline(time.Time{})
				return nil
			case err == nil:
				// Of an earlier stream, or payload.
			case sock.TimedOut(err):
			default:
				refused = refused || sock.Refused(err)
				time.Sleep(10 * time.Millisecond) // until the server listens again
			}
			if err != nil {
				break
			}
		}
	}
	if cause := wire.Ended(ctx); cause != nil {
		return cause
	}
	code := "iperf3.udp.no_answer"
	if refused {
		code = "iperf3.udp.icmp_refused"
	}
	return s.refused(measure.Fail(measure.KindUnreachable, code, measure.Figures{"number": index + 1, "address": s.remote.String(), "wait_ns": s.request.Options.ConnectTimeout}).
		WithHintCode("dial.udp_blocked", measure.Figures{"port": s.remote.Port()}))
}
