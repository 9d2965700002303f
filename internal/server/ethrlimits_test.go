package server

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire/ethr"
	"soku/test/tier"
)

// askEthr opens a connection with a request and reads the answer.
func askEthr(t *testing.T, at netip.AddrPort, m ethr.Message) (*net.TCPConn, error) {
	t.Helper()
	c, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(prompt))
	if _, err := c.Write(ethr.Append(nil, m)); err != nil {
		t.Fatal(err)
	}
	answer, err := ethr.Read(c)
	if err == nil && answer.Kind != ethr.Ack {
		t.Errorf("the answer is %+v", answer)
	}
	return c.(*net.TCPConn), err
}

func ethrSyn(change func(*ethr.Message)) ethr.Message {
	m := ethr.Message{Kind: ethr.Syn, Test: ethr.Bandwidth, Params: ethr.Params{Threads: 1, Buffer: 16000, Rounds: 10}}
	if change != nil {
		change(&m)
	}
	return m
}

func TestWhatAnEthrClientMayNotAskIsRefused(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	r, at := ethrServer(t, Config{MaxDuration: measure.Duration(time.Minute)})
	for name, m := range map[string]ethr.Message{
		"a long test":       ethrSyn(func(m *ethr.Message) { m.Params.Duration = time.Hour }),
		"a large message":   ethrSyn(func(m *ethr.Message) { m.Test, m.Params.Buffer = ethr.Latency, 1<<31 }),
		"no round trips":    ethrSyn(func(m *ethr.Message) { m.Test, m.Params.Rounds = ethr.Latency, 0 }),
		"a buffer of none":  ethrSyn(func(m *ethr.Message) { m.Params.Buffer = 0 }),
		"an unknown test":   ethrSyn(func(m *ethr.Message) { m.Test = 99 }),
		"another transport": ethrSyn(func(m *ethr.Message) { m.Transport = ethr.UDP }),
		"no request":        {Kind: ethr.SyncStart},
	} {
		if _, err := askEthr(t, at, m); err == nil {
			t.Errorf("%s: served", name)
		}
	}
	if c, err := askEthr(t, at, ethrSyn(func(m *ethr.Message) { m.Params.Buffer = 1<<32 - 1 })); err != nil {
		t.Errorf("a buffer that nobody has: %v", err)
	} else {
		c.Close()
	}
	r.ethrEnded("tcp", "connections")
}

