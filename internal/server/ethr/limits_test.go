package ethr

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/server/servertest"
	"soku/internal/sock"
	wire "soku/internal/wire/ethr"
	"soku/test/tier"
)

// ask opens a connection with a request and reads the answer.
func ask(t *testing.T, at netip.AddrPort, m wire.Message) (*net.TCPConn, error) {
	t.Helper()
	c, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(servertest.Prompt))
	if _, err := c.Write(wire.Append(nil, m)); err != nil {
		t.Fatal(err)
	}
	answer, err := wire.Read(c)
	if err == nil && answer.Kind != wire.Ack {
		t.Errorf("the answer is %+v", answer)
	}
	return c.(*net.TCPConn), err
}

func syn(change func(*wire.Message)) wire.Message {
	m := wire.Message{Kind: wire.Syn, Test: wire.Bandwidth, Params: wire.Params{Threads: 1, Buffer: 16000, Rounds: 10}}
	if change != nil {
		change(&m)
	}
	return m
}

func TestWhatAnEthrClientMayNotAskIsRefused(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	r, at := serve(t, server.Config{MaxDuration: measure.Duration(time.Minute)}, Hooks{})
	for name, m := range map[string]wire.Message{
		"a long test":       syn(func(m *wire.Message) { m.Params.Duration = time.Hour }),
		"a large message":   syn(func(m *wire.Message) { m.Test, m.Params.Buffer = wire.Latency, 1<<31 }),
		"no round trips":    syn(func(m *wire.Message) { m.Test, m.Params.Rounds = wire.Latency, 0 }),
		"a buffer of none":  syn(func(m *wire.Message) { m.Params.Buffer = 0 }),
		"an unknown test":   syn(func(m *wire.Message) { m.Test = 99 }),
		"another transport": syn(func(m *wire.Message) { m.Transport = wire.UDP }),
		"no request":        {Kind: wire.SyncStart},
	} {
		if _, err := ask(t, at, m); err == nil {
			t.Errorf("%s: served", name)
		}
	}
	if c, err := ask(t, at, syn(func(m *wire.Message) { m.Params.Buffer = 1<<32 - 1 })); err != nil {
		t.Errorf("a buffer that nobody has: %v", err)
	} else {
		c.Close()
	}
	r.ended("tcp", "connections")
}

