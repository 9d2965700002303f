package iperf3

import (
	"io"
	"net"
	"time"

	"soku/internal/measure"
	serveriperf3 "soku/internal/server/iperf3"
	"soku/internal/wire/iperf3"
)

// ServerOutput formats tests of a server that prints nothing itself: a client that asks
// for the server's output gets the text that iperf3 would have printed. Nothing is kept
// of other tests. version is soku's.
func ServerOutput(version string, now func() time.Time) func(wait bool) serveriperf3.Observer {
	set := defaults()
	set.Role = Server
	env := Environment{Stdout: io.Discard, Stderr: io.Discard, Now: now, Version: version}
	return func(bool) serveriperf3.Observer {
		return &onDemand{view: testView{runner: &runner{env: env, set: set, out: io.Discard, errs: io.Discard}, at: now(), interrupted: func() string { return stopped }}}
	}
}

// onDemand is a view that does not restrict the engines' paths and writes nothing unless
// the client asks for the output.
type onDemand struct {
	view  testView
	asked bool
}

// Options implements serveriperf3.Observer.
func (d *onDemand) Options(o measure.Options) measure.Options { return o }

// Opened implements serveriperf3.Observer.
func (d *onDemand) Opened(e iperf3.Exchange, conns []net.Conn) {
	if d.asked = e.Parameters.GetServerOutput; d.asked {
		d.view.Opened(e, conns)
	}
}

// Observe implements serveriperf3.Observer.
func (d *onDemand) Observe(p measure.Progress) {
	if d.asked {
		d.view.Observe(p)
	}
}

// Measured implements serveriperf3.Observer.
func (d *onDemand) Measured(end *measure.End, own *iperf3.Results) (text string, document []byte) {
	if !d.asked {
		return "", nil
	}
	return d.view.Measured(end, own)
}

// Closed implements serveriperf3.Observer.
func (*onDemand) Closed(*measure.End, error) {}
