package server

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire/iperf3"
)

// maxIperf3 is how many clients of iperf3 may be there at once, those included that
// wait for their turn.
const maxIperf3 = 4096

// iperf3Desk finds the tests of iperf3's clients.
type iperf3Desk struct {
	mu      sync.Mutex
	tests   map[iperf3.Cookie]*iperf3Test
	opening map[netip.Addr]*iperf3Test // that opens UDP streams, by the client's address
}

func newIperf3Desk() *iperf3Desk {
	return &iperf3Desk{tests: map[iperf3.Cookie]*iperf3Test{}, opening: map[netip.Addr]*iperf3Test{}}
}

// add makes t known by its cookie. It fails when there are too many, or when the
// cookie is known.
func (d *iperf3Desk) add(t *iperf3Test) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.tests) >= maxIperf3 || d.tests[t.cookie] != nil {
		return false
	}
	d.tests[t.cookie] = t
	return true
}

func (d *iperf3Desk) find(c iperf3.Cookie) *iperf3Test {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.tests[c]
}

// remove forgets t.
func (d *iperf3Desk) remove(t *iperf3Test) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.tests, t.cookie)
	d.closeUDP(t)
}

// openUDP lets t have the UDP streams that come from its client's address, which say
// nothing of the test they are for. It waits until no other test has them.
func (d *iperf3Desk) openUDP(t *iperf3Test) error {
	for {
		d.mu.Lock()
		other := d.opening[t.client.Addr()]
		if other == nil {
			d.opening[t.client.Addr()] = t
			d.mu.Unlock()
			return nil
		}
		d.mu.Unlock()
		select {
		case <-other.opened.ch:
		case <-t.ctx.Done():
			return t.cause()
		}
	}
}

// doneUDP ends what openUDP began.
func (d *iperf3Desk) doneUDP(t *iperf3Test) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closeUDP(t)
}

func (d *iperf3Desk) closeUDP(t *iperf3Test) {
	if d.opening[t.client.Addr()] == t {
		delete(d.opening, t.client.Addr())
	}
	t.opened.fire()
}

func (d *iperf3Desk) from(a netip.Addr) *iperf3Test {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opening[a]
}

// beginsIperf3 tells by the whole cookie.
func beginsIperf3(first []byte) (ours bool, more int) {
	first = first[:min(len(first), iperf3.CookieSize)]
	return iperf3.MayBeCookie(first), iperf3.CookieSize - len(first)
}

// serveIperf3 reads a cookie. One that is known brings a stream of its test, another
// is a client's control connection, which stays on this goroutine.
func (s *Server) serveIperf3(at *port, c *net.TCPConn, first []byte) {
	kept := false
	defer func() {
		if !kept {
			_ = c.Close()
		}
	}()
	client := sock.AddrPort(c.RemoteAddr())
	var cookie iperf3.Cookie
	if _, err := io.ReadFull(c, cookie[copy(cookie[:], first):]); err != nil || !iperf3.MayBeCookie(cookie[:]) {
		return
	}
	// There is no other word for "no" before parameters are exchanged.
	if !s.allowed(client.Addr()) || s.cfg.Token != "" && s.cfg.Users == nil {
		s.log.Debug("refused a client of iperf3", "client", client)
		_ = iperf3.WriteState(c, iperf3.AccessDenied)
		return
	}
	number := s.unclassified.number(c)
	s.unclassified.release(c)
	if t := s.iperf3.find(cookie); t != nil {
		if kept = t.takeTCP(c, number); !kept {
			_ = iperf3.WriteState(c, iperf3.AccessDenied)
		}
		return
	}
	t := s.newIperf3Test(at, c, cookie)
	s.leadIperf3(t)
}

// knockIperf3 opens a UDP stream for the test that waits for one from this address.
// Nothing else is answered: the address was proven by the control connection.
func (s *Server) knockIperf3(at *port, from netip.AddrPort, b []byte) bool {
	if !iperf3.IsUDPConnect(b) {
		return false
	}
	t := s.iperf3.from(from.Addr())
	if t == nil || t.at != at {
		return false
	}
	t.takeUDP(from, b)
	return true
}

// refusal is why a test is not measured, with iperf3's number for it.
type refusal struct {
	code int
	err  error
}

// Error is the sentence for the log.
func (r *refusal) Error() string { return r.err.Error() }

// Unwrap returns the cause.
func (r *refusal) Unwrap() error { return r.err }

func refuse(code int, format string, args ...any) error {
	return &refusal{code, measure.Errorf(measure.KindRefused, format, args...)}
}

var (
	errIperf3Stopped = errors.New("the client stopped")
	errIperf3Word    = errors.New("the client said what no client of iperf3 says here")
)

// iperf3Times are the limits a client must keep.
const (
	iperf3Why     = 200 * time.Millisecond // what says why streams broke off
	iperf3Word    = 10 * time.Second       // parameters, and the answer to a state
	iperf3Results = 30 * time.Second       // the client's results
	iperf3Grace   = 40 * time.Second       // what a test with a time may take on top of it
)
