package iperf3

import (
	"net"
	"sync"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/sock"
	wire "soku/internal/wire/iperf3"
)

// Times are how long a server waits for its clients. The zero value is
// that of iperf3's own server, but that a client that is gone is found out.
type Times struct {
	// Silence is how long a client that sends may be silent; 0 is 120 s.
	Silence time.Duration
	// Unacknowledged is after how long what was sent and not acknowledged breaks a
	// connection; 0 is the system's.
	Unacknowledged time.Duration
	// RateOver is over how much of a test what it moves is averaged before it is held to the
	// server's limit, in whole intervals, as iperf3's own server does. Below 0 only what a
	// client asks for is held to it. 0 holds every moment of a test to it.
	RateOver time.Duration
	// KeepAlive is how a control connection looks whether the client is there; nil is
	// soku's own way, which finds out within 8 s.
	KeepAlive *net.KeepAliveConfig
}

func (p Times) silence() time.Duration {
	if p.Silence > 0 {
		return p.Silence
	}
	return 120 * time.Second
}

// watchOver has the kernel find out when the client is gone.
func (p Times) watchOver(control *net.TCPConn) error {
	keep := net.KeepAliveConfig{Enable: true, Idle: 4 * time.Second, Interval: 2 * time.Second, Count: 2}
	if p.KeepAlive != nil {
		keep = *p.KeepAlive
	}
	if err := control.SetKeepAliveConfig(keep); err != nil {
		return err
	}
	return p.limitUnacknowledged(control)
}

func (p Times) limitUnacknowledged(c *net.TCPConn) error {
	if p.Unacknowledged > 0 {
		return sock.LimitUnacknowledged(c, p.Unacknowledged)
	}
	return nil
}

// limit is what this end of the test may move, both directions together; stop ends a test
// whose client sends more. The caller calls unwatch after it.
func (t *test) limit(stop func(error)) (limit engine.Limit, unwatch func()) {
	if t.handler.cfg.Times.RateOver != 0 {
		return engine.Limit{}, func() {}
	}
	limit = server.Together(server.NewBudget(t.handler.Limits().MaxRate, t.asked.Bandwidth > 0 || t.asked.FQRate > 0))
	return limit, server.Enforce(limit, func() {
		if !t.isOver() { // the client waits for the results by then
			stop(t.tooFast())
		}
	})
}

func (t *test) tooFast() error {
	return fail(wire.CodeTotalRate, "server.max_rate", measure.Figures{"limit_bps": t.handler.Limits().MaxRate})
}

// police ends a test that moves more than the limit of this server allows, both
// directions together, averaged over the last whole intervals, where RateOver says so.
func (t *test) police(stop func(error)) measure.Observer {
	limit, over := t.handler.Limits().MaxRate, t.handler.cfg.Times.RateOver
	if limit == 0 || over <= 0 {
		return func(measure.Progress) {}
	}
	n := max(1, int((over+t.options.Interval.Std()/2)/t.options.Interval.Std()))
	var mu sync.Mutex
	latest := map[measure.Direction][]measure.Progress{}
	return func(p measure.Progress) {
		if p.Rest || t.isOver() { // the client waits for the results by then
			return
		}
		mu.Lock()
		defer mu.Unlock()
		last := append(latest[p.Direction], measure.Progress{StartNs: p.StartNs, EndNs: p.EndNs, Bytes: p.Bytes})
		latest[p.Direction] = last[max(0, len(last)-n):]
		var rate float64
		for _, last := range latest {
			if len(last) == n {
				rate += rateOf(last)
			}
		}
		if rate > float64(limit) {
			stop(t.tooFast())
		}
	}
}

// rateOf is the mean over intervals, bit/s.
func rateOf(all []measure.Progress) float64 {
	var bytes, ns int64
	for _, p := range all {
		bytes += p.Bytes
		ns += p.EndNs - p.StartNs
	}
	return float64(bytes) * 8e9 / float64(max(1, ns))
}
