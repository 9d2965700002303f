package server

import (
	"errors"
	"net"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire/iperf3"
)

// IPerf3Observer is who shows one test of a client of iperf3 while it runs. The calls
// come one at a time in the order of the methods, Closed for every test and the others
// as far as it gets; they return soon, for the test waits.
type IPerf3Observer interface {
	// Options returns the options of this end's engines for the test that a client
	// asked for, which are given, with what it shows and how bytes are to be moved.
	Options(measure.Options) measure.Options
	// Opened tells of the connections that carry the test: those on which the client
	// sends first. They are not kept.
	Opened(e iperf3.Exchange, conns []net.Conn)
	// Observe tells of intervals, also of an omitted start, and of a last one however
	// short. Two directions call it at the same time.
	Observe(measure.Progress)
	// Measured tells what this end has counted, and returns what a client gets that
	// asks for the server's output: text, or a JSON document.
	Measured(end *measure.End, own *iperf3.Results) (text string, document []byte)
	// Closed tells how the test ended; nil is well. The end, where there is one, was
	// told before unless err is not nil.
	Closed(end *measure.End, err error)
}

// Endings of a test that a show may want to tell apart, found by [errors.Is].
var (
	// ErrIPerf3Stopped: the client said that it stops.
	ErrIPerf3Stopped = errIperf3Stopped
	// ErrShutdown: the server is shutting down.
	ErrShutdown error = errShutdown
	// ErrIPerf3Gone: the client went away without a word.
	ErrIPerf3Gone = errors.New("the client went away")
	// ErrIPerf3Unauthorized: the client is none of the server's users.
	ErrIPerf3Unauthorized = errors.New("the client is not authorized")
)

// Is makes a refusal of a client that is no user one of [ErrIPerf3Unauthorized].
func (r *refusal) Is(target error) bool {
	return target == ErrIPerf3Unauthorized && r.code == iperf3.CodeAuthorization
}

// unshown is the show of a server that has none.
type unshown struct{}

func (unshown) Options(o measure.Options) measure.Options               { return o }
func (unshown) Opened(iperf3.Exchange, []net.Conn)                      {}
func (unshown) Observe(measure.Progress)                                {}
func (unshown) Measured(*measure.End, *iperf3.Results) (string, []byte) { return "", nil }
func (unshown) Closed(*measure.End, error)                              {}

// show is who shows the next test.
func (s *Server) show() IPerf3Observer {
	if s.cfg.IPerf3 == nil {
		return unshown{}
	}
	return s.cfg.IPerf3()
}

// tellOpened tells the show of the streams.
func (t *iperf3Test) tellOpened() {
	e := iperf3.Exchange{
		Cookie: t.cookie.String(), Parameters: *t.asked, Local: sock.AddrPort(t.control.LocalAddr()), Remote: t.client,
	}
	conns := t.conns().List()
	for i, c := range conns {
		e.Streams = append(e.Streams, iperf3.StreamEnds{
			ID: iperf3.StreamID(i), Sends: !t.asked.Reverse && i < t.asked.Parallel,
			Local: sock.AddrPort(c.LocalAddr()), Remote: sock.AddrPort(c.RemoteAddr()),
		})
	}
	t.shows.Opened(e, conns)
}
