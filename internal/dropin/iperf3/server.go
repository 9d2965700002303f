package iperf3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/server"
	serveriperf3 "soku/internal/server/iperf3"
	"soku/internal/sock"
	"soku/internal/wire/iperf3"
)

// serve answers clients until ctx ends, or with --one-off until one test has ended.
func (r *runner) serve(ctx context.Context) int {
	cfg, protocol, err := r.config()
	if err != nil {
		refuse(r.env, err)
		return 1
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	h := &testViews{runner: r, ctx: ctx, stop: stop, idle: time.AfterFunc(time.Hour, stop)}
	h.idle.Stop()
	protocol.Observer = h.next
	cfg.Only = serveriperf3.New(protocol)
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
		fmt.Fprintln(r.errs, "iperf3: "+h.interrupted())
	}
	return 0
}

// config is the server's configuration: iperf3's protocol only, one client at a time.
func (r *runner) config() (cfg server.Config, protocol serveriperf3.Config, err error) {
	set := r.set
	cfg = server.Config{
		Listen: net.JoinHostPort(set.Bind, strconv.Itoa(set.Port)), MaxClients: 1, Version: r.env.Version,
		MaxRate: measure.Rate(set.RateLimit), MaxDuration: measure.Duration(time.Duration(set.MaxDuration) * time.Second),
	}
	cfg.Device = set.Device
	if set.Affinity >= 0 {
		protocol.Pin = option.Pinning{On: true, CPUs: []int{set.Affinity}}
		if _, err := sock.NewPins(protocol.Pin); err != nil {
			return cfg, protocol, problem("unable to set CPU affinity: %v", err)
		}
	}
	protocol.Times, protocol.Files = set.times(), r.contents()
	switch {
	case set.Bind == "" && set.IPVersion == 4:
		cfg.Listen = net.JoinHostPort("0.0.0.0", strconv.Itoa(set.Port))
	case set.Bind == "" && set.IPVersion == 6:
		cfg.Listen = net.JoinHostPort("::", strconv.Itoa(set.Port))
	}
	if set.PrivateKey == "" && set.Users == "" {
		return cfg, protocol, nil
	}
	protocol.Users, err = r.guard()
	return cfg, protocol, err
}

// guard holds the users that are allowed.
func (r *runner) guard() (*iperf3.Guard, error) {
	pem, err := r.env.ReadFile(r.set.PrivateKey)
	if err != nil {
		return nil, fail("iperf3.option.private_key_file", measure.Figures{"cause": err})
	}
	list, err := r.env.ReadFile(r.set.Users)
	if err != nil {
		return nil, problem("cannot access authorized users file: %v", err).WithHintCode("iperf3.option.users_file", nil)
	}
	g := &iperf3.Guard{Skew: time.Duration(r.set.Skew) * time.Second, PKCS1: r.set.PKCS1}
	if g.Key, err = iperf3.ParsePrivateKey(pem); err != nil {
		return nil, fail("iperf3.option.private_key", measure.Figures{"file": r.set.PrivateKey, "cause": err})
	}
	if g.Users, err = iperf3.ParseUsers(list); err != nil {
		return nil, fail("iperf3.option.users", measure.Figures{"file": r.set.Users, "cause": err})
	}
	return g, nil
}

// testViews shows the tests of a server one after another.
type testViews struct {
	*runner
	ctx  context.Context // of the server
	stop context.CancelFunc
	idle *time.Timer // ends a one-off server without a client

	turn sync.Mutex // held by the test that is printed

	mu     sync.Mutex
	number int  // of the next test
	left   bool // it ended by itself, or a test has printed why
}

// listen prints that the server waits for a client.
func (h *testViews) listen() {
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

// stopped is iperf3's message for a server that was stopped.
const stopped = "interrupt - the server has terminated"

// interrupted is stopped with the signal that stopped the server.
func (h *testViews) interrupted() string {
	return stopped + bySignal(context.Cause(h.ctx))
}

// leave ends the server normally.
func (h *testViews) leave() {
	h.mu.Lock()
	h.left = true
	h.mu.Unlock()
	h.stop()
}

// next returns the observer for the next client's test. If another is still printed it
// waits, or, without wait, returns nil.
func (h *testViews) next(wait bool) serveriperf3.Observer {
	if wait {
		h.turn.Lock()
	} else if !h.turn.TryLock() {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.idle.Stop()
	return &testView{runner: h.runner, at: h.env.Now(), ended: h.ended, interrupted: h.interrupted}
}

// ended runs after a test.
func (h *testViews) ended(err error) {
	defer h.turn.Unlock()
	switch {
	case errors.Is(err, server.ErrShutdown), h.set.OneOff && !errors.Is(err, serveriperf3.ErrUnauthorized):
		h.leave()
	default:
		h.listen()
	}
}
