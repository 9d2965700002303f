package server

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/wire/iperf3"
	"soku/test/tier"
)

// rawIperf3 is a client of iperf3 by hand.
type rawIperf3 struct {
	t *testing.T
	net.Conn
	addr   string
	cookie iperf3.Cookie
}

func (r *running) rawIperf3() *rawIperf3 {
	r.t.Helper()
	x := &rawIperf3{t: r.t, addr: r.addr, cookie: iperf3.NewCookie()}
	x.Conn = x.dial()
	return x
}

// dial opens a connection that begins with the cookie.
func (x *rawIperf3) dial() net.Conn {
	x.t.Helper()
	c, err := net.Dial("tcp", x.addr)
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

// hears expects these states, one after another.
func (x *rawIperf3) hears(states ...iperf3.State) {
	x.t.Helper()
	for _, want := range states {
		if got, err := iperf3.ReadState(x); err != nil || got != want {
			x.t.Fatalf("%s, %v; want %s", got, err, want)
		}
	}
}

// refusedWith expects an error number.
func (x *rawIperf3) refusedWith(code int) {
	x.t.Helper()
	x.hears(iperf3.ServerError)
	var b [8]byte
	if _, err := io.ReadFull(x, b[:]); err != nil || int(binary.BigEndian.Uint32(b[:])) != code {
		x.t.Errorf("error %d, %v; want %d", binary.BigEndian.Uint32(b[:]), err, code)
	}
}

func (x *rawIperf3) asks(json string) {
	x.t.Helper()
	x.hears(iperf3.ParamExchange)
	if err := iperf3.WriteJSON(x, []byte(json)); err != nil {
		x.t.Fatal(err)
	}
}

const (
	askTCP = `{"tcp":true,"omit":0,"time":10,"parallel":1,"len":1000}`
	askUDP = `{"udp":true,"omit":0,"time":10,"parallel":1,"len":1000,"reverse":true,"bandwidth":1000000}`
)

func TestHostileClientsOfIperf3AreRefusedWithItsNumbers(t *testing.T) {
	s := serveWith(t, Config{}, realEngines())
	for name, c := range map[string]struct {
		json string
		code int
	}{
		"no JSON":            {"no JSON at all", iperf3.CodeReceiveParams},
		"too many streams":   {`{"tcp":true,"parallel":1000000,"len":1000}`, iperf3.CodeStreams},
		"too long":           {`{"tcp":true,"time":1e12,"len":1000}`, iperf3.CodeTime},
		"huge writes":        {`{"tcp":true,"len":1e9}`, iperf3.CodeLength},
		"tiny datagrams":     {`{"udp":true,"len":4}`, iperf3.CodeLength},
		"SCTP":               {`{"sctp":true,"len":1000}`, iperf3.CodeNoSCTP},
		"a huge window":      {`{"tcp":true,"len":1000,"window":1e15}`, iperf3.CodeWindow},
		"an unknown CPU":     {`{"tcp":true,"len":1000,"server_affinity":1000}`, iperf3.CodeAffinity},
		"a negative amount":  {`{"tcp":true,"len":1000,"num":-1}`, iperf3.CodeReceiveParams},
		"both and reverse":   {`{"tcp":true,"len":1000,"reverse":true,"bidirectional":true}`, iperf3.CodeReceiveParams},
		"deep nonsense":      {strings.Repeat(`[`, 20_000), iperf3.CodeReceiveParams},
		"a list, not a list": {`[]`, iperf3.CodeReceiveParams},
	} {
		t.Run(name, func(t *testing.T) {
			x := s.rawIperf3()
			x.asks(c.json)
			x.refusedWith(c.code)
		})
	}
	s.free()
}

func TestALengthThatIsALieCostsNothing(t *testing.T) {
	tier.SpendsSeconds(t)
	s := serveWith(t, Config{}, realEngines())
	x := s.rawIperf3()
	x.hears(iperf3.ParamExchange)
	_, _ = x.Write([]byte{0x7f, 0xff, 0xff, 0xff, '{'})
	x.refusedWith(iperf3.CodeReceiveParams)
	s.free()
}

func TestAClientThatFallsSilentIsGivenUp(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	s := serveWith(t, Config{}, realEngines(), func(s *Server) { s.times.data = 200 * time.Millisecond })
	x := s.rawIperf3()
	x.asks(askTCP)
	x.hears(iperf3.CreateStreams)
	x.refusedWith(iperf3.CodeStreamAccept) // it opens no streams
	s.free()
}

func TestAClientThatGoesAwayLeavesNothing(t *testing.T) {
	s := serveWith(t, Config{Exclusive: true}, realEngines())
	for name, until := range map[string]func(*rawIperf3){
		"before its parameters": func(x *rawIperf3) { x.hears(iperf3.ParamExchange) },
		"before its streams":    func(x *rawIperf3) { x.asks(askTCP); x.hears(iperf3.CreateStreams) },
		"in the test": func(x *rawIperf3) {
			x.asks(askTCP)
			x.hears(iperf3.CreateStreams)
			x.dial()
			x.hears(iperf3.TestStart, iperf3.TestRunning)
		},
		"by its own word": func(x *rawIperf3) {
			x.asks(askTCP)
			x.hears(iperf3.CreateStreams)
			x.dial()
			x.hears(iperf3.TestStart, iperf3.TestRunning)
			_ = iperf3.WriteState(x, iperf3.ClientTerminate)
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := s.rawIperf3()
			until(x)
			if name == "by its own word" {
				s.free()
				return
			}
			waiting := s.rawIperf3()
			eventually(t, prompt, "the next does not wait", func() bool { _, w := s.queue.snapshot(); return len(w) == 1 })
			_ = waiting.Close()
			_ = x.Close()
			s.free()
		})
	}
}

