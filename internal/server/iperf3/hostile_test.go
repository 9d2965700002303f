package iperf3

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"soku/internal/server"
	wire "soku/internal/wire/iperf3"
	"soku/test/tier"
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
