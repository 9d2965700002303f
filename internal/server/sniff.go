package server

import (
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire/ethr"
	"soku/internal/wire/native"
)

// sniffed is how many bytes every protocol is told by at first. No protocol
// served here begins with fewer.
const sniffed = 4

// maxSniffed is how many bytes a protocol may want to see before it is sure.
const maxSniffed = 64

// protocol is a row of the table by which a connection finds its handler.
type protocol struct {
	name string
	// match tells whether first, which are at least sniffed bytes, begins a
	// connection of this protocol, and how many bytes more it wants to see, 0
	// where it is sure. What is asked for must come from every client of it.
	match func(first []byte) (ours bool, more int)
	// serve handles a connection to at, of which first was read already: nothing
	// on the protocol's own port, all that match has seen elsewhere. It closes the
	// connection, or releases it from s.untold and gives it to somebody who does.
	serve func(s *Server, at *port, c *net.TCPConn, first []byte)
	// datagram handles one of an unknown peer that came to at. It may not keep b.
	// It returns false for one of another protocol. nil: no datagrams.
	datagram func(s *Server, at *port, from netip.AddrPort, b []byte) (ours bool)
	// options: it gives its connections the options of a test ([sock.Settings.Apply]).
	options bool
}

// protocols is asked in order; another protocol gets its place here.
var protocols = []protocol{
	{"data", beginsData, (*Server).serveData, nil, true},
	{"control", beginsHTTP, (*Server).servePlain, nil, false},
	{"control over TLS", beginsTLS, (*Server).serveTLS, nil, false},
	{measure.ViaEthr, ethr.Begins, (*Server).serveEthr, (*Server).ethrDatagram, false},
	{measure.ViaIperf3, beginsIperf3, (*Server).serveIperf3, (*Server).knockIperf3, true},
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
func recognise(first []byte) (p *protocol, more int) {
	for i := range protocols {
		if ours, more := protocols[i].match(first); ours {
			return &protocols[i], more
		}
	}
	return nil, 0
}

// called is the protocol of that name, or nil.
func called(name string) *protocol {
	for i := range protocols {
		if protocols[i].name == name {
			return &protocols[i]
		}
	}
	return nil
}

// sniff reads the first bytes of c, which have [native.SniffTimeout] to
// come, and passes it on. What nobody recognises is closed without an answer.
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
		if p, more = recognise(first); p == nil {
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
	if !p.options {
		sock.SystemCongestion(c)
	}
	p.serve(s, at, c, first)
}
