package limits

import (
	"net"
	"testing"
	"time"

	wire "soku/internal/wire/iperf3"
	"soku/test/servertest"
)

// iperf3Begin is a client of iperf3 up to the start of its test.
func iperf3Begin(t *testing.T, s *served, p *wire.Parameters) (control net.Conn, conns []net.Conn) {
	t.Helper()
	cookie := wire.NewCookie()
	dial := func(network string) net.Conn {
		c, err := net.Dial(network, s.iperf3.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	control = dial("tcp")
	_ = control.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = control.Write(cookie[:])
	hears := func(want wire.State) {
		t.Helper()
		if got, err := wire.ReadState(control); err != nil || got != want {
			t.Fatalf("%s, %v; want %s", got, err, want)
		}
	}
	hears(wire.ParamExchange)
	if err := wire.WriteParameters(control, p); err != nil {
		t.Fatal(err)
	}
	hears(wire.CreateStreams)
	for range p.Streams() {
		c := dial(p.Protocol)
		if p.Protocol == "udp" {
			_, _ = c.Write([]byte(wire.UDPConnect))
			_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
			if _, err := c.Read(make([]byte, 16)); err != nil {
				t.Fatal(err)
			}
		} else {
			_, _ = c.Write(cookie[:])
		}
		conns = append(conns, c)
	}
	hears(wire.TestStart)
	hears(wire.TestRunning)
	return control, conns
}

func iperf3Flows(t *testing.T, s *served, g *greedy, protocol, direction string, streams int, way string) moved {
	p := wire.Parameters{
		Protocol: protocol, Parallel: streams, Length: 1460, Reverse: direction == "reverse", Bidirectional: direction == "bidir",
	}
	switch way {
	case "time":
		p.Time = 10
	case "num":
		p.Bytes = 1 << 40
	case "blockcount":
		p.Blocks = 1 << 30
	}
	control, conns := iperf3Begin(t, s, &p)
	for i, c := range conns {
		if direction == "reverse" || direction == "bidir" && i >= streams {
			g.reads(c)
		} else {
			g.writes(c, make([]byte, 1460))
		}
	}
	time.Sleep(cheats)
	_ = wire.WriteState(control, wire.TestEnd)
	g.end()
	out := g.received.Load()
	_ = control.Close()
	in := int64(0)
	servertest.Eventually(t, 5*time.Second, "the test does not end", func() bool {
		n, ok := s.counted(1)
		in = n
		return ok
	})
	switch direction {
	case "reverse": // what the server sent: a client that is short of processors loses datagrams
		in, out = 0, max(in, out)
	case "bidir":
		in -= out
	}
	return moved{max(in, 0), out}
}
