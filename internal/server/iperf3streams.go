package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"soku/internal/engine/flows"
	"soku/internal/sock"
	"soku/internal/wire/iperf3"
)

// openStreams has the client open its streams, and waits for the last.
func (t *iperf3Test) openStreams() error {
	if t.asked.Protocol == "udp" {
		if err := t.server.iperf3.openUDP(t); err != nil {
			return err
		}
		defer t.server.iperf3.doneUDP(t)
	}
	t.mu.Lock()
	t.want = t.asked.Streams()
	t.mu.Unlock()
	if err := t.say(iperf3.CreateStreams); err != nil {
		return err
	}
	t.listening.Go(t.listen)
	limit := time.NewTimer(t.server.times.data)
	defer limit.Stop()
	select {
	case <-t.all.ch:
	case <-t.ctx.Done():
		return t.cause()
	case <-limit.C:
		return refuse(iperf3.CodeStreamAccept, "not all streams came in %s", t.server.times.data)
	}
	return t.prepare()
}

// listen waits for the one word that a client says while streams open and the test
// runs: that it is over, or that the client stops.
func (t *iperf3Test) listen() {
	_ = t.control.SetReadDeadline(time.Time{})
	if t.ctx.Err() != nil {
		return
	}
	state, err := iperf3.ReadState(t.control)
	switch {
	case err != nil:
		t.abort(fmt.Errorf("%w: %w", ErrIPerf3Gone, err))
	case state == iperf3.TestEnd && t.begun():
		t.overAt = time.Now()
		t.over.fire()
	case state == iperf3.ClientTerminate:
		t.abort(errIperf3Stopped)
	default:
		t.abort(errIperf3Word)
	}
}

// begun tells whether all streams are there: a test ends not before.
func (t *iperf3Test) begun() bool { return t.all.fired() }

// prepare gives the streams the options of the test. A congestion control that this
// host does not have is left out, as iperf3's server does.
func (t *iperf3Test) prepare() error {
	settings := sock.FromOptions(t.options)
	if err := t.tryLabel(); err != nil {
		t.server.log.Warn("an option of an iperf3 test", "client", t.client, "error", err)
		t.options.FlowLabel = 0
	}
	settings.FlowLabel = 0 // a sender's, which its engine sets
	for i, a := range t.tcp {
		err := settings.Apply(a.conn)
		if err != nil && settings.Congestion != "" {
			t.server.log.Warn("an option of an iperf3 test", "client", t.client, "error", err)
			settings.Congestion, t.options.Congestion = "", ""
			err = settings.Apply(a.conn)
		}
		if err != nil {
			return refuse(iperf3.CodeWindow, "%w", err)
		}
		t.pace(a.conn)
		if err := t.server.cfg.IPerf3Times.limitUnacknowledged(a.conn); err != nil {
			t.server.log.Warn("an option of the server's connections", "client", t.client, "error", err)
		}
		if info, ok := sock.TCPInfo(a.conn); ok && i == 0 {
			t.congestion = info.Congestion
		}
	}
	return nil
}

// tryLabel finds out whether this host can label what it sends in the test. A client of
// iperf3 goes on without: its own server labels nothing.
func (t *iperf3Test) tryLabel() error {
	if t.options.FlowLabel == 0 || !t.asked.ServerSends() {
		return nil
	}
	label := sock.Settings{FlowLabel: t.options.FlowLabel, NoDelay: t.options.NoDelay}
	switch tcp, udp := len(t.tcp), len(t.udp); { // the last of the streams is one on which this end sends
	case tcp > 0:
		return label.Apply(t.tcp[tcp-1].conn)
	case udp > 0:
		return label.Apply(t.udp[udp-1].conn)
	}
	return nil
}

// pace has the kernel hold a stream to the rate that the client asks of it.
func (t *iperf3Test) pace(c syscall.Conn) {
	if rate := t.asked.FQRate; rate > 0 {
		sock.LimitPacing(c, max(1, uint64(rate)/8))
	}
}

// takeUDP opens the stream of a client's datagram, or repeats the answer for one that
// is open already.
func (t *iperf3Test) takeUDP(from netip.AddrPort, connect []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	answer := []byte(iperf3.UDPAnswer(connect))
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
		t.abort(refuse(iperf3.CodeStreamAccept, "open a UDP socket to %s: %w", from, err))
		return
	}
	t.udp = append(t.udp, udpFlow{conn: conn, peer: from})
	_, _ = conn.Write(answer)
	if len(t.udp) == t.want {
		t.all.fire()
	}
}

// connect makes the connection of one UDP stream.
func (t *iperf3Test) connect(peer netip.AddrPort) (net.Conn, error) {
	local := netip.AddrPortFrom(t.local, t.at.addr.Port())
	if t.at.demux != nil {
		return t.at.demux.add(peer, local), nil
	}
	settings := sock.FromOptions(t.options)
	settings.Device = t.server.cfg.Device
	c, err := connectUDP(t.ctx, local, peer, settings)
	if err != nil {
		return nil, err
	}
	if t.options.Window == 0 {
		sock.RaiseQueue(c)
	}
	t.pace(c)
	return c, nil
}

// conns are the streams. Of both directions, the client opens those first that it
// sends on.
func (t *iperf3Test) conns() (c flows.Conns) {
	for _, a := range t.tcp {
		c.TCP = append(c.TCP, a.conn)
	}
	for _, f := range t.udp {
		c.UDP = append(c.UDP, f.conn)
	}
	return c
}

var errIperf3Expired = errors.New("the test did not end in its time")
