package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
)

// echo is a protocol that answers what it gets.
type echo struct{ t *testing.T }

func (echo) Name() string                       { return "echo" }
func (echo) Match([]byte) (ours bool, more int) { return false, 0 }
func (e echo) NewHandler(Services) Handler      { return e }

func (e echo) ServeConn(c *Conn) {
	defer c.Close()
	if len(c.First) > 0 {
		e.t.Errorf("read %q of a connection to the protocol's own port", c.First)
	}
	_, _ = io.CopyN(c, c, 5)
}

func (e echo) ServeDatagram(at Port, from netip.AddrPort, b []byte) bool {
	if at.Shared() {
		return false
	}
	_, _ = at.(*port).udp.WriteToUDPAddrPort(b, from)
	return true
}

func (e echo) Close() {}

func TestAProtocolIsServedOnAPortOfItsOwn(t *testing.T) {
	s := serve(t, Config{Foreign: []Foreign{{Protocol: echo{t}, Listen: "127.0.0.1:0"}}})
	at, ok := s.ForeignAddr("echo")
	if !ok {
		t.Fatal("its address is not known")
	}
	echoes(t, at)
	c := s.open(measure.TestTCP, tcpOptions())
	_ = c.Close()
}

func TestAServerOfOneProtocolServesItOnItsOwnPort(t *testing.T) {
	echoes(t, serve(t, Config{Only: echo{t}}).Addr())
}

// echoes checks that there is an echo over TCP and UDP.
func echoes(t *testing.T, at netip.AddrPort) {
	t.Helper()
	for _, network := range []string{"tcp", "udp"} {
		c, err := net.Dial(network, at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		b := make([]byte, 5)
		_ = c.SetDeadline(time.Now().Add(prompt))
		if _, err := c.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, b); err != nil || string(b) != "hello" {
			t.Errorf("%s: %q, %v", network, b, err)
		}
	}
}

func TestDatagramsFromElsewhereDoNotReachAForeignProtocol(t *testing.T) {
	s := serve(t, Config{
		Allow:   []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		Foreign: []Foreign{{Protocol: echo{t}, Listen: "127.0.0.1:0"}},
	})
	at, _ := s.ForeignAddr("echo")
	c, err := net.Dial("udp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = c.Write([]byte("hello"))
	_ = c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if n, err := c.Read(make([]byte, 5)); err == nil {
		t.Errorf("%d bytes came back", n)
	}
}

// closing is a protocol whose handler says what it was offered.
type closing struct {
	echo
	services chan Services
	closed   chan struct{}
}

func (c closing) NewHandler(s Services) Handler { c.services <- s; return c }
func (c closing) Close()                        { close(c.closed) }

func TestAHandlerIsOfferedTurnsAndClosedWithTheServer(t *testing.T) {
	p := closing{echo{t}, make(chan Services, 1), make(chan struct{})}
	s := serve(t, Config{Exclusive: true, Foreign: []Foreign{{Protocol: p}}})
	services := <-p.services
	first, err := services.Enter("a", measure.TestTCP)
	if err != nil || !first.IsGranted() {
		t.Fatalf("the first does not have its turn: %v", err)
	}
	second, err := services.Enter("b", measure.TestUDP)
	if err != nil || second.IsGranted() {
		t.Fatalf("the second does not wait: %v", err)
	}
	if _, waiting := s.queue.snapshot(); len(waiting) != 1 || waiting[0].shown().Client != "b" || waiting[0].shown().Test != measure.TestUDP {
		t.Errorf("waiting: %+v", waiting)
	}
	first.Leave()
	select {
	case <-second.Granted():
	case <-time.After(prompt):
		t.Error("the turn is not passed on")
	}
	second.Leave()
	s.free()
	s.stop()
	if err := context.Cause(services.Context()); !errors.Is(err, ErrShutdown) {
		t.Errorf("the context ended with %v", err)
	}
	select {
	case <-p.closed:
	default:
		t.Error("the handler was not closed")
	}
}

func TestAPortInUseEndsOnlyAServerThatRequiresIt(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := Foreign{Protocol: echo{t}, Listen: l.Addr().String()}
	if _, err := New(Config{Listen: "127.0.0.1:0", Foreign: []Foreign{taken}}); measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), "--echo") {
		t.Errorf("got %v", err)
	}
	taken.Optional = true
	s := serve(t, Config{Foreign: []Foreign{taken}})
	if _, ok := s.ForeignAddr("echo"); ok {
		t.Error("it has a port all the same")
	}
	if log := s.logs.String(); !strings.Contains(log, taken.Listen) {
		t.Errorf("the log does not say so: %q", log)
	}
}
