package iperf3

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/server/servertest"
	"soku/internal/sock"
	wire "soku/internal/wire/iperf3"
	"soku/test/tier"
)

// raw is a client of iperf3 by hand.
type raw struct {
	t *testing.T
	net.Conn
	addr   string
	local  net.TCPAddr
	cookie wire.Cookie
}

func newRaw(s *running) *raw {
	s.t.Helper()
	return newRawFrom(s, "127.0.0.1")
}

// newRawFrom is newRaw from another address of loopback.
func newRawFrom(s *running, address string) *raw {
	s.t.Helper()
	x := &raw{t: s.t, addr: s.addr, local: net.TCPAddr{IP: net.ParseIP(address)}, cookie: wire.NewCookie()}
	x.Conn = x.dial()
	return x
}

// dial opens a connection that begins with the cookie.
func (x *raw) dial() net.Conn {
	x.t.Helper()
	c, err := (&net.Dialer{LocalAddr: &x.local}).Dial("tcp", x.addr)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Write(x.cookie[:]); err != nil {
		x.t.Fatal(err)
	}
	return c
}

// knock opens a UDP stream.
func (x *raw) knock() {
	x.t.Helper()
	c, err := net.Dial("udp", x.addr)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { _ = c.Close() })
	if _, err := c.Write([]byte(wire.UDPConnect)); err != nil {
		x.t.Fatal(err)
	}
}

// hears expects these states, one after another.
func (x *raw) hears(states ...wire.State) {
	x.t.Helper()
	for _, want := range states {
		if got, err := wire.ReadState(x); err != nil || got != want {
			x.t.Fatalf("%s, %v; want %s", got, err, want)
		}
	}
}

// refusedWith expects an error number.
func (x *raw) refusedWith(code int) {
	x.t.Helper()
	x.hears(wire.ServerError)
	var b [8]byte
	if _, err := io.ReadFull(x, b[:]); err != nil || int(binary.BigEndian.Uint32(b[:])) != code {
		x.t.Errorf("error %d, %v; want %d", binary.BigEndian.Uint32(b[:]), err, code)
	}
}

func (x *raw) asks(json string) {
	x.t.Helper()
	x.hears(wire.ParamExchange)
	if err := wire.WriteJSON(x, []byte(json)); err != nil {
		x.t.Fatal(err)
	}
}

const (
	askTCP = `{"tcp":true,"omit":0,"time":10,"parallel":1,"len":1000}`
	askUDP = `{"udp":true,"omit":0,"time":10,"parallel":1,"len":1000,"reverse":true,"bandwidth":1000000}`
)

func TestHostileClientsOfIperf3AreRefusedWithItsNumbers(t *testing.T) {
	s := serve(t, server.Config{}, Config{})
	for name, c := range map[string]struct {
		json string
		code int
	}{
		"no JSON":            {"no JSON at all", wire.CodeReceiveParams},
		"too many streams":   {`{"tcp":true,"parallel":1000000,"len":1000}`, wire.CodeStreams},
		"too long":           {`{"tcp":true,"time":1e12,"len":1000}`, wire.CodeTime},
		"huge writes":        {`{"tcp":true,"len":1e9}`, wire.CodeLength},
		"tiny datagrams":     {`{"udp":true,"len":4}`, wire.CodeLength},
		"SCTP":               {`{"sctp":true,"len":1000}`, wire.CodeNoSCTP},
		"a huge window":      {`{"tcp":true,"len":1000,"window":1e15}`, wire.CodeWindow},
		"an unknown CPU":     {`{"tcp":true,"len":1000,"server_affinity":1000}`, wire.CodeAffinity},
		"a negative amount":  {`{"tcp":true,"len":1000,"num":-1}`, wire.CodeReceiveParams},
		"both and reverse":   {`{"tcp":true,"len":1000,"reverse":true,"bidirectional":true}`, wire.CodeReceiveParams},
		"deep nonsense":      {strings.Repeat(`[`, 20_000), wire.CodeReceiveParams},
		"a list, not a list": {`[]`, wire.CodeReceiveParams},
	} {
		t.Run(name, func(t *testing.T) {
			x := newRaw(s)
			x.asks(c.json)
			x.refusedWith(c.code)
		})
	}
	s.Idle()
}

func TestAFalseLengthAllocatesNothing(t *testing.T) {
	tier.SpendsSeconds(t)
	s := serve(t, server.Config{}, Config{})
	x := newRaw(s)
	x.hears(wire.ParamExchange)
	_, _ = x.Write([]byte{0x7f, 0xff, 0xff, 0xff, '{'})
	x.refusedWith(wire.CodeReceiveParams)
	s.Idle()
}

