package iperf3

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/server"
	serveriperf3 "soku/internal/server/iperf3"
	"soku/internal/wire/iperf3"
)

// testView prints one test of a server.
type testView struct {
	*runner
	ended       func(err error) // called last; may be nil
	interrupted func() string   // message of a server that was stopped
	writer      Writer
	text        *textWriter // the writer if the output is text, or nil
	document    *jsonWriter // the writer if the output is JSON, or nil
	at          time.Time
	ends        ends
	mu          sync.Mutex // of collector
	collector   *collector
	shown       bool // the end was
}

// Options makes the engines copy bytes from or to a file, whatever the client requests,
// and report intervals as often as this server prints them.
func (v *testView) Options(o measure.Options) measure.Options {
	if o.Length > 0 && v.set.File != "" { // over TCP
		o.TX, o.RX = "write", "read"
	}
	if i := v.set.Interval; i > 0 {
		o.Interval = measure.Duration(i * float64(time.Second))
	}
	return o
}

// Opened prints the start of the test.
func (v *testView) Opened(e iperf3.Exchange, conns []net.Conn) {
	v.writer = v.newWriter()
	switch w := v.writer.(type) {
	case *textWriter:
		v.text, w.keep = w, e.Parameters.GetServerOutput
	case *jsonWriter:
		v.document = w
		w.keep = e.Parameters.GetServerOutput
		w.Begin(v.env.program())
	}
	s := Start{
		At: v.at, Peer: addressOf(e.Remote), Cookie: e.Cookie, Test: testOf(e.Parameters, v.set.Interval),
	}
	v.ends = newEnds(Server, s.Test, e, conns)
	s.SendBuffer, s.ReceiveBuffer, s.Connected = v.ends.send, v.ends.receive, v.ends.connected
	v.collector = newCollector(Server, s.Test, v.ends.sockets, v.writer.Interval)
	v.writer.Start(s)
	v.printState(iperf3.TestRunning)
}

// Observe prints an interval.
func (v *testView) Observe(p measure.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.collector.observe(p)
}

// Measured prints the end, and returns the output that the client may have requested.
func (v *testView) Measured(end *measure.End, own *iperf3.Results) (string, []byte) {
	v.printState(iperf3.ExchangeResults)
	v.show(end, own)
	if v.document != nil {
		return "", []byte(compact(v.document.whole()))
	}
	return v.text.kept.String(), nil
}

func (v *testView) show(end *measure.End, own *iperf3.Results) {
	v.shown = true
	v.collector.finish(seconds(own))
	e := v.ends.ofServer(end, own, v.collector)
	e.File = v.kept()
	v.writer.End(e)
}

// Closed prints why a test failed.
func (v *testView) Closed(end *measure.End, err error) {
	if v.ended != nil {
		defer v.ended(err)
	}
	if v.writer == nil {
		v.writer = v.newWriter()
		if v.set.JSON {
			v.writer.Begin(v.env.program())
		}
	} else if end != nil && len(end.Flows) > 0 && !v.shown {
		v.show(end, nil)
	}
	if err != nil {
		v.writer.Fail(v.farewell(err))
	} else {
		v.printState(iperf3.Done)
	}
	if err := v.writer.Close(); err != nil {
		_, _ = io.WriteString(v.env.Stderr, "iperf3: error - write the output: "+err.Error()+"\n")
	}
}

// farewell is iperf3's server message for a test that failed.
func (v *testView) farewell(err error) string {
	switch {
	case errors.Is(err, serveriperf3.ErrStopped):
		return "the client has terminated"
	case errors.Is(err, serveriperf3.ErrGone):
		return "the client has unexpectedly closed the connection"
	case errors.Is(err, serveriperf3.ErrUnauthorized):
		return "error - test authorization failed"
	case errors.Is(err, engine.ErrStalled):
		return silent
	case errors.Is(err, server.ErrShutdown):
		return v.interrupted()
	}
	if number, ok := serveriperf3.Number(err); ok {
		if text, known := numbered[iperf3.ServerFailure(number)]; known {
			return "error - " + text
		}
	}
	return "error - " + oneLine(err)
}