func TestStrangersAndServersWithATokenServeNoEthr(t *testing.T) {
	for name, cfg := range map[string]server.Config{
		"elsewhere": {Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
		"a token":   {Token: "secret"},
	} {
		r, at := serve(t, cfg, Hooks{})
		for _, to := range []netip.AddrPort{at, r.Addr()} {
			if _, err := ask(t, to, syn(nil)); err == nil {
				t.Errorf("%s: served on %s", name, to)
			}
		}
		u, err := net.Dial("udp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := u.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		u.Close()
		r.Stop()
		if strings.Contains(r.Logs(), "test ended") {
			t.Errorf("%s: counted: %s", name, r.Logs())
		}
	}
}

func TestAnExclusiveServerServesOneEthrTestAtATime(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	r, at := serve(t, server.Config{Exclusive: true}, Hooks{})
	leave := r.Occupy() // another client measures
	c, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(wire.Append(nil, syn(nil))); err != nil {
		t.Fatal(err)
	}
	r.Waiting(1)
	leave()
	_ = c.SetDeadline(time.Now().Add(servertest.Prompt))
	if m, err := wire.Read(c); err != nil || m.Kind != wire.Ack {
		t.Errorf("%+v, %v", m, err)
	}
	c.Close()
	r.ended("tcp", "connections")
	r.Idle()
}

func TestAClientOfEthrThatGoesWhileItWaitsLeavesTheQueue(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	r, at := serve(t, server.Config{Exclusive: true}, Hooks{})
	leave := r.Occupy()
	defer leave()
	c, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(wire.Append(nil, syn(nil))); err != nil {
		t.Fatal(err)
	}
	r.Waiting(1)
	c.Close()
	r.Waiting(0)
}

func TestAFullServerRefusesEthr(t *testing.T) {
	r, at := serve(t, server.Config{MaxClients: 1}, Hooks{})
	leave := r.Occupy()
	defer leave()
	if _, err := ask(t, at, syn(nil)); err == nil {
		t.Error("served")
	}
}

func TestTheServersLimitEndsATestOfEthr(t *testing.T) {
	_, at := serve(t, server.Config{MaxDuration: measure.Duration(300 * time.Millisecond)}, Hooks{})
	c, err := ask(t, at, syn(nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("payload")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil || sock.TimedOut(err) {
		t.Errorf("it did not end: %v", err)
	}
}

func TestARateOfEthrIsHeldWhereThisEndSends(t *testing.T) {
	tier.SpendsSeconds(t)
	for name, c := range map[string]struct {
		cfg  server.Config
		rate uint64 // bytes a second
	}{
		"asked for": {server.Config{}, 1_000_000},
		"the limit": {server.Config{MaxRate: 8_000_000}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, at := serve(t, c.cfg, Hooks{})
			conn, err := ask(t, at, syn(func(m *wire.Message) { m.Params.Reverse, m.Params.Rate = true, c.rate }))
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.SetDeadline(time.Now().Add(500 * time.Millisecond))
			n, _ := io.Copy(io.Discard, conn)
			if n < 100_000 || n > 1_500_000 {
				t.Errorf("%d bytes in half a second at 1 MB/s", n)
			}
		})
	}
}

func TestAClientOfEthrThatWantsMoreThanTheRateForSecondsIsStopped(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	r, at := serve(t, server.Config{MaxRate: 80_000}, Hooks{})
	var writers sync.WaitGroup
	for i := range 2 { // the limit is one for both
		c, err := ask(t, at, syn(func(m *wire.Message) { m.Params.Threads = 2 }))
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		writers.Go(func() {
			b := make([]byte, 1<<20)
			for err == nil {
				_, err = c.Write(b)
			}
			if sock.TimedOut(err) {
				t.Errorf("connection %d goes on", i)
			}
		})
	}
	writers.Wait()
	if _, err := ask(t, at, syn(nil)); err == nil {
		t.Error("the test that was stopped goes on with one more connection")
	}
	if !strings.Contains(r.Logs(), "test stopped") {
		t.Errorf("the log is %s", r.Logs())
	}
}

func TestDatagramsBeyondTheLimitOnRatesAreNotCounted(t *testing.T) {
	tier.SpendsSeconds(t)
	var counted atomic.Uint64
	r, at := serve(t, server.Config{MaxRate: 8000}, Hooks{Second: func(rows []Row) {
		for _, x := range rows {
			counted.Add(x.Bytes)
		}
	}})
	knock(t, at)
	servertest.Eventually(t, servertest.Prompt, "its connection was not noticed", func() bool {
		r.handler.mu.Lock()
		defer r.handler.mu.Unlock()
		return r.handler.isKnown(at.Addr())
	})
	u := datagrams(t, at)
	b := make([]byte, 60_000)
	servertest.Eventually(t, 2*servertest.Prompt, "it is never stopped", func() bool {
		for range 20 {
			_, _ = u.Write(b)
		}
		return strings.Contains(r.Logs(), "test stopped")
	})
	for range 20 {
		_, _ = u.Write(b)
	}
	r.ended("udp", "datagrams")
	if n := counted.Load(); n > 17_000_000 {
		t.Errorf("%d bytes counted", n)
	}
}

func TestAQuestionThatIsNeverFinishedDoesNotHoldTheServer(t *testing.T) {
	r, at := serve(t, server.Config{}, Hooks{})
	c, err := ask(t, at, syn(func(m *wire.Message) { m.Synced = true }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(wire.Append(nil, wire.Message{Kind: wire.SyncStart})[:100]); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r.Stop()
	if time.Since(began) > servertest.Prompt {
		t.Errorf("the server needed %v to stop", time.Since(began))
	}
}

func TestARunningTestOfEthrEndsWithTheServer(t *testing.T) {
	r, at := serve(t, server.Config{}, Hooks{})
	reverse, err := ask(t, at, syn(func(m *wire.Message) { m.Params.Reverse = true }))
	if err != nil {
		t.Fatal(err)
	}
	trips, err := ask(t, at, syn(func(m *wire.Message) { m.Test, m.Params.Buffer = wire.Latency, 1 }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(reverse, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r.Stop()
	if time.Since(began) > servertest.Prompt {
		t.Errorf("the server needed %v to stop", time.Since(began))
	}
	if _, err := trips.Read(make([]byte, 1)); err == nil || errors.Is(err, net.ErrClosed) {
		t.Errorf("the connection is open: %v", err)
	}
	if !strings.Contains(r.Logs(), "test ended") {
		t.Error("the log has no end")
	}
}

// Addresses of datagrams can be made up, and nobody answers for them.
func TestDatagramsOfAddressesWithoutAConnectionTakeNoPlaceAndWriteNoLine(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for name, cfg := range map[string]server.Config{
		"places": {MaxClients: 2}, "a turn": {Exclusive: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, at := serve(t, cfg, Hooks{})
			before := r.Logs()
			for i := range 2 * maxUnproven {
				from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 9)
				r.handler.ServeDatagram(unshared{}, from, []byte("x"))
			}
			if q := r.Queue(); len(q.Running)+len(q.Waiting) > 0 {
				t.Errorf("%+v", q)
			}
			r.handler.mu.Lock()
			n := len(r.handler.clients)
			r.handler.mu.Unlock()
			if n > maxUnproven {
				t.Errorf("%d clients are kept", n)
			}
			if _, err := ask(t, at, syn(nil)); err != nil {
				t.Errorf("an honest client: %v", err)
			}
			servertest.Eventually(t, 2*servertest.Prompt, "addresses are left", func() bool {
				r.handler.mu.Lock()
				defer r.handler.mu.Unlock()
				return r.handler.unproven == 0
			})
			if logs := strings.TrimPrefix(r.Logs(), before); strings.Contains(logs, "10.0.") {
				t.Errorf("the log has %s", logs)
			}
		})
	}
}

func TestDatagramsOfAnAddressWithAConnectionAreATest(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	r, at := serve(t, server.Config{Exclusive: true}, Hooks{})
	u := datagrams(t, at)
	if _, err := u.Write([]byte("counted")); err != nil {
		t.Fatal(err)
	}
	r.Idle() // the test of the connection is over without a turn
	knock(t, at)
	servertest.Eventually(t, servertest.Prompt, "it takes no turn", func() bool {
		_, _ = u.Write([]byte("x"))
		q := r.Queue()
		return len(q.Running) == 1 && q.Running[0].Test == measure.TestUDP
	})
	r.ended("udp", "datagrams")
}

func TestTheNextTestOverUDPOfAnAddressWaitsBehindTheOthers(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	r, at := serve(t, server.Config{Exclusive: true}, Hooks{})
	u := datagrams(t, at)
	stop := make(chan struct{})
	var sender sync.WaitGroup
	sender.Go(func() { // one test after another, without a pause
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
			if i%20 == 0 {
				if c, err := net.Dial("tcp", at.String()); err == nil {
					sock.Abort(c.(*net.TCPConn))
				}
			}
			_, _ = u.Write([]byte("x"))
		}
	})
	servertest.Eventually(t, servertest.Prompt, "no turn", func() bool { return len(r.Queue().Running) == 1 })
	other := make(chan func(), 1)
	go func() { other <- r.Occupy() }()
	select {
	case leave := <-other:
		leave()
	case <-time.After(servertest.Prompt):
		t.Error("another client does not get its turn")
	}
	close(stop)
	sender.Wait()
	r.Idle()
}

// knock opens a connection and closes it, as soku's client does before a UDP test.
func knock(t *testing.T, at netip.AddrPort) {
	t.Helper()
	c, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	sock.Abort(c.(*net.TCPConn))
}

// datagrams is a socket connected to the server.
func datagrams(t *testing.T, at netip.AddrPort) net.Conn {
	t.Helper()
	u, err := net.Dial("udp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	return u
}

func TestATurnEndsWithItsTimeHoweverItsClientReconnects(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	const limit = 300 * time.Millisecond
	r, at := serve(t, server.Config{Exclusive: true, MaxDuration: measure.Duration(limit)}, Hooks{})
	stop := make(chan struct{})
	reconnected := make(chan struct{})
	go func() { // two connections at any time
		defer close(reconnected)
		for last := net.Conn(nil); ; time.Sleep(20 * time.Millisecond) {
			select {
			case <-stop:
				return
			default:
			}
			c, err := net.Dial("tcp", at.String())
			if err != nil {
				return
			}
			_, _ = c.Write(wire.Append(nil, syn(nil)))
			if last != nil {
				last.Close()
			}
			last = c
		}
	}()
	servertest.Eventually(t, servertest.Prompt, "no turn", func() bool { return len(r.Queue().Running) == 1 })
	began := time.Now()
	leave := r.OccupyFor(measure.Duration(limit)) // waits for the turn
	if most := server.LongestServed(measure.Duration(limit)) + servertest.Prompt; time.Since(began) > most {
		t.Errorf("another client waited %v", time.Since(began))
	}
	close(stop)
	<-reconnected
	leave()
	r.ended("tcp", "connections")
	r.Idle()
}

func TestTheNextTestOfAnAddressWaitsBehindTheOthers(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	r, at := serve(t, server.Config{Exclusive: true}, Hooks{})
	c, err := ask(t, at, syn(nil))
	if err != nil {
		t.Fatal(err)
	}
	other := make(chan func(), 1)
	go func() { other <- r.Occupy() }()
	r.Waiting(1)
	c.Close()
	servertest.Eventually(t, servertest.Prompt, "the connection is served", func() bool {
		r.handler.mu.Lock()
		defer r.handler.mu.Unlock()
		return r.handler.conns == 0
	})
	next, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if _, err := next.Write(wire.Append(nil, syn(nil))); err != nil {
		t.Fatal(err)
	}
	leave := <-other
	r.Waiting(1)
	leave()
	_ = next.SetDeadline(time.Now().Add(servertest.Prompt))
	if m, err := wire.Read(next); err != nil || m.Kind != wire.Ack {
		t.Errorf("%+v, %v", m, err)
	}
}

// unshared is a port of Ethr alone.
type unshared struct{ server.Port }

func (unshared) Shared() bool { return false }

func FuzzEthrConnection(f *testing.F) {
	request := wire.Append(nil, syn(func(m *wire.Message) { m.Synced = true }))
	f.Add(append(request, wire.Append(nil, wire.Message{Kind: wire.SyncStart})...))
	f.Add(append(wire.Append(nil, syn(nil)), "payload"...))
	f.Add(append(wire.Append(nil, syn(func(m *wire.Message) { m.Test, m.Params.Buffer = wire.Latency, 1 })), "abc"...))
	p := &quick{change: func(h *handler) { h.answerWait = 10 * time.Millisecond }}
	s, err := server.New(server.Config{Listen: "127.0.0.1:0", Foreign: []server.Foreign{{Protocol: p, Listen: "127.0.0.1:0"}}})
	if err != nil {
		f.Fatal(err)
	}
	at, _ := s.ForeignAddr(measure.ViaEthr)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	f.Cleanup(func() { stop(); <-served })
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Skip("no connection is to be had")
		}
		defer c.Close()
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
		_ = c.(*net.TCPConn).CloseWrite()
		_ = c.SetDeadline(time.Now().Add(20 * time.Millisecond))
		if _, err := io.Copy(io.Discard, c); sock.TimedOut(err) {
			_ = c.(*net.TCPConn).SetLinger(0) // it may have asked to be sent to
		}
		_ = c.Close()
		servertest.Eventually(t, 30*time.Second, "the connection holds the server", func() bool {
			p.made.mu.Lock()
			defer p.made.mu.Unlock()
			for _, client := range p.made.clients {
				if client.holds > 0 {
					return false
				}
			}
			return p.made.conns == 0
		})
	})
}