func TestASilentClientTimesOut(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	s := serve(t, server.Config{}, Config{}, func(h *handler) { h.streamWait = 200 * time.Millisecond })
	x := newRaw(s)
	x.asks(askTCP)
	x.hears(wire.CreateStreams)
	x.refusedWith(wire.CodeStreamAccept) // it opens no streams
	s.Idle()
}

func TestALostClientLeavesNothing(t *testing.T) {
	s := serve(t, server.Config{Exclusive: true}, Config{})
	for name, until := range map[string]func(*raw){
		"before its streams": func(x *raw) { x.asks(askTCP); x.hears(wire.CreateStreams) },
		"in the test": func(x *raw) {
			x.asks(askTCP)
			x.hears(wire.CreateStreams)
			x.dial()
			x.hears(wire.TestStart, wire.TestRunning)
		},
		"by its own word": func(x *raw) {
			x.asks(askTCP)
			x.hears(wire.CreateStreams)
			x.dial()
			x.hears(wire.TestStart, wire.TestRunning)
			_ = wire.WriteState(x, wire.ClientTerminate)
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newRaw(s)
			until(x)
			if name == "by its own word" {
				s.Idle()
				return
			}
			waiting := newRaw(s)
			waiting.asks(askTCP)
			s.Waiting(1)
			_ = waiting.Close()
			_ = x.Close()
			s.Idle()
		})
	}
}

// A cookie is nothing that a place is given for.
func TestAClientThatHasNotSaidWhatItWantsTakesNoPlace(t *testing.T) {
	for name, cfg := range map[string]server.Config{"places": {MaxClients: 1}, "a turn": {Exclusive: true}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, cfg, Config{})
			for range 4 {
				newRaw(s).hears(wire.ParamExchange)
			}
			if q := s.Queue(); len(q.Running)+len(q.Waiting) > 0 {
				t.Errorf("%+v", q)
			}
			x := newRaw(s)
			x.asks(askTCP)
			x.hears(wire.CreateStreams)
			_ = x.Close()
			s.Idle()
			if strings.Count(s.Logs(), "level=INFO") != 1 { // the end of the test of x
				t.Errorf("the log is %s", s.Logs())
			}
		})
	}
}

func TestAClientThatMayNotMeasureTakesNoPlace(t *testing.T) {
	s := serve(t, server.Config{Exclusive: true, MaxDuration: measure.Duration(time.Second)}, Config{})
	leave := s.OccupyFor(measure.Duration(time.Second))
	defer leave()
	x := newRaw(s)
	x.asks(askTCP)
	x.refusedWith(wire.CodeMaxDuration) // at once
}

func TestAFullServerDeniesAClientThatSaidWhatItWants(t *testing.T) {
	s := serve(t, server.Config{MaxClients: 1}, Config{})
	leave := s.Occupy()
	defer leave()
	x := newRaw(s)
	x.asks(askTCP)
	x.hears(wire.AccessDenied)
}

func TestClientsThatSayNothingLoseTheirPlacesToOtherAddresses(t *testing.T) {
	s := serve(t, server.Config{}, Config{}, func(h *handler) { h.asked = server.NewFairLimit(3) })
	var silent []*raw
	for range 3 {
		x := newRaw(s)
		x.hears(wire.ParamExchange)
		silent = append(silent, x)
	}
	other := newRawFrom(s, "127.0.0.2")
	other.asks(askTCP)
	other.hears(wire.CreateStreams)
	_ = silent[0].SetReadDeadline(time.Now().Add(servertest.Prompt)) // they have longer otherwise
	if _, err := silent[0].Read(make([]byte, 1)); err == nil || sock.TimedOut(err) {
		t.Errorf("the oldest silent client is still there: %v", err)
	}
}

func TestAStrangersConnectionIsNoStream(t *testing.T) {
	s := serve(t, server.Config{}, Config{})
	x := newRaw(s)
	x.asks(askTCP)
	x.hears(wire.CreateStreams)
	other := newRaw(s) // another cookie: a test of its own
	other.hears(wire.ParamExchange)
	stream := x.dial()
	x.hears(wire.TestStart, wire.TestRunning)
	extra := &raw{t: t, Conn: x.dial()}
	extra.hears(wire.AccessDenied) // one stream too many
	_ = stream.Close()
}

