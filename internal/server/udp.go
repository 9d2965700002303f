package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire/native"
)

// udpFlow is one proven UDP peer of a session.
type udpFlow struct {
	conn   net.Conn
	peer   netip.AddrPort
	settle func() // ends what answers late handshake datagrams; nil when nothing does
}

func (f udpFlow) close() {
	_ = f.conn.Close()
	if f.settle != nil {
		f.settle()
	}
}

// handshake handles a datagram of the handshake, and returns false for another.
func (s *Server) handshake(from netip.AddrPort, b []byte) bool {
	d, err := native.ParseDatagram(b)
	if err != nil {
		return false
	}
	if !s.allowed(from.Addr()) {
		return true
	}
	ss := s.sessions.key(d.Key)
	if ss == nil || ss.udp == nil {
		return true
	}
	switch d.Type {
	case native.Hello:
		s.reply(ss, from, native.Challenge, d.Index, s.nonce(d, from))
	case native.Proof:
		if nonce := s.nonce(d, from); hmac.Equal(nonce[:], d.Nonce[:]) {
			s.proven(ss, from, d)
		}
	}
	return true
}

// nonce is what the client at from must have received. It is computed, not
// kept, so that a flood of hellos costs no memory.
func (s *Server) nonce(d native.Datagram, from netip.AddrPort) (nonce [native.NonceSize]byte) {
	m := hmac.New(sha256.New, s.secret[:])
	m.Write(d.Key[:])
	_ = binary.Write(m, binary.BigEndian, d.Index)
	text, _ := from.MarshalBinary()
	m.Write(text)
	copy(nonce[:], m.Sum(nil))
	return nonce
}

// reply answers one datagram with one of the same size.
func (s *Server) reply(ss *session, to netip.AddrPort, t native.DatagramType, index uint16, nonce [native.NonceSize]byte) {
	b := native.Datagram{Version: native.Version, Type: t, Index: index, Nonce: nonce}.Append(nil)
	_, _, _ = s.own.udp.WriteMsgUDPAddrPort(b, sourceControl(ss.local), to)
}

// proven opens the flow of a peer whose return path is proven, or repeats the
// answer for one that has it already.
func (s *Server) proven(ss *session, peer netip.AddrPort, d native.Datagram) {
	index := int(d.Index)
	if !ss.take(index) {
		switch known, opening := ss.peerOf(index); {
		case known == peer:
			s.reply(ss, peer, native.Accept, d.Index, d.Nonce)
		case !opening:
			s.reply(ss, peer, native.Refuse, d.Index, d.Nonce)
		}
		return
	}
	flow, err := s.open(ss, peer)
	if err != nil {
		ss.abort(err)
		s.reply(ss, peer, native.Refuse, d.Index, d.Nonce)
		return
	}
	if !ss.arrived(func() { ss.udp[index] = flow }) {
		flow.close()
		return
	}
	s.reply(ss, peer, native.Accept, d.Index, d.Nonce)
}

// peerOf returns the peer of a flow, or that the flow is just being opened.
func (ss *session) peerOf(index int) (peer netip.AddrPort, opening bool) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if index >= len(ss.udp) || !ss.taken[index] {
		return netip.AddrPort{}, false
	}
	peer = ss.udp[index].peer
	return peer, !peer.IsValid()
}

// open makes the flow: a connected socket, or a peer of the shared one.
func (s *Server) open(ss *session, peer netip.AddrPort) (udpFlow, error) {
	conn, err := s.own.Connect(ss.ctx, ss.local, peer, farSettings(ownOptions(ss)))
	if err != nil {
		if known, ok := errors.AsType[*measure.Error](err); ok {
			return udpFlow{}, onServer(known)
		}
		return udpFlow{}, measure.Fail(measure.KindInternal, "server.open_udp", measure.Figures{"peer": peer.String(), "cause": err})
	}
	c, ok := conn.(*net.UDPConn)
	if !ok {
		return udpFlow{conn: conn, peer: peer}, nil
	}
	late := make(chan struct{})
	go func() {
		defer close(late)
		if err := Guard(s.log, func() error { s.answerLate(c); return nil }, "session", ss.name()); err != nil {
			ss.abort(err)
		}
	}()
	settle := func() {
		_ = c.SetReadDeadline(time.Unix(1, 0))
		<-late
		_ = c.SetReadDeadline(time.Time{})
	}
	return udpFlow{conn: c, peer: peer, settle: settle}, nil
}

// answerLate reads a connected socket until the test begins. Repetitions of the
// proof come here, and so does what other clients sent in the moment between
// bind and connect.
func (s *Server) answerLate(c *net.UDPConn) {
	buf := make([]byte, native.DatagramSize+1)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, net.ErrClosed), sock.TimedOut(err):
			return
		case err != nil:
			// An ICMP answer; the next read waits again.
			continue
		}
		s.handshake(netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), buf[:n])
	}
}

// settleUDP returns the datagram connections for the engines, which from now on
// are their only readers, or nil for a session over TCP.
func (ss *session) settleUDP() []net.Conn {
	if ss.udp == nil {
		return nil
	}
	conns := make([]net.Conn, len(ss.udp))
	for i, f := range ss.udp {
		if f.settle != nil {
			f.settle()
		}
		conns[i] = f.conn
	}
	return conns
}
