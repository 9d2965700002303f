package server

import (
	"io"
	"net"
	"net/netip"
	"time"

	"soku/internal/engine/connect"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
	"soku/internal/tests"
	"soku/internal/wire/native"
)

// serveData reads the rest of a preamble and gives the connection to its
// session. An unknown key is closed without an answer.
func (s *Server) serveData(from *Conn) {
	c, first := from.TCPConn, from.First
	kept := false
	defer func() {
		if !kept {
			_ = c.Close()
		}
	}()
	if peer, ok := c.RemoteAddr().(*net.TCPAddr); !ok || !s.allowed(peer.AddrPort().Addr()) {
		return
	}
	b := make([]byte, native.PreambleSize)
	if _, err := io.ReadFull(c, b[copy(b, first):]); err != nil {
		return
	}
	p, err := native.ParsePreamble(b)
	if err != nil {
		return
	}
	if p.Version != native.Version {
		answer(c, native.StatusVersion)
		return
	}
	ss := s.sessions.key(p.Key)
	if ss == nil {
		return
	}
	if p.Kind == native.KindConnect {
		kept = true
		s.serveConnection(c, ss)
		return
	}
	if p.Kind == native.KindResume {
		kept = s.resume(c, ss, int(p.Index), b)
		return
	}
	index := int(p.Index)
	if p.Kind != native.KindData || ss.tcp == nil || !ss.take(index) {
		answer(c, native.StatusRefused)
		return
	}
	if err := prepare(c, ss, index); err != nil {
		ss.abort(err)
		answer(c, native.StatusRefused)
		return
	}
	// From here on the session closes it, also while the answer is on its way.
	s.unclassified.release(c)
	_ = c.SetDeadline(time.Time{})
	kept = ss.arrived(func() { ss.tcp[index] = c })
	if kept && !answer(c, native.StatusOK) {
		ss.abort(measure.Fail(measure.KindBroken, "server.session.data_broke", measure.Figures{"connection": index}))
	}
}

func answer(c *net.TCPConn, status native.Status) bool {
	_ = c.SetWriteDeadline(time.Now().Add(native.SniffTimeout))
	_, err := c.Write([]byte{byte(status)})
	_ = c.SetWriteDeadline(time.Time{})
	return err == nil
}

// prepare gives an accepted connection the options of the trial.
func prepare(c *net.TCPConn, ss *session, index int) error {
	if err := acceptedSettings(ss, index).Apply(c); err != nil {
		return onServer(err)
	}
	return nil
}

// acceptedSettings are the socket options of the accepted connection of that index. The
// segment size is none of them: the client's SYN agreed on it, and not every system lets it
// be set on an open connection.
func acceptedSettings(ss *session, index int) sock.Settings {
	o := ownOptions(ss)
	if o.Direction == measure.Forward || o.Direction == measure.Bidirectional && index < o.Streams {
		o.FlowLabel = 0 // this end sends nothing there, and looking for the client's labels costs a receiver
	}
	s := farSettings(o)
	s.MSS = 0
	s.NoDelay = s.NoDelay || option.SpecOf(ss.test).Messages
	return s
}

// farSettings are the socket options that a client may choose.
func farSettings(o measure.Options) sock.Settings {
	s := sock.FromOptions(o)
	s.Unprivileged = true
	return s
}

// ownOptions are the options of the trial that make sense at this end: addresses and
// interfaces are the client's, and only a sender has congestion control.
func ownOptions(ss *session) measure.Options {
	o := ss.options
	o.Bind, o.Device, o.IPVersion = "", "", 0
	if o.Direction == measure.Forward {
		o.Congestion = ""
	}
	return o
}

// onServer says at which end an option was refused.
func onServer(err error) error {
	e := measure.AsError(err, measure.KindRefused)
	return measure.Fail(e.Kind, "server.here", measure.Figures{"cause": e})
}

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
