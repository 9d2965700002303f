package ingest

import (
	"time"

	"soku/internal/measure"
)

// serverPause is the gap between two tests in a server's log, which has an entry per second
// while a test runs.
const serverPause = 2 * time.Second

// setupConnections is how many connections in one second may be the start of a bandwidth or
// latency test instead of a test of connections: Ethr counts those of a test's own threads, too.
const setupConnections = 100

// ethrSecond is what an Ethr server prints each second of one client and protocol. It keeps one
// set of counters for both, whatever test the client runs.
type ethrSecond struct {
	line                 int
	at                   time.Time // zero on the console
	remote, protocol     string
	bits, conns, packets float64
	rtt                  float64 // average of a latency test in ns, or 0 without one
}

// second reads the cells of a row; "--" is a figure that the test does not have.
func (s *Source) ethrSecond(line int, at time.Time, remote, protocol, bits, conns, packets, rtt string) (ethrSecond, error) {
	v := ethrSecond{line: line, at: at, remote: short(remote), protocol: short(protocol)}
	for text, to := range map[string]*float64{bits: &v.bits, conns: &v.conns, packets: &v.packets} {
		n, _, ok := ethrFigure(text)
		if !ok {
			return v, s.fail(line, "ingest.number.figure", measure.Figures{"tool": "Ethr", "text": short(text)})
		}
		*to = n
	}
	if n, ok := span(rtt); ok {
		v.rtt = n
	}
	return v, nil
}

// serverKey is what the figures of one test at a server have in common. A latency test may run
// at the same time as another test of its client.
type serverKey struct {
	remote, protocol string
	latency          bool
}

// kinds of a second at a server.
const (
	kindThroughput = "throughput"
	kindConnect    = "connect"
	kindLatency    = "latency"
)

func (v ethrSecond) kind() string {
	switch {
	case v.bits > 0 || v.packets > 0:
		return kindThroughput
	case v.rtt > 0:
		return kindLatency
	case v.conns > 0:
		return kindConnect
	}
	return ""
}

// serverSecond adds a second to the test that it belongs to, or begins one.
func (f *ethrFile) serverSecond(v ethrSecond) error {
	kind := v.kind()
	key := serverKey{v.remote, v.protocol, kind == kindLatency}
	run := f.open[key]
	if run != nil && !v.at.IsZero() && v.at.Sub(run.last) >= serverPause {
		run = nil
	}
	if kind == "" { // a second without figures
		if run != nil {
			run.last = v.at
			run.second(v)
		}
		return nil
	}
	other := f.open[serverKey{v.remote, v.protocol, false}]
	if kind != kindConnect && other != nil && other.setup(v) {
		other.discard()
		if run == other {
			run = nil
		}
	}
	if run == nil || run.kind != kind || run.begunAnew(v) {
		var err error
		if run, err = f.beginServer(key, kind, v); err != nil {
			return err
		}
	}
	run.last = v.at
	run.second(v)
	return nil
}

func (f *ethrFile) beginServer(key serverKey, kind string, v ethrSecond) (*ethrRun, error) {
	run := &ethrRun{line: v.line, server: true, kind: kind, remote: v.remote, protocol: v.protocol, startedAt: v.at.UTC()}
	if v.at.IsZero() {
		run.startedAt = time.Time{}
	}
	f.open[key] = run
	return run, f.add(run)
}

// setup reports whether a run is one second of few connections right before the figures of
// another test: that test's own connections.
func (p *ethrRun) setup(v ethrSecond) bool {
	return p.kind == kindConnect && len(p.cps) == 1 && p.cps[0] <= setupConnections && v.at.Sub(p.last) < serverPause
}

// discard empties a run, so that it makes no result.
func (p *ethrRun) discard() { p.bps, p.cps, p.pps, p.averages, p.rows = nil, nil, nil, nil, nil }

// begunAnew reports whether a second is the first of another test. Over TCP that test's further
// connections show it. Over UDP nothing marks it: a second below half of those before and after
// it is the end of one test, and datagrams of another size are another test.
func (p *ethrRun) begunAnew(v ethrSecond) bool {
	n := len(p.bps)
	switch {
	case p.kind != kindThroughput || n == 0:
		return false
	case p.protocol != "UDP":
		return v.conns > 0
	}
	last := p.bps[n-1]
	if n > 1 && last < p.bps[n-2]/2 && last < v.bits/2 {
		return true
	}
	if len(p.pps) == 0 || p.pps[n-1] == 0 || v.packets == 0 {
		return false
	}
	ratio := v.bits / v.packets / (last / p.pps[n-1])
	return ratio > 1.25 || ratio < 0.8
}

// second adds the figures of a second.
func (p *ethrRun) second(v ethrSecond) {
	switch p.kind {
	case kindThroughput:
		p.bps = append(p.bps, v.bits)
		if p.protocol == "UDP" {
			p.pps = append(p.pps, v.packets)
		}
	case kindConnect:
		p.cps = append(p.cps, v.conns)
	case kindLatency:
		if v.rtt > 0 {
			p.averages = append(p.averages, v.rtt)
		}
	}
}

// serverLatency adds the figures of a row of a latency test at a server's log.
func (f *ethrFile) serverLatency(s *Source, line int, at time.Time, e ethrEntry) error {
	key := serverKey{short(e.RemoteAddr), short(e.Protocol), true}
	run := f.open[key]
	v := ethrSecond{line: line, at: at, remote: key.remote, protocol: key.protocol}
	if other := f.open[serverKey{key.remote, key.protocol, false}]; other != nil && other.setup(v) {
		other.discard()
	}
	if run == nil || at.Sub(run.last) >= serverPause {
		var err error
		if run, err = f.beginServer(key, kindLatency, v); err != nil {
			return err
		}
	}
	run.last = at
	return run.entry(s, line, e)
}

// wholeSeconds returns the range of seconds that a UDP test at a server filled: its first and its
// last second are partial if they have less than half of the rate of their neighbour.
func (p *ethrRun) wholeSeconds() (from, to int) {
	from, to = 0, len(p.bps)
	if !p.server || p.protocol != "UDP" {
		return from, to
	}
	if to > 1 && p.bps[to-1] < p.bps[to-2]/2 {
		to--
	}
	if to > 1 && p.bps[0] < p.bps[1]/2 {
		from++
	}
	return from, to
}