func TestAStrangersConnectionIsNoStream(t *testing.T) {
	s := serveWith(t, Config{}, realEngines())
	x := s.rawIperf3()
	x.asks(askTCP)
	x.hears(iperf3.CreateStreams)
	other := s.rawIperf3() // another cookie: a test of its own
	other.hears(iperf3.ParamExchange)
	stream := x.dial()
	x.hears(iperf3.TestStart, iperf3.TestRunning)
	extra := &rawIperf3{t: t, Conn: x.dial()}
	extra.hears(iperf3.AccessDenied) // one stream too many
	_ = stream.Close()
}

// A datagram that is answered or that has packets sent to its source must come from
// where a control connection is.
func TestUDPGoesNowhereButToTheClientsAddress(t *testing.T) {
	tier.SpendsSeconds(t)
	s := serveWith(t, Config{}, realEngines())
	knock := func(from string) net.Conn {
		c, err := (&net.Dialer{LocalAddr: &net.UDPAddr{IP: net.ParseIP(from)}}).Dial("udp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := c.Write([]byte(iperf3.UDPConnect)); err != nil {
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
	silent(knock("127.0.0.1")) // nobody waits for a stream
	x := s.rawIperf3()
	x.asks(askUDP)
	x.hears(iperf3.CreateStreams)
	victim := knock("127.0.0.2")
	silent(victim)
	c := knock("127.0.0.1")
	b := make([]byte, 2000)
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	if n, err := c.Read(b); err != nil || string(b[:n]) != iperf3.UDPReply {
		t.Fatalf("%q, %v", b[:n], err)
	}
	x.hears(iperf3.TestStart, iperf3.TestRunning)
	if n, err := c.Read(b); err != nil || n != 1000 {
		t.Errorf("%d bytes, %v", n, err)
	}
	silent(victim)
	_ = x.Close()
	s.free()
}

func TestOlderClientsGetTheAnswerTheyKnow(t *testing.T) {
	s := serveWith(t, Config{}, realEngines())
	for connect, want := range map[string]string{iperf3.UDPConnect: iperf3.UDPReply, iperf3.UDPConnectLegacy: iperf3.UDPReplyLegacy} {
		x := s.rawIperf3()
		x.asks(askUDP)
		x.hears(iperf3.CreateStreams)
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
		s.free()
	}
}

func TestIperf3ClientsFromElsewhereAreDenied(t *testing.T) {
	s := serveWith(t, Config{Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, realEngines())
	s.rawIperf3().hears(iperf3.AccessDenied)
	s.free()
}

func TestAServerThatStopsTellsItsIperf3Clients(t *testing.T) {
	s := serveWith(t, Config{}, realEngines())
	x := s.rawIperf3()
	x.asks(askTCP)
	x.hears(iperf3.CreateStreams)
	x.dial()
	x.hears(iperf3.TestStart, iperf3.TestRunning)
	go s.stop()
	x.hears(iperf3.ServerTerminate)
}

func TestIperf3ClientsShowInTheQueue(t *testing.T) {
	s := serveWith(t, Config{}, realEngines())
	x := s.rawIperf3()
	x.asks(askUDP)
	x.hears(iperf3.CreateStreams)
	running, _ := s.queue.snapshot()
	if len(running) != 1 || running[0].shown().Test != measure.TestUDP || running[0].shown().Client != x.LocalAddr().String() {
		t.Errorf("%+v", running)
	}
}

func FuzzIperf3ControlConnection(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x37" + askTCP + "\x04"))
	f.Add([]byte("\x00\x00\x00\x02{}\x0c"))
	s, err := newServer(Config{Listen: "127.0.0.1:0"}, fakes(), demuxInKernel)
	if err != nil {
		f.Fatal(err)
	}
	s.times.data = 5 * time.Millisecond
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.closePorts(); _ = l.Close() })
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
		s.leadIperf3(s.newIperf3Test(s.port, far, iperf3.NewCookie()))
		if len(s.iperf3.tests) != 0 || len(s.iperf3.opening) != 0 {
			t.Fatal("a test is left")
		}
	})
}