func TestStrangersAndServersWithATokenServeNoEthr(t *testing.T) {
	for name, cfg := range map[string]Config{
		"elsewhere": {Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
		"a token":   {Token: "secret"},
	} {
		r, at := ethrServer(t, cfg)
		for _, to := range []netip.AddrPort{at, r.Addr()} {
			if _, err := askEthr(t, to, ethrSyn(nil)); err == nil {
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
		r.stop()
		if strings.Contains(r.logs.String(), "test ended") {
			t.Errorf("%s: counted: %s", name, r.logs.String())
		}
	}
}

func TestOnlyOneTestOfEthrAtATimeIsServedToWhoWantsIt(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	r, at := ethrServer(t, Config{Exclusive: true})
	native := r.open(measure.TestTCP, tcpOptions()) // somebody else measures
	c, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(ethr.Append(nil, ethrSyn(nil))); err != nil {
		t.Fatal(err)
	}
	eventually(t, prompt, "it does not wait", func() bool { _, waiting := r.queue.snapshot(); return len(waiting) == 1 })
	_ = native.Close()
	_ = c.SetDeadline(time.Now().Add(prompt))
	if m, err := ethr.Read(c); err != nil || m.Kind != ethr.Ack {
		t.Errorf("%+v, %v", m, err)
	}
	c.Close()
	r.ethrEnded("tcp", "connections")
	r.free()
}

func TestAClientOfEthrThatGoesWhileItWaitsLeavesTheQueue(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	r, at := ethrServer(t, Config{Exclusive: true})
	native := r.open(measure.TestTCP, tcpOptions())
	defer native.Close()
	c, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(ethr.Append(nil, ethrSyn(nil))); err != nil {
		t.Fatal(err)
	}
	eventually(t, prompt, "it does not wait", func() bool { _, waiting := r.queue.snapshot(); return len(waiting) == 1 })
	c.Close()
	eventually(t, 5*time.Second, "it still waits", func() bool { _, waiting := r.queue.snapshot(); return len(waiting) == 0 })
}

func TestAFullServerRefusesEthr(t *testing.T) {
	r, at := ethrServer(t, Config{MaxClients: 1})
	native := r.open(measure.TestTCP, tcpOptions())
	defer native.Close()
	if _, err := askEthr(t, at, ethrSyn(nil)); err == nil {
		t.Error("served")
	}
}

func TestTheServersLimitEndsATestOfEthr(t *testing.T) {
	_, at := ethrServer(t, Config{MaxDuration: measure.Duration(300 * time.Millisecond)})
	c, err := askEthr(t, at, ethrSyn(nil))
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
		cfg  Config
		rate uint64 // bytes a second
	}{
		"asked for": {Config{}, 1_000_000},
		"the limit": {Config{MaxRate: 8_000_000}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, at := ethrServer(t, c.cfg)
			conn, err := askEthr(t, at, ethrSyn(func(m *ethr.Message) { m.Params.Reverse, m.Params.Rate = true, c.rate }))
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

func TestTooFastAClientOfEthrIsStopped(t *testing.T) {
	_, at := ethrServer(t, Config{MaxRate: 8000})
	c, err := askEthr(t, at, ethrSyn(nil))
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(2 * prompt))
	b := make([]byte, 1<<20)
	for err == nil {
		_, err = c.Write(b)
	}
	if sock.TimedOut(err) {
		t.Error("it was not stopped")
	}
}

func TestTheLimitOnRatesIsOneForAllConnectionsOfATest(t *testing.T) {
	r, at := ethrServer(t, Config{MaxRate: 8000})
	var conns []*net.TCPConn
	for range 2 {
		c, err := askEthr(t, at, ethrSyn(func(m *ethr.Message) { m.Params.Threads = 2 }))
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(2 * prompt))
		conns = append(conns, c)
	}
	// Less than what is taken for under way on one of them, and more on both.
	for _, c := range conns {
		for range 12 {
			_, _ = c.Write(make([]byte, 1_000_000))
		}
	}
	for i, c := range conns {
		if _, err := c.Read(make([]byte, 1)); err == nil || sock.TimedOut(err) {
			t.Errorf("connection %d goes on: %v", i, err)
		}
	}
	if _, err := askEthr(t, at, ethrSyn(nil)); err == nil {
		t.Error("the test that was stopped goes on with one more connection")
	}
	if !strings.Contains(r.logs.String(), "test stopped") {
		t.Errorf("the log is %s", r.logs.String())
	}
}

func TestDatagramsBeyondTheLimitOnRatesAreNotCounted(t *testing.T) {
	tier.SpendsSeconds(t)
	var counted atomic.Uint64
	r, at := ethrServer(t, Config{MaxRate: 8000, Ethr: EthrHooks{Second: func(rows []EthrRow) {
		for _, x := range rows {
			counted.Add(x.Bytes)
		}
	}}})
	u, err := net.Dial("udp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	b := make([]byte, 60_000)
	eventually(t, 2*prompt, "it is never stopped", func() bool {
		for range 20 {
			_, _ = u.Write(b)
		}
		return strings.Contains(r.logs.String(), "test stopped")
	})
	for range 20 {
		_, _ = u.Write(b)
	}
	r.ethrEnded("udp", "datagrams")
	if n := counted.Load(); n > 17_000_000 {
		t.Errorf("%d bytes counted", n)
	}
}

func TestAQuestionThatIsNeverFinishedDoesNotHoldTheServer(t *testing.T) {
	r, at := ethrServer(t, Config{})
	c, err := askEthr(t, at, ethrSyn(func(m *ethr.Message) { m.Synced = true }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(ethr.Append(nil, ethr.Message{Kind: ethr.SyncStart})[:100]); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r.stop()
	if time.Since(began) > prompt {
		t.Errorf("the server needed %v to stop", time.Since(began))
	}
}

func TestARunningTestOfEthrEndsWithTheServer(t *testing.T) {
	r, at := ethrServer(t, Config{})
	reverse, err := askEthr(t, at, ethrSyn(func(m *ethr.Message) { m.Params.Reverse = true }))
	if err != nil {
		t.Fatal(err)
	}
	trips, err := askEthr(t, at, ethrSyn(func(m *ethr.Message) { m.Test, m.Params.Buffer = ethr.Latency, 1 }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(reverse, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r.stop()
	if time.Since(began) > prompt {
		t.Errorf("the server needed %v to stop", time.Since(began))
	}
	if _, err := trips.Read(make([]byte, 1)); err == nil || errors.Is(err, net.ErrClosed) {
		t.Errorf("the connection is open: %v", err)
	}
	if !strings.Contains(r.logs.String(), "test ended") {
		t.Error("the log has no end")
	}
}

// Addresses of datagrams can be made up.
func TestDatagramsOfAnyAddressTakeABoundedPlace(t *testing.T) {
	r, _ := ethrServer(t, Config{})
	at := r.foreign[0]
	for i := range 2 * maxEthrClients {
		from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 9)
		r.ethrDatagram(at, from, []byte("x"))
	}
	r.ethr.mu.Lock()
	n := len(r.ethr.by)
	r.ethr.mu.Unlock()
	if n > maxEthrClients {
		t.Errorf("%d clients are kept", n)
	}
}

func FuzzEthrConnection(f *testing.F) {
	syn := ethr.Append(nil, ethrSyn(func(m *ethr.Message) { m.Synced = true }))
	f.Add(append(syn, ethr.Append(nil, ethr.Message{Kind: ethr.SyncStart})...))
	f.Add(append(ethr.Append(nil, ethrSyn(nil)), "payload"...))
	f.Add(append(ethr.Append(nil, ethrSyn(func(m *ethr.Message) { m.Test, m.Params.Buffer = ethr.Latency, 1 })), "abc"...))
	s, err := newServer(Config{Listen: "127.0.0.1:0"}, fakes(), demuxInKernel)
	if err != nil {
		f.Fatal(err)
	}
	s.times.sniff = 10 * time.Millisecond
	f.Cleanup(s.closePorts)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { l.Close() })
	f.Fuzz(func(t *testing.T, b []byte) {
		near, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Skip("no connection is to be had")
		}
		far, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := near.Write(b); err != nil {
			t.Fatal(err)
		}
		_ = near.(*net.TCPConn).CloseWrite()
		_ = near.SetDeadline(time.Now().Add(20 * time.Millisecond)) // it may have asked to be sent to
		go func() { _, _ = io.Copy(io.Discard, near); near.Close() }()
		done := make(chan struct{})
		go func() { s.serveEthr(s.port, far.(*net.TCPConn), nil); close(done) }()
		select {
		case <-done:
		case <-time.After(30 * time.Second):
			t.Fatal("the connection holds the server")
		}
		near.Close()
	})
}
