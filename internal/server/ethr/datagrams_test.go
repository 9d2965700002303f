package ethr

import (
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/sock"
	"soku/test/servertest"
	"soku/test/tier"
)

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

// Source addresses of datagrams can be forged.
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
			for i := range 2 * maxUnverified {
				from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 9)
				r.handler.ServeDatagram(unshared{}, from, []byte("x"))
			}
			if q := r.Queue(); len(q.Running)+len(q.Waiting) > 0 {
				t.Errorf("%+v", q)
			}
			r.handler.mu.Lock()
			n := len(r.handler.clients)
			r.handler.mu.Unlock()
			if n > maxUnverified {
				t.Errorf("%d clients are kept", n)
			}
			if _, err := ask(t, at, syn(nil)); err != nil {
				t.Errorf("an honest client: %v", err)
			}
			servertest.Eventually(t, 2*servertest.Prompt, "addresses are left", func() bool {
				r.handler.mu.Lock()
				defer r.handler.mu.Unlock()
				return r.handler.unverified == 0
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