// A datagram that is answered or that has packets sent to its source must come from
// where a control connection is.
func TestUDPGoesNowhereButToTheClientsAddress(t *testing.T) {
	tier.SpendsSeconds(t)
	s := serve(t, server.Config{}, Config{})
	knock := func(from string) net.Conn {
		c, err := (&net.Dialer{LocalAddr: &net.UDPAddr{IP: net.ParseIP(from)}}).Dial("udp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := c.Write([]byte(wire.UDPConnect)); err != nil {
			t.Fatal(err)
		}
		return c
	}
	silent := func(c net.Conn) {
		t.Helper()
		_ = c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		if n, err := c.Read(make([]byte, 2000)); err == nil {
			t.Errorf("%s got %d bytes", c.LocalAddr(), n)
		}
	}
	silent(knock("127.0.0.1")) // no test waits for a stream
	x := newRaw(s)
	x.asks(askUDP)
	x.hears(wire.CreateStreams)
	victim := knock("127.0.0.2")
	silent(victim)
	c := knock("127.0.0.1")
	b := make([]byte, 2000)
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	if n, err := c.Read(b); err != nil || string(b[:n]) != wire.UDPReply {
		t.Fatalf("%q, %v", b[:n], err)
	}
	x.hears(wire.TestStart, wire.TestRunning)
	if n, err := c.Read(b); err != nil || n != 1000 {
		t.Errorf("%d bytes, %v", n, err)
	}
	silent(victim)
	_ = x.Close()
	s.Idle()
}

func TestOlderClientsGetTheAnswerTheyKnow(t *testing.T) {
	s := serve(t, server.Config{}, Config{})
	for connect, want := range map[string]string{wire.UDPConnect: wire.UDPReply, wire.UDPConnectLegacy: wire.UDPReplyLegacy} {
		x := newRaw(s)
		x.asks(askUDP)
		x.hears(wire.CreateStreams)
		c, err := net.Dial("udp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		_, _ = c.Write([]byte(connect))
		b := make([]byte, 100)
		if n, err := c.Read(b); err != nil || string(b[:n]) != want {
			t.Errorf("%q, %v; want %q", b[:n], err, want)
		}
		_ = c.Close()
		_ = x.Close()
		s.Idle()
	}
}

func TestIperf3ClientsFromElsewhereAreDenied(t *testing.T) {
	var h *handler
	s := serve(t, server.Config{Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, Config{}, func(made *handler) { h = made })
	newRaw(s).hears(wire.AccessDenied)
	h.tests.mu.Lock()
	defer h.tests.mu.Unlock()
	if len(h.tests.tests) > 0 {
		t.Error("a test is left")
	}
}

// The end may reach the server while its receivers still prepare.
func TestATestThatEndsBeforeItsFirstByteHasAResult(t *testing.T) {
	s := serve(t, server.Config{}, Config{})
	for _, protocol := range []string{"tcp", "udp"} {
		var ended []*raw
		for range 20 {
			x := newRaw(s)
			x.asks(`{"` + protocol + `":true,"omit":0,"time":10,"parallel":1,"len":1000}`)
			x.hears(wire.CreateStreams)
			if protocol == "tcp" {
				x.dial()
			} else {
				x.knock()
			}
			x.hears(wire.TestStart, wire.TestRunning)
			if err := wire.WriteState(x, wire.TestEnd); err != nil {
				t.Fatal(err)
			}
			ended = append(ended, x)
		}
		for _, x := range ended {
			_ = x.SetDeadline(time.Now().Add(servertest.Prompt))
			x.hears(wire.ExchangeResults)
			_ = x.Close()
		}
		s.Idle()
	}
}

func TestATestIsServedNoLongerThanTheServerAllows(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	limit := measure.Duration(time.Second)
	s := serve(t, server.Config{MaxDuration: limit}, Config{})
	for _, ask := range []string{
		`{"tcp":true,"omit":0,"time":1,"parallel":1,"len":1000}`,
		`{"tcp":true,"omit":0,"time":1,"parallel":1,"len":1000,"reverse":true}`,
	} {
		x := newRaw(s)
		x.asks(ask)
		x.hears(wire.CreateStreams)
		stream := x.dial()
		x.hears(wire.TestStart, wire.TestRunning)
		go func() { _, _ = io.Copy(io.Discard, stream) }()
		go func() {
			for _, err := stream.Write(make([]byte, 1000)); err == nil; _, err = stream.Write(make([]byte, 1000)) {
				time.Sleep(10 * time.Millisecond)
			}
		}()
		_ = x.SetDeadline(time.Now().Add(server.LongestServed(limit) + servertest.Prompt))
		x.refusedWith(wire.CodeMaxDuration)
	}
	s.Idle()
}

func TestAServerThatStopsInformsItsIperf3Clients(t *testing.T) {
	s := serve(t, server.Config{}, Config{})
	x := newRaw(s)
	x.asks(askTCP)
	x.hears(wire.CreateStreams)
	x.dial()
	x.hears(wire.TestStart, wire.TestRunning)
	go s.Stop()
	x.hears(wire.ServerTerminate)
}

func TestIperf3ClientsShowInTheQueue(t *testing.T) {
	s := serve(t, server.Config{}, Config{})
	x := newRaw(s)
	x.asks(askUDP)
	x.hears(wire.CreateStreams)
	q := s.Queue()
	if len(q.Running) != 1 || q.Running[0].Test != measure.TestUDP || q.Running[0].Client != x.LocalAddr().String() {
		t.Errorf("%+v", q)
	}
}

func FuzzIperf3ControlConnection(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x37" + askTCP + "\x04"))
	f.Add([]byte("\x00\x00\x00\x02{}\x0c"))
	var h *handler
	s, err := server.New(server.Config{Listen: "127.0.0.1:0", Foreign: []server.Foreign{{Protocol: &observed{made: func(made *handler) { h = made }}}}})
	if err != nil {
		f.Fatal(err)
	}
	stopped, stop := context.WithCancel(f.Context())
	stop()
	f.Cleanup(func() { _ = s.Serve(stopped) }) // which closes its ports
	h.streamWait = 5 * time.Millisecond
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = l.Close() })
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			t.Skip("no port left until the kernel forgets one")
		}
		far, err := l.AcceptTCP()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = c.Write(b)
			_ = c.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, c)
			_ = c.(*net.TCPConn).SetLinger(0)
			_ = c.Close()
		}()
		h.newTest(nil, far, wire.NewCookie()).lead()
		if len(h.tests.tests) != 0 || len(h.tests.opening) != 0 {
			t.Fatal("a test is left")
		}
	})
}

