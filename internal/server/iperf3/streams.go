package iperf3

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"

	"soku/internal/engine/flows"
	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/sock"
	wire "soku/internal/wire/iperf3"
)

// openStreams has the client open its streams, and waits for the last.
func (t *test) openStreams() error {
	if t.asked.Protocol == "udp" {
		if err := t.handler.tests.openUDP(t); err != nil {
			return err
		}
		defer t.handler.tests.doneUDP(t)
	}
	t.mu.Lock()
	t.want = t.asked.Streams()
	t.mu.Unlock()
	if err := t.say(wire.CreateStreams); err != nil {
		return err
	}
	t.listening.Go(func() {
		if err := server.Guard(t.log, func() error { t.listen(); return nil }, "protocol", "iperf3", "client", t.client); err != nil {
			t.abort(err)
		}
	})
	select {
	case <-t.all:
	case <-t.ctx.Done():
		return t.cause()
	case <-time.After(t.handler.streamWait):
		return fail(wire.CodeStreamAccept, "server.iperf3.no_streams", measure.Figures{"limit_ns": t.handler.streamWait})
	}
	return t.prepare()
}

// listen waits for the one word that a client says while streams open and the test
// runs: that it is over, or that the client stops.
func (t *test) listen() {
	_ = t.control.SetReadDeadline(time.Time{})
	if t.ctx.Err() != nil {
		return
	}
	state, err := wire.ReadState(t.control)
	switch {
	case err != nil:
		t.abort(measure.Fail(measure.KindBroken, "server.client_gone.cause", measure.Figures{"cause": err}).WithCause(errors.Join(ErrGone, err)))
	case state == wire.TestEnd && server.IsClosed(t.all): // a test ends not before all streams are there
		t.overAt = time.Now()
		close(t.over)
	case state == wire.ClientTerminate:
		t.abort(measure.Fail(measure.KindBroken, "server.client_stopped", nil).WithCause(ErrStopped))
	default:
		t.abort(unexpected())
	}
}

// prepare gives the streams the options of the test. A congestion control that this
// host does not have is left out, as iperf3's server does.
func (t *test) prepare() error {
	settings := t.settings()
	if err := t.tryLabel(); err != nil {
		t.log.Warn("an option of an iperf3 test", "client", t.client, "error", err)
		t.options.FlowLabel = 0
	}
	settings.FlowLabel = 0 // a sender's, which its engine sets
	for i, a := range t.tcp {
		err := settings.Apply(a.conn)
		if err != nil && settings.Congestion != "" {
			t.log.Warn("an option of an iperf3 test", "client", t.client, "error", err)
			settings.Congestion, t.options.Congestion = "", ""
			err = settings.Apply(a.conn)
		}
		if err != nil {
			return &refusal{wire.CodeWindow, err}
		}
		t.pace(a.conn)
		if err := t.handler.cfg.Times.limitUnacknowledged(a.conn); err != nil {
			t.log.Warn("an option of the server's connections", "client", t.client, "error", err)
		}
		if info, ok := sock.TCPInfo(a.conn); ok && i == 0 {
			t.congestion = info.Congestion
		}
	}
	return nil
}

// settings are the socket options that the client may choose.
func (t *test) settings() sock.Settings {
	s := sock.FromOptions(t.options)
	s.Unprivileged = true
	return s
}

// tryLabel finds out whether this host can label what it sends in the test. A client of
// iperf3 goes on without: its own server labels nothing.
func (t *test) tryLabel() error {
	if t.options.FlowLabel == 0 || !t.asked.ServerSends() {
		return nil
	}
	label := sock.Settings{FlowLabel: t.options.FlowLabel, NoDelay: sock.FromOptions(t.options).NoDelay}
	switch tcp, udp := len(t.tcp), len(t.udp); { // the last of the streams is one on which this end sends
	case tcp > 0:
		return label.Apply(t.tcp[tcp-1].conn)
	case udp > 0:
		return label.Apply(t.udp[udp-1].conn)
	}
	return nil
}

// pace has the kernel hold a stream to the rate that the client asks of it.
func (t *test) pace(c syscall.Conn) {
	if rate := t.asked.FQRate; rate > 0 {
		sock.LimitPacing(c, max(1, uint64(rate)/8))
	}
}

// takeUDP opens the stream of a client's datagram, or repeats the answer for one that
// is open already.
func (t *test) takeUDP(from netip.AddrPort, connect []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	answer := []byte(wire.UDPAnswer(connect))
	for _, f := range t.udp {
		if f.peer == from {
			_, _ = f.conn.Write(answer)
			return
		}
	}
	if t.ended || len(t.udp) >= t.want {
		return
	}
	conn, err := t.connect(from)
	if err != nil {
		t.abort(fail(wire.CodeStreamAccept, "server.open_udp", measure.Figures{"peer": from.String(), "cause": err}))
		return
	}
	t.udp = append(t.udp, udpStream{conn, from})
	_, _ = conn.Write(answer)
	if len(t.udp) == t.want {
		close(t.all)
	}
}

// connect makes the connection of one UDP stream.
func (t *test) connect(peer netip.AddrPort) (net.Conn, error) {
	c, err := t.at.Connect(t.ctx, t.local, peer, t.settings())
	if err != nil {
		return nil, err
	}
	if own, ok := c.(*net.UDPConn); ok {
		if t.options.Window == 0 {
			sock.RaiseQueue(own)
		}
		t.pace(own)
	}
	return c, nil
}

// conns are the streams. Of both directions, the client opens those first that it
// sends on.
func (t *test) conns() (c flows.Conns) {
	for _, a := range t.tcp {
		c.TCP = append(c.TCP, a.conn)
	}
	for _, f := range t.udp {
		c.UDP = append(c.UDP, f.conn)
	}
	return c
}
