package server

import (
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"

	"soku/internal/measure"
)

// withEcho gives a server the port of a protocol that answers what it gets.
func withEcho(t *testing.T) func(*Server) {
	return func(s *Server) {
		at, err := openPort(&protocol{
			name: "echo",
			serve: func(s *Server, _ *port, c *net.TCPConn, first []byte) {
				defer c.Close()
				if len(first) > 0 {
					t.Errorf("read %q of a connection to the protocol's own port", first)
				}
				_, _ = io.CopyN(c, c, 5)
			},
			datagram: func(s *Server, at *port, from netip.AddrPort, b []byte) bool {
				_, _ = at.udp.WriteToUDPAddrPort(b, from)
				return true
			},
		}, "127.0.0.1:0", "", true)
		if err != nil {
			t.Fatal(err)
		}
		s.foreign = append(s.foreign, at)
	}
}

func TestAProtocolIsServedOnAPortOfItsOwn(t *testing.T) {
	s := serve(t, Config{}, withEcho(t))
	at, ok := s.ForeignAddr("echo")
	if !ok {
		t.Fatal("its address is not known")
	}
	for _, network := range []string{"tcp", "udp"} {
		c, err := net.Dial(network, at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		b := make([]byte, 5)
		if _, err := c.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, b); err != nil || string(b) != "hello" {
			t.Errorf("%s: %q, %v", network, b, err)
		}
	}
	c := s.open(measure.TestTCP, tcpOptions())
	_ = c.Close()
}

func TestDatagramsFromElsewhereDoNotReachAForeignProtocol(t *testing.T) {
	s := serve(t, Config{Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, func(s *Server) {
		s.foreign = append(s.foreign, &port{protocol: &protocol{datagram: func(*Server, *port, netip.AddrPort, []byte) bool {
			t.Error("taken")
			return true
		}}})
		s.datagram(s.foreign[0], netip.MustParseAddrPort("127.0.0.1:9"), []byte("hello"))
		s.foreign = nil
	})
	s.stop()
}

func TestAPortThatIsTakenEndsOnlyAServerThatWasToldToHaveIt(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := Foreign{Protocol: "data", Listen: l.Addr().String()}
	if _, err := New(Config{Listen: "127.0.0.1:0", Foreign: []Foreign{taken}}); measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), "--data") {
		t.Errorf("got %v", err)
	}
	taken.Optional = true
	s := serve(t, Config{Foreign: []Foreign{taken}})
	if _, ok := s.ForeignAddr("data"); ok {
		t.Error("it has a port all the same")
	}
	if log := s.logs.String(); !strings.Contains(log, taken.Listen) {
		t.Errorf("the log does not say so: %q", log)
	}
}
