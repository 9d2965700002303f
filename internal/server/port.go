package server

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

// port is where TCP and UDP are listened on under one number.
type port struct {
	protocol *protocol // of all connections; nil: recognised by their first bytes
	device   string    // network interface of its sockets; empty: any
	tcp      *net.TCPListener
	udp      *net.UDPConn
	addr     netip.AddrPort
	demux    *demux // nil if the kernel separates UDP peers
}

// openPort opens a port; inKernel has the kernel separate UDP peers.
func openPort(p *protocol, address, device string, inKernel bool) (*port, error) {
	tcp, udp, err := listen(address, device)
	if err != nil {
		return nil, err
	}
	at := &port{protocol: p, device: device, tcp: tcp, udp: udp, addr: tcp.Addr().(*net.TCPAddr).AddrPort()}
	if !inKernel {
		at.demux = newDemux(udp)
	}
	return at, nil
}

// openForeign opens the ports of other protocols, and leaves out what is
// optional and taken.
func (s *Server) openForeign(inKernel bool) error {
	for _, f := range s.cfg.Foreign {
		p := s.speak(f.Protocol)
		s.protocols = append(s.protocols, p)
		if f.Listen == "" {
			continue
		}
		at, err := openPort(p, f.Listen, s.cfg.Device, inKernel)
		switch {
		case err != nil && f.Optional && errors.Is(err, errnoInUse):
			s.log.Warn("not served on the port of its own: another program has it", "protocol", p.name, "address", f.Listen)
			continue
		case err != nil:
			e := measure.AsError(err, measure.KindUsage)
			return measure.Fail(e.Kind, "server.listen.foreign", measure.Figures{"protocol": p.name, "cause": e})
		}
		s.foreign = append(s.foreign, at)
	}
	return nil
}

// speak makes a handler for a protocol, and its row.
func (s *Server) speak(p Protocol) *protocol {
	h := p.NewHandler(services{s})
	s.handlers = append(s.handlers, h)
	return &protocol{name: p.Name(), match: p.Match, serve: h.ServeConn, datagram: h.ServeDatagram, appliesOptions: true}
}

// ports are all that the server listens on, its own first.
func (s *Server) ports() []*port { return append([]*port{s.own}, s.foreign...) }

// Shared implements [Port].
func (at *port) Shared() bool { return at.protocol == nil }

// Connect implements [Port].
func (at *port) Connect(ctx context.Context, local netip.Addr, peer netip.AddrPort, settings sock.Settings) (net.Conn, error) {
	end := netip.AddrPortFrom(local, at.addr.Port())
	if at.demux != nil {
		return at.demux.add(peer, end), nil
	}
	settings.Device = at.device
	c, err := connectUDP(ctx, end, peer, settings)
	if err != nil {
		return nil, err // without a nil *net.UDPConn in the interface
	}
	return c, nil
}

// close ends what waits on the port, but not what was accepted there.
func (at *port) close() {
	_ = at.tcp.Close()
	_ = at.udp.Close()
}

// ForeignAddr is where the clients of a protocol that has a port of its own
// find it, and false if it has none.
func (s *Server) ForeignAddr(protocol string) (netip.AddrPort, bool) {
	for _, at := range s.foreign {
		if at.protocol.name == protocol {
			return at.addr, true
		}
	}
	return netip.AddrPort{}, false
}

// accept takes connections until the listener is closed. Running out of file
// descriptors passes, so it is waited for.
func (s *Server) accept(at *port) error {
	for {
		c, err := at.tcp.AcceptTCP()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			s.log.Warn("accept a connection", "error", err)
			sock.Pause(s.base, 100*time.Millisecond)
		case at.protocol == nil:
			s.unclassified.serve(c, func(c *net.TCPConn) { s.sniff(at, c) })
		default:
			s.unclassified.serve(c, func(c *net.TCPConn) { s.serveForeign(at, c) })
		}
	}
}

// serveForeign gives a connection to the protocol's own port to it.
func (s *Server) serveForeign(at *port, c *net.TCPConn) {
	_ = c.SetDeadline(time.Now().Add(s.times.sniff))
	s.hand(at.protocol, at, c, nil)
}

// readUDP passes on what comes to the port from peers that have no socket of
// their own.
func (s *Server) readUDP(at *port) error {
	buf := make([]byte, 64<<10)
	for {
		n, from, err := at.udp.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			// Some systems report here that an earlier answer met a closed port.
			if !sock.Pause(s.base, time.Millisecond) {
				return nil
			}
			continue
		}
		s.datagram(at, netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), buf[:n])
	}
}

// datagram handles one datagram. Those of the native handshake never look like
// measured ones, and one that is late may come from a peer that is known already.
// Those of other protocols may, so that known peers come before them.
func (s *Server) datagram(at *port, from netip.AddrPort, b []byte) {
	own := at.protocol == nil
	if own && s.handshake(from, b) || at.demux != nil && at.demux.deliver(from, b) || !s.allowed(from.Addr()) {
		return
	}
	if !own {
		if take := at.protocol.datagram; take != nil {
			take(at, from, b)
		}
		return
	}
	for _, p := range s.protocols {
		if p.datagram != nil && p.datagram(at, from, b) {
			return
		}
	}
}
