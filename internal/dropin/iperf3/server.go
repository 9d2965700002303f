package iperf3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/wire/iperf3"
)

// serve answers clients until ctx ends, or with --one-off until one test has ended.
func (r *runner) serve(ctx context.Context) int {
	cfg, err := r.config()
	if err != nil {
		refuse(r.env, err)
		return 1
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	h := &house{runner: r, stop: stop, idle: time.AfterFunc(time.Hour, stop)}
	h.idle.Stop()
	cfg.IPerf3 = func() server.IPerf3Show { return h.welcome() }
	s, err := server.New(cfg)
	if err != nil {
		r.newWriter().Fail("error - unable to start listener for connections: " + reason(measure.AsError(err, measure.KindUsage)))
		fmt.Fprintln(r.errs, "iperf3: exiting")
		return 1
	}
	h.listen()
	err = s.Serve(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err != nil:
		fmt.Fprintf(r.errs, "iperf3: error - %s\n", oneLine(err))
		return 1
	case !h.left:
		fmt.Fprintln(r.errs, "iperf3: interrupt - the server has terminated")
	}
	return 0
}

// config is the server that the settings ask for: of iperf3's protocol alone, with one
// client at a time.
func (r *runner) config() (server.Config, error) {
	set := r.set
	cfg := server.Config{
		Listen: net.JoinHostPort(set.Bind, strconv.Itoa(set.Port)), MaxClients: 1, Only: measure.ViaIperf3, Version: r.env.Version,
		MaxRate: measure.Rate(set.RateLimit), MaxDuration: measure.Duration(time.Duration(set.MaxDuration) * time.Second),
	}
	switch {
	case set.Device != "":
		return cfg, problem("--bind-dev with -s is not supported by soku").WithHint("give the interface's address with -B")
	case set.Affinity >= 0:
		return cfg, problem("-A with -s is not supported by soku").WithHint("start it with taskset -c %d", set.Affinity)
	case set.Bind == "" && set.IPVersion == 4:
		cfg.Listen = net.JoinHostPort("0.0.0.0", strconv.Itoa(set.Port))
	case set.Bind == "" && set.IPVersion == 6:
		cfg.Listen = net.JoinHostPort("::", strconv.Itoa(set.Port))
	}
	if set.PrivateKey == "" && set.Users == "" {
		return cfg, nil
	}
	guard, err := r.guard()
	cfg.Users = guard
	return cfg, err
}

// guard knows the users that are served.
func (r *runner) guard() (*iperf3.Guard, error) {
	pem, err := r.env.ReadFile(r.set.PrivateKey)
	if err != nil {
		return nil, problem("read the private key: %w", err).WithHint("check --rsa-private-key-path")
	}
	list, err := r.env.ReadFile(r.set.Users)
	if err != nil {
		return nil, problem("cannot access authorized users file: %w", err).WithHint("check --authorized-users-path")
	}
	g := &iperf3.Guard{Skew: time.Duration(r.set.Skew) * time.Second, PKCS1: r.set.PKCS1}
	if g.Key, err = iperf3.ParsePrivateKey(pem); err != nil {
		return nil, problem("%s: %w", r.set.PrivateKey, err).WithHint("check --rsa-private-key-path")
	}
	if g.Users, err = iperf3.ParseUsers(list); err != nil {
		return nil, problem("%s: %w", r.set.Users, err).WithHint("check --authorized-users-path")
	}
	return g, nil
}

// house is a server that shows its tests one after another.
type house struct {
	*runner
	stop context.CancelFunc
	idle *time.Timer // ends a one-off server to which nobody comes

	turn sync.Mutex // held by the test that is shown

	mu     sync.Mutex
	number int  // of the test that is waited for
	left   bool // it ended by itself
}

// listen says that the server waits for a client.
func (h *house) listen() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.number++
	if h.set.OneOff && h.set.IdleTimeout > 0 {
		h.idle = time.AfterFunc(time.Duration(h.set.IdleTimeout)*time.Second, h.leave)
	}
	if h.set.JSON {
		return
	}
	const line = "-----------------------------------------------------------\n"
	w := newText(h.out, h.errs, h.set, h.env.Now)
	if h.set.Verbose {
		w.Begin(h.env.program())
	}
	w.print(line)
	w.print("Server listening on %d (test #%d)\n", h.set.Port, h.number)
	w.print(line)
}