func TestAClientOfIperf3GetsTheBurstsItAsksFor(t *testing.T) {
	const burst, bursts = 10, 9 // one every 50 ms
	s := serve(t, server.Config{}, Config{})
	x := newRaw(s)
	x.asks(`{"udp":true,"omit":0,"time":10,"parallel":1,"len":500,"reverse":true,"bandwidth":800000,"burst":10}`)
	x.hears(wire.CreateStreams)
	c, err := net.Dial("udp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = c.Write([]byte(wire.UDPConnect))
	b := make([]byte, 2000)
	if _, err := c.Read(b); err != nil {
		t.Fatal(err)
	}
	x.hears(wire.TestStart, wire.TestRunning)
	left := map[uint64]time.Duration{}
	for len(left) < burst*bursts {
		n, err := c.Read(b)
		number, sentNs, _, ok := wire.Datagrams(false).Parse(b[:n])
		if err != nil || !ok {
			t.Fatalf("%d bytes, %v", n, err)
		}
		left[number] = time.Duration(sentNs)
	}
	together := 0
	for k := range uint64(bursts) {
		if left[k*burst+burst-1]-left[k*burst] < 12*time.Millisecond {
			together++
		}
	}
	if together <= bursts/2 {
		t.Errorf("only %d of %d bursts were sent back to back", together, bursts)
	}
	// What was late is made up for at twice the rate at most.
	if d := left[burst*(bursts-1)] - left[0]; d < (bursts-1)*25*time.Millisecond {
		t.Errorf("%d bursts in %v", bursts, d)
	}
	_ = x.Close()
	s.Idle()
}

func TestAClientOfIperf3GetsTheRepeatingPayloadItAsksFor(t *testing.T) {
	s := serve(t, server.Config{}, Config{})
	x := newRaw(s)
	x.asks(`{"tcp":true,"omit":0,"time":10,"parallel":1,"len":1000,"reverse":true,"repeating_payload":1}`)
	x.hears(wire.CreateStreams)
	stream := x.dial()
	x.hears(wire.TestStart, wire.TestRunning)
	b := make([]byte, 10_000)
	if _, err := io.ReadFull(stream, b); err != nil {
		t.Fatal(err)
	}
	if strings.Trim(string(b), "0123456789") != "" || string(b[:12]) != "012345678901" {
		t.Errorf("%q...", b[:40])
	}
	_ = x.Close()
	s.Idle()
}
