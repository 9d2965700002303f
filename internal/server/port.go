package server

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"soku/internal/measure"
)

// Foreign is a port beside the server's own, where another tool's clients look
// for their server.
type Foreign struct {
	Protocol string // "iperf3"
	Listen   string // host:port, for TCP and UDP
	// Optional: a port that is taken is told in the log, and the server goes on.
	Optional bool
}

// port is where TCP and UDP are listened on under one number.
type port struct {
	protocol *protocol // of all that comes; nil: what comes is told apart by its first bytes
	tcp      *net.TCPListener
	udp      *net.UDPConn
	addr     netip.AddrPort
	demux    *demux // nil where the kernel tells UDP peers apart
}

func openPort(p *protocol, address, device string, inKernel bool) (*port, error) {
	tcp, udp, err := listen(address, device)
	if err != nil {
		return nil, err
	}
	at := &port{protocol: p, tcp: tcp, udp: udp, addr: tcp.Addr().(*net.TCPAddr).AddrPort()}
	if !inKernel {
		at.demux = newDemux(udp)
	}
	return at, nil
}

// openForeign opens the ports of other protocols, and leaves out what is
// optional and taken.
func (s *Server) openForeign(inKernel bool) error {
	for _, f := range s.cfg.Foreign {
		p := called(f.Protocol)
		if p == nil {
			return measure.Errorf(measure.KindUsage, "no protocol is called %q", f.Protocol)
		}
		at, err := openPort(p, f.Listen, s.cfg.Device, inKernel)
		switch {
		case err != nil && f.Optional && errors.Is(err, errnoInUse):
			s.log.Warn("not served on the port of its own: another program has it", "protocol", f.Protocol, "address", f.Listen)
			continue
		case err != nil:
			e := measure.AsError(err, measure.KindUsage)
			return measure.Errorf(e.Kind, "%s: %w", f.Protocol, err).WithHint("choose another address with --%s, or off", f.Protocol)
		}
		s.foreign = append(s.foreign, at)
	}
	return nil
}

// ports are all that the server listens on, its own first.
func (s *Server) ports() []*port { return append([]*port{s.port}, s.foreign...) }

// close ends what waits on the port, but not what was accepted there.
func (at *port) close() {
	_ = at.tcp.Close()
	_ = at.udp.Close()
}

// ForeignAddr is where the clients of a protocol that has a port of its own
// find it; false where it has none.
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
			select {
			case <-time.After(100 * time.Millisecond):
			case <-s.base.Done():
			}
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
			select {
			case <-time.After(time.Millisecond):
				continue
			case <-s.base.Done():
				return nil
			}
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
			take(s, at, from, b)
		}
		return
	}
	for _, p := range protocols {
		if p.datagram != nil && p.datagram(s, at, from, b) {
			return
		}
	}
}