// leave ends the server as it is meant to end.
func (h *house) leave() {
	h.mu.Lock()
	h.left = true
	h.mu.Unlock()
	h.stop()
}

// welcome is for the test of a client that has come.
func (h *house) welcome() *visit {
	h.turn.Lock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.idle.Stop()
	return &visit{house: h, at: h.env.Now()}
}

// visit shows one test.
type visit struct {
	house     *house
	writer    Writer
	text      *textWriter // the writer, unless that is of JSON
	document  *jsonWriter // likewise
	at        time.Time
	ends      ends
	mu        sync.Mutex // of collector
	collector *collector
	shown     bool // the end was
}

// Options makes the engines read and write unless the client asks otherwise, and
// tell of intervals as often as this server prints them.
func (v *visit) Options(o measure.Options) measure.Options {
	if o.Length > 0 { // TCP
		if o.TX == "auto" {
			o.TX = "write"
		}
		if o.RX == "auto" {
			o.RX = "read"
		}
	}
	if i := v.house.set.Interval; i > 0 {
		o.Interval = measure.Duration(i * float64(time.Second))
	}
	return o
}

// Opened begins what is printed.
func (v *visit) Opened(e iperf3.Exchange, conns []net.Conn) {
	h := v.house
	v.writer = h.newWriter()
	switch w := v.writer.(type) {
	case *textWriter:
		v.text, w.keep = w, e.Parameters.GetServerOutput
	case *jsonWriter:
		v.document = w
		w.keep = e.Parameters.GetServerOutput
		w.Begin(h.env.program())
	}
	s := Start{
		At: v.at, Peer: addressOf(e.Remote), Cookie: e.Cookie, Test: testOf(e.Parameters, h.set.Interval),
	}
	v.ends = newEnds(Server, s.Test, e, conns)
	s.SendBuffer, s.ReceiveBuffer, s.Connected = v.ends.send, v.ends.receive, v.ends.connected
	v.collector = newCollector(Server, s.Test, v.ends.sockets, v.writer.Interval)
	v.writer.Start(s)
}

// Observe prints an interval.
func (v *visit) Observe(p measure.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.collector.observe(p)
}

// Measured prints the end, and returns what the client may want of it.
func (v *visit) Measured(end *measure.End, own *iperf3.Results) (string, []byte) {
	v.show(end, own)
	if v.document != nil {
		return "", []byte(compact(v.document.whole()))
	}
	return v.text.kept.String(), nil
}

func (v *visit) show(end *measure.End, own *iperf3.Results) {
	v.shown = true
	v.collector.finish()
	v.writer.End(v.ends.ofServer(end, own, v.collector))
}

// Closed prints why a test broke off, and waits for the next.
func (v *visit) Closed(end *measure.End, err error) {
	h := v.house
	defer h.turn.Unlock()
	if v.writer == nil {
		v.writer = h.newWriter()
		if h.set.JSON {
			v.writer.Begin(h.env.program())
		}
	} else if end != nil && len(end.Flows) > 0 && !v.shown {
		v.show(end, nil)
	}
	if err != nil {
		v.writer.Fail(farewell(err))
	}
	if err := v.writer.Close(); err != nil {
		_, _ = io.WriteString(h.env.Stderr, "iperf3: error - write the output: "+err.Error()+"\n")
	}
	switch {
	case h.set.OneOff && !errors.Is(err, server.ErrIPerf3Unauthorized):
		h.leave()
	case err == nil || !errors.Is(err, server.ErrShutdown):
		h.listen()
	}
}

// farewell is what a server of iperf3 says of a test that broke off.
func farewell(err error) string {
	switch {
	case errors.Is(err, server.ErrIPerf3Stopped):
		return "the client has terminated"
	case errors.Is(err, server.ErrIPerf3Gone):
		return "the client has unexpectedly closed the connection"
	case errors.Is(err, server.ErrIPerf3Unauthorized):
		return "error - test authorization failed"
	case errors.Is(err, server.ErrShutdown):
		return "interrupt - the server has terminated"
	}
	return "error - " + oneLine(err)
}
