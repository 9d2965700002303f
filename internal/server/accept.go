package server

import (
	"net"
	"net/netip"

	"soku/internal/engine/connect"
	"soku/internal/tests"
)

// openAcceptor opens what takes the connections of a test that measures setting them up,
// at the address that the client came to, and returns its port: 0 where the session has
// none of its own, or where connections come to the server's main port alone.
func (s *Server) openAcceptor(ss *session) (port int, err error) {
	d := tests.Of(ss.test)
	if d.Accept == nil {
		return 0, nil
	}
	acceptor, err := d.Accept(s.engines.Engines, ss.local, s.peers(ss), ss.options)
	ss.setAcceptor(acceptor)
	if err != nil {
		s.log.Warn("open a port for a test", "session", ss.name(), "test", ss.test, "error", err)
		if connect.OptionsOf(ss.options).Entry == "session" {
			return 0, err
		}
	}
	return acceptor.Port(), nil
}

// peers are the addresses that the client may connect from.
func (s *Server) peers(ss *session) []netip.Addr {
	out := []netip.Addr{ss.client.Addr()}
	if own := connect.OptionsOf(ss.options); own.Sources != "" {
		more, _ := connect.ParseSources(own.Sources) // checked with the options
		for _, a := range more {
			if s.allowed(a) {
				out = append(out, a)
			}
		}
	}
	return out
}

// serveConnection gives a connection that was opened for its own sake, whose preamble
// was read, to its session. Its client waits for this end to close.
func (s *Server) serveConnection(c *net.TCPConn, ss *session) {
	if a := ss.acceptor(); a != nil {
		a.Take(c)
	}
	_ = c.Close()
}
