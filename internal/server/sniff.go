package server

import (
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"soku/internal/sock"
	"soku/internal/wire/native"
)

// sniffed is the number of bytes by which every protocol is first recognised. No protocol
// served here begins with fewer.
const sniffed = 4

// maxSniffed is how many bytes a protocol may want to see before it is sure.
const maxSniffed = 64

// protocol is a row of the table by which a connection finds its handler.
type protocol struct {
	name string
	// match is that of [Protocol].
	match func(first []byte) (ours bool, more int)
	// serve is [Handler].ServeConn.
	serve func(c *Conn)
	// datagram is [Handler].ServeDatagram; nil: no datagrams.
	datagram func(at Port, from netip.AddrPort, b []byte) (ours bool)
	// appliesOptions: serve gives a connection the options of a test
	// ([sock.Settings.Apply]), its congestion control among them.
	appliesOptions bool
}

// native are the rows of soku's own protocol.
func (s *Server) native() []*protocol {
	return []*protocol{
		{name: "data", match: beginsData, serve: s.serveData, appliesOptions: true},
		{name: "control", match: beginsHTTP, serve: s.servePlain},
		{name: "control over TLS", match: beginsTLS, serve: s.serveTLS},
	}
}

func beginsData(first []byte) (bool, int) { return string(first[:sniffed]) == native.Magic, 0 }

func beginsHTTP(first []byte) (bool, int) {
	switch string(first[:sniffed]) {
	case "GET ", "POST", "DELE", "HEAD", "PUT ", "PATC", "OPTI":
		return true, 0
	}
	return false, 0
}

func beginsTLS(first []byte) (bool, int) { return strings.HasPrefix(string(first), "\x16\x03"), 0 }

// recognise returns the protocol that begins with first, at least sniffed
// bytes, or nil, and how many bytes more it wants to see before it is sure.
func recognise(protocols []*protocol, first []byte) (p *protocol, more int) {
	for _, p := range protocols {
		if ours, more := p.match(first); ours {
			return p, more
		}
	}
	return nil, 0
}

// sniff reads the first bytes of c, which have [native.SniffTimeout] to
// come, and passes it on. Unrecognised connections are closed without an answer.
func (s *Server) sniff(at *port, c *net.TCPConn) {
	_ = c.SetDeadline(time.Now().Add(s.times.sniff))
	first := make([]byte, 0, maxSniffed)
	for more := sniffed; more > 0; {
		read := len(first)
		if read+more > maxSniffed {
			_ = c.Close()
			return
		}
		first = first[:read+more]
		if _, err := io.ReadFull(c, first[read:]); err != nil {
			_ = c.Close()
			return
		}
		var p *protocol
		if p, more = recognise(s.protocols, first); p == nil {
			s.log.Debug("closed a connection of an unknown protocol", "client", c.RemoteAddr())
			_ = c.Close()
			return
		}
		if more == 0 {
			s.hand(p, at, c, first)
		}
	}
}

// hand gives a connection, of which first was read already, to its protocol.
func (s *Server) hand(p *protocol, at *port, c *net.TCPConn, first []byte) {
	if !p.appliesOptions {
		sock.SystemCongestion(c)
	}
	p.serve(&Conn{TCPConn: c, First: first, Port: at, Number: s.unclassified.number(c), waiting: s.unclassified})
}
