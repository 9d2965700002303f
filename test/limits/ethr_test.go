package limits

import (
	"net"
	"strings"
	"testing"
	"time"

	wire "soku/internal/wire/ethr"
	"soku/test/servertest"
)

func ethrAsk(t *testing.T, s *served, change func(*wire.Params), test wire.Test) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.ethr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	m := wire.Message{Kind: wire.Syn, Test: test, Params: wire.Params{Threads: 1, Buffer: 16 << 10, Rounds: 1000}}
	change(&m.Params)
	_, _ = c.Write(wire.Append(nil, m))
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if answer, err := wire.Read(c); err != nil || answer.Kind != wire.Ack {
		t.Fatalf("%+v, %v", answer, err)
	}
	return c
}

func ethrFlows(t *testing.T, s *served, g *greedy, connections int, reverse bool) moved {
	var conns []net.Conn
	for range connections { // each says that it is alone
		conns = append(conns, ethrAsk(t, s, func(p *wire.Params) { p.Reverse = reverse }, wire.Bandwidth))
	}
	for _, c := range conns {
		if reverse {
			g.reads(c)
		} else {
			g.writes(c, make([]byte, 16<<10))
		}
	}
	time.Sleep(cheats)
	g.end()
	if reverse {
		return moved{-1, g.received.Load()}
	}
	return moved{s.ethrCounted(t, conns), -1}
}

// ethrCounted ends the test of an Ethr client and returns what the server counted.
func (s *served) ethrCounted(t *testing.T, conns []net.Conn) (in int64) {
	for _, c := range conns {
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}
	servertest.Eventually(t, 10*time.Second, "the test does not end", func() bool {
		n, ok := s.counted(1)
		in = n
		return ok
	})
	return in
}

func ethrMessages(t *testing.T, s *served, g *greedy, connections int) moved {
	var conns []net.Conn
	for range connections {
		conns = append(conns, ethrAsk(t, s, func(*wire.Params) {}, wire.Latency))
	}
	for _, c := range conns {
		g.writes(c, make([]byte, 16<<10))
		g.reads(c)
	}
	time.Sleep(cheats)
	g.end()
	n := g.received.Load()
	return moved{n, n}
}

func ethrDatagrams(t *testing.T, s *served, g *greedy, sockets int) moved {
	c, err := net.Dial("tcp", s.ethr.String()) // without it the log is silent about datagrams
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	servertest.Eventually(t, servertest.Prompt, "its connection was not noticed", func() bool {
		return strings.Contains(s.Logs(), "msg=connection")
	})
	for range sockets {
		c, err := net.Dial("udp", s.ethr.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		g.writes(c, make([]byte, 1400))
	}
	time.Sleep(cheats)
	g.end()
	return moved{s.ethrCounted(t, nil), -1}
}
