package connect

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

// netPath is the name of this implementation in a result.
const netPath = "package net"

// netMaker is the portable implementation.
type netMaker struct {
	r       *run
	dialers []*net.Dialer // one a source, at least one
	turn    int
	to      string
	conn    *net.TCPConn
	reply   []byte
}

func newNetMaker(r *run, index int) (maker, error) {
	m := &netMaker{r: r, to: r.target.Addr.String(), turn: index, reply: make([]byte, max(int(r.o.Size), 1))}
	from := r.sources
	if len(from) == 0 {
		from = []netip.Addr{{}}
	}
	for _, s := range from {
		o := measure.Options{TOS: r.o.TOS, Device: r.o.Device, ConnectTimeout: r.o.ConnectTimeout}
		d := sock.Dialer(o)
		if s.IsValid() {
			d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(s, 0))
		}
		m.dialers = append(m.dialers, d)
	}
	return m, nil
}

func (m *netMaker) connect() (start, end int64, how outcome) {
	d := m.dialers[m.turn%len(m.dialers)]
	m.turn++
	start = m.r.clock.now()
	c, err := d.DialContext(m.r.ctx, "tcp", m.to)
	end = m.r.clock.now()
	if err != nil {
		return start, end, m.outcome(err)
	}
	m.conn = c.(*net.TCPConn)
	if m.r.target.Reset {
		_ = m.conn.SetLinger(0)
	}
	return start, end, opened
}

// outcome classifies an error of package net.
func (m *netMaker) outcome(err error) outcome {
	var wrong *measure.Error
	var e syscall.Errno
	switch {
	case m.r.ctx.Err() != nil:
		return stopped
	case errors.As(err, &wrong):
		m.r.fail(wrong)
		return stopped
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return timedOut
	case isBindError(err):
		return badSource
	case errors.As(err, &e):
		return outcomeOf(e)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return closedEarly
	}
	if sock.TimedOut(err) {
		return timedOut
	}
	return other
}

func isBindError(err error) bool {
	var call *os.SyscallError
	return errors.As(err, &call) && call.Syscall == "bind" && !errors.Is(err, syscall.EADDRINUSE)
}

func (m *netMaker) serve() outcome {
	release := context.AfterFunc(m.r.ctx, func() { _ = m.conn.SetDeadline(time.Unix(1, 0)) })
	defer release()
	sock.Within(m.r.ctx, m.conn.SetDeadline, sock.Now().Add(time.Duration(m.r.timeout)))
	if len(m.r.message) > 0 {
		if _, err := m.conn.Write(m.r.message); err != nil {
			return m.outcome(err)
		}
	}
	if m.r.o.Size > 0 {
		if _, err := io.ReadFull(m.conn, m.reply); err != nil {
			return m.outcome(err)
		}
	}
	if !m.r.target.Await {
		return opened
	}
	_, err := m.conn.Read(m.reply[:1])
	if err == nil {
		return other // more bytes than requested
	}
	how := m.outcome(err)
	if how == closedEarly || how == reset && m.r.target.Reset {
		return opened // the expected close
	}
	return how
}

func (m *netMaker) close() { _ = m.conn.Close() }
