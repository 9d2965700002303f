package iperf3

import (
	"net"

	"soku/internal/measure"
	"soku/internal/sock"
	wire "soku/internal/wire/iperf3"
)

// Observer is who shows one test of a client of iperf3 while it runs. The calls
// come one at a time in the order of the methods, Closed for every test and the others
// as far as it gets; they return soon, for the test waits.
type Observer interface {
	// Options returns the options of this end's engines for the test that a client
	// asked for, which are given, with what it shows and how bytes are to be moved.
	Options(measure.Options) measure.Options
	// Opened reports the connections of the test: those on which the client
	// sends first. They are not kept.
	Opened(e wire.Exchange, conns []net.Conn)
	// Observe reports intervals, also of an omitted start, and the last one however
	// short. Two directions call it at the same time.
	Observe(measure.Progress)
	// Measured reports what this end has counted, and returns what a client gets that
	// asks for the server's output: text, or a JSON document.
	Measured(end *measure.End, own *wire.Results) (text string, document []byte)
	// Closed reports how the test ended; nil is success. The end, where there is one, was
	// reported before unless err is not nil.
	Closed(end *measure.End, err error)
}

// unshown is the observer of a server that has none.
type unshown struct{}

func (unshown) Options(o measure.Options) measure.Options             { return o }
func (unshown) Opened(wire.Exchange, []net.Conn)                      {}
func (unshown) Observe(measure.Progress)                              {}
func (unshown) Measured(*measure.End, *wire.Results) (string, []byte) { return "", nil }
func (unshown) Closed(*measure.End, error)                            {}

// observer is that of the next test. It waits until the last one was shown, or is none.
func (h *handler) observer(wait bool) Observer {
	if h.cfg.Observer == nil {
		return unshown{}
	}
	if o := h.cfg.Observer(wait); o != nil {
		return o
	}
	return unshown{}
}

// reportOpened reports the streams to the observer.
func (t *test) reportOpened() {
	e := wire.Exchange{
		Cookie: t.cookie.String(), Parameters: *t.asked, Local: sock.AddrPort(t.control.LocalAddr()), Remote: t.client,
	}
	conns := t.conns().List()
	for i, c := range conns {
		e.Streams = append(e.Streams, wire.StreamEnds{
			ID: wire.StreamID(i), Sends: !t.asked.Reverse && i < t.asked.Parallel,
			Local: sock.AddrPort(c.LocalAddr()), Remote: sock.AddrPort(c.RemoteAddr()),
		})
	}
	t.shows.Opened(e, conns)
}