func TestAClientOfIperf3GetsTheBurstsItAsksFor(t *testing.T) {
	const burst, bursts = 10, 9 // one every 50 ms
	s := serveWith(t, Config{}, realEngines())
	x := s.rawIperf3()
	x.asks(`{"udp":true,"omit":0,"time":10,"parallel":1,"len":500,"reverse":true,"bandwidth":800000,"burst":10}`)
	x.hears(iperf3.CreateStreams)
	c, err := net.Dial("udp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = c.Write([]byte(iperf3.UDPConnect))
	b := make([]byte, 2000)
	if _, err := c.Read(b); err != nil {
		t.Fatal(err)
	}
	x.hears(iperf3.TestStart, iperf3.TestRunning)
	left := map[uint64]time.Duration{}
	for len(left) < burst*bursts {
		n, err := c.Read(b)
		number, sentNs, _, ok := iperf3.Datagrams(false).Parse(b[:n])
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
	s.free()
}

func TestAClientOfIperf3GetsTheRepeatingPayloadItAsksFor(t *testing.T) {
	s := serveWith(t, Config{}, realEngines())
	x := s.rawIperf3()
	x.asks(`{"tcp":true,"omit":0,"time":10,"parallel":1,"len":1000,"reverse":true,"repeating_payload":1}`)
	x.hears(iperf3.CreateStreams)
	stream := x.dial()
	x.hears(iperf3.TestStart, iperf3.TestRunning)
	b := make([]byte, 10_000)
	if _, err := io.ReadFull(stream, b); err != nil {
		t.Fatal(err)
	}
	if strings.Trim(string(b), "0123456789") != "" || string(b[:12]) != "012345678901" {
		t.Errorf("%q...", b[:40])
	}
	_ = x.Close()
	s.free()
}
