package ethr

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/server"
	"soku/internal/sock"
	wire "soku/internal/wire/ethr"
	"soku/test/servertest"
	"soku/test/tier"
)

// ask opens a connection with a request and reads the answer.
func ask(t *testing.T, at netip.AddrPort, m wire.Message) (*net.TCPConn, error) {
	t.Helper()
	c := request(t, at, m)
	return c, acknowledged(t, c)
}

// request is a connection that has sent a message.
func request(t *testing.T, at netip.AddrPort, m wire.Message) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := c.Write(wire.Append(nil, m)); err != nil {
		t.Fatal(err)
	}
	return c.(*net.TCPConn)
}

// acknowledged reads the answer to a request.
func acknowledged(t *testing.T, c net.Conn) error {
	t.Helper()
	_ = c.SetDeadline(time.Now().Add(servertest.Prompt))
	answer, err := wire.Read(c)
	if err == nil && answer.Kind != wire.Ack {
		t.Errorf("the answer is %+v", answer)
	}
	return err
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
		"a token":   {Access: server.WithToken("secret")},
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
	servertest.Eventually(t, servertest.Prompt, "the log does not say that the test was stopped", func() bool {
		return strings.Contains(r.Logs(), "test stopped")
	})
	// Clients behind the same address ask all the time, and none of them is refused for longer.
	servertest.Eventually(t, 2*servertest.Prompt, "the address is refused for as long as one of its clients asks", func() bool {
		_, err := ask(t, at, syn(nil))
		return err == nil
	})
}

func TestDatagramsThatAreRefusedDoNotRenewTheRefusal(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	r, at := serve(t, server.Config{MaxRate: 8_000_000}, Hooks{})
	knock(t, at)
	u := datagrams(t, at)
	servertest.Eventually(t, servertest.Prompt, "it is never stopped", func() bool {
		for range 20 {
			_, _ = u.Write(make([]byte, 60_000))
		}
		return strings.Contains(r.Logs(), "test stopped")
	})
	before := strings.Count(r.Logs(), "test started")
	servertest.Eventually(t, 2*servertest.Prompt, "the address is refused for as long as it sends", func() bool {
		_, _ = u.Write([]byte("x"))
		return strings.Count(r.Logs(), "test started") > before
	})
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
	at, _ := s.ForeignAddr(option.ViaEthr)
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
