package limits

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/latency"
	"soku/internal/engine/tcp"
	"soku/internal/engine/udp"
	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/server/servertest"
	"soku/internal/wire"
	wireethr "soku/internal/wire/ethr"
	wireiperf3 "soku/internal/wire/iperf3"
	"soku/internal/wire/native"
	"soku/test/tier"
)

func asError(err error, to any) bool { return errors.As(err, to) }

const (
	limit  = measure.Rate(40_000_000)        // of every server here
	second = int64(limit) / 8                // bytes
	cheats = time.Second                     // how long each client moves what it can
	under  = int64(limit) / 8 / 10 * 15 / 10 // what may be under way or lent, bytes: see docs/protocol.md
)

// moved is what passed in a cell at the server, in bytes: in is received, out is sent. -1 is
// not known.
type moved struct{ in, out int64 }

// rateCell is one way to ask for more than the limit, and to take it.
type rateCell struct {
	name     string
	run      func(t *testing.T, s *served, g *greedy) moved
	together bool // the limit is one for both directions
	slowed   bool // the limit is reached, too: nothing ends the test
}

func TestNothingPassesTheRateOfAServer(t *testing.T) {
	t.Parallel()
	tier.WatchesTheClock(t)
	var cells []cell
	for _, c := range rateCells() {
		cells = append(cells, cell{c.name, func(t *testing.T) {
			s := serve(t, server.Config{MaxRate: limit})
			g := newGreedy()
			began := time.Now()
			m := c.run(t, s, g)
			took := time.Since(began)
			most := within(took)
			if c.together {
				m.in, m.out = max(0, m.in)+max(0, m.out), 0
			}
			if m.in > most || m.out > most {
				t.Errorf("%+v bytes in %v, want %d at most\n%s", m, took, most, s.Logs())
			}
			if least := int64(0.9 * float64(second) * cheats.Seconds()); c.slowed && max(m.in, m.out) < least {
				t.Errorf("%+v bytes, want %d at least\n%s", m, least, s.Logs())
			}
		}})
	}
	runAll(t, cells)
}

// within is what the limit allows in some time, bytes.
func within(d time.Duration) int64 { return int64(1.05*float64(second)*d.Seconds()) + under }

func rateCells() (cells []rateCell) {
	for _, d := range []measure.Direction{measure.Forward, measure.Reverse, measure.Bidirectional} {
		for _, streams := range []int{1, 4} {
			for _, way := range []string{"time", "bytes", "an hour's intervals", "a burst"} {
				for _, test := range []measure.Test{measure.TestTCP, measure.TestUDP} {
					cells = append(cells, rateCell{
						name:   fmt.Sprintf("native %s %s %d streams by %s", test, d, streams, way),
						slowed: test == measure.TestTCP && d == measure.Forward,
						run: func(t *testing.T, s *served, g *greedy) moved {
							return nativeFlows(t, s, g, test, streamOptions(test, d, streams, way))
						},
					})
				}
			}
		}
	}
	for _, protocol := range []string{"tcp", "udp"} {
		for _, flows := range []int{1, 4} {
			for _, spin := range []string{"off", "on"} {
				cells = append(cells, rateCell{
					name: fmt.Sprintf("native latency %s %d flows spin %s pipelined", protocol, flows, spin),
					run: func(t *testing.T, s *served, g *greedy) moved {
						return nativeMessages(t, s, g, protocol, flows, spin)
					},
				})
			}
		}
	}
	for _, streams := range []int{1, 4} {
		cells = append(cells, rateCell{
			name: fmt.Sprintf("native connect %d streams", streams),
			run:  func(t *testing.T, s *served, g *greedy) moved { return nativeConnect(t, s, streams) },
		})
	}
	for _, protocol := range []string{"tcp", "udp"} {
		for _, d := range []string{"forward", "reverse", "bidir"} {
			for _, streams := range []int{1, 4} {
				for _, way := range []string{"time", "num", "blockcount"} {
					cells = append(cells, rateCell{
						name:     fmt.Sprintf("iperf3 %s %s %d streams by %s", protocol, d, streams, way),
						together: true,
						slowed:   protocol == "tcp" && d == "forward" || d == "reverse",
						run: func(t *testing.T, s *served, g *greedy) moved {
							return iperf3Flows(t, s, g, protocol, d, streams, way)
						},
					})
				}
			}
		}
	}
	for _, streams := range []int{1, 4} {
		for _, reverse := range []bool{false, true} {
			cells = append(cells, rateCell{
				name: fmt.Sprintf("ethr bandwidth %d connections reverse %v", streams, reverse), together: true, slowed: true,
				run: func(t *testing.T, s *served, g *greedy) moved { return ethrFlows(t, s, g, streams, reverse) },
			})
		}
		cells = append(cells, rateCell{
			name: fmt.Sprintf("ethr latency %d connections pipelined", streams), together: true,
			run: func(t *testing.T, s *served, g *greedy) moved { return ethrMessages(t, s, g, streams) },
		}, rateCell{
			name: fmt.Sprintf("ethr datagrams %d sockets", streams), together: true,
			run: func(t *testing.T, s *served, g *greedy) moved { return ethrDatagrams(t, s, g, streams) },
		})
	}
	return cells
}

// streamOptions ask for more than the limit in some way.
func streamOptions(test measure.Test, d measure.Direction, streams int, way string) measure.Options {
	o := measure.Defaults(test)
	o.Direction, o.Streams, o.Rate = d, streams, 0
	o.Duration = measure.Duration(cheats)
	switch way {
	case "bytes":
		o.Duration, o.Bytes = 0, 1<<37 // hours at the limit
	case "an hour's intervals":
		o.Interval = measure.Duration(time.Hour)
	case "a burst":
		o.Rate, o.Burst = limit, 64
		if test == measure.TestTCP {
			o.Length = 16 << 10 // a burst must fit into the test
		}
	}
	return o
}

func open(t *testing.T, s *served, test measure.Test, o measure.Options) wire.Session {
	t.Helper()
	o, err := o.Effective(test)
	if err != nil {
		t.Fatal(err)
	}
	session, err := native.Open(t.Context(), s.Addr().String(), wire.Request{Test: test, Options: o}, wire.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// nativeFlows sends on the streams of the forward direction and reads those of the other.
func nativeFlows(t *testing.T, s *served, g *greedy, test measure.Test, o measure.Options) moved {
	session := open(t, s, test, o)
	var conns []net.Conn
	if test == measure.TestUDP {
		all, err := session.UDP(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		conns = all
	} else {
		all, err := session.TCP(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			conns = append(conns, c)
		}
	}
	if err := session.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	forward := conns
	switch o.Direction {
	case measure.Reverse:
		forward = nil
	case measure.Bidirectional:
		forward = conns[:o.Streams]
	}
	for _, c := range conns[len(forward):] {
		g.reads(c)
	}
	g.sends(t, test, forward)
	time.Sleep(cheats)
	g.end()
	for i, c := range conns {
		if i < len(forward) {
			closeWrite(c)
		} else {
			_ = c.Close()
		}
	}
	m := moved{-1, g.received.Load()}
	if o.Direction == measure.Reverse {
		return m
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	end, err := session.Finish(ctx, nil)
	if err != nil {
		t.Fatalf("the server's half: %v", err)
	}
	m.in = 0
	for _, x := range end.Flows[0].Streams {
		m.in += x.ReceivedBytes
	}
	return m
}

// sends sends ten times the limit over all connections.
func (g *greedy) sends(t *testing.T, test measure.Test, conns []net.Conn) {
	if test != measure.TestUDP || len(conns) == 0 {
		for _, c := range conns {
			g.writes(c, make([]byte, 16<<10))
		}
		return
	}
	o := measure.Defaults(test)
	o.Streams, o.Rate, o.Duration = len(conns), 10*limit, measure.Duration(cheats)
	o, err := o.Effective(test)
	if err != nil {
		t.Fatal(err)
	}
	g.work.Go(func() { _, _ = udp.Send(t.Context(), conns, o, engine.Flow{}) }) // the server may refuse it at any moment
}

func nativeMessages(t *testing.T, s *served, g *greedy, protocol string, flows int, spin string) moved {
	o := measure.Defaults(measure.TestLatency)
	o.Duration, o.Flows, o.Size = measure.Duration(time.Minute), flows, 16<<10
	measure.EditOwn(&o, func(own *latency.Options) { own.Protocol, own.Spin = protocol, spin })
	session := open(t, s, measure.TestLatency, o)
	var conns []net.Conn
	message := make([]byte, o.Size)
	if protocol == "udp" {
		all, err := session.UDP(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		conns = all
		copy(message, []byte{0x73, 0x6b, 0x6c, 0x71}) // a request
	} else {
		all, err := session.TCP(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			conns = append(conns, c)
		}
	}
	if err := session.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range conns {
		g.writes(c, message)
		g.reads(c)
	}
	time.Sleep(cheats)
	g.end()
	return moved{-1, g.received.Load()}
}

// underLoad is the part of a test of a load that measures its latency.
func TestMessagesBesideALoadDoNotPassTheRate(t *testing.T) {
	t.Parallel()
	tier.WatchesTheClock(t)
	s := serve(t, server.Config{MaxRate: limit})
	o := streamOptions(measure.TestTCP, measure.Forward, 1, "bytes")
	measure.EditOwn(&o, func(own *tcp.Options) { own.WithLatency = true })
	session := open(t, s, measure.TestTCP, o)
	conns, err := session.TCP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	g, began := newGreedy(), time.Now()
	for _, c := range conns {
		g.writes(c, make([]byte, 1<<16))
		g.reads(c)
	}
	time.Sleep(cheats)
	g.end()
	if n := g.received.Load(); n > within(time.Since(began)) {
		t.Errorf("%d bytes were answered", n)
	}
}

func nativeConnect(t *testing.T, s *served, streams int) moved {
	o := measure.Defaults(measure.TestConnect)
	o.Duration, o.Streams = measure.Duration(time.Minute), streams
	session := open(t, s, measure.TestConnect, o)
	if err := session.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	to := session.Entry().Own.String()
	g := newGreedy()
	for range streams {
		g.work.Go(func() {
			for !g.stopped() {
				c, err := net.DialTimeout("tcp", to, 100*time.Millisecond)
				if err != nil {
					return // the port is closed
				}
				// Closed in order by the server where it counted.
				_ = c.SetDeadline(time.Now().Add(100 * time.Millisecond))
				if _, err := c.Read(make([]byte, 1)); err != nil {
					g.sent.Add(400)
				}
				_ = c.(*net.TCPConn).SetLinger(0)
				_ = c.Close()
			}
		})
	}
	time.Sleep(cheats)
	g.end()
	return moved{g.sent.Load(), -1}
}

func iperf3Flows(t *testing.T, s *served, g *greedy, protocol, direction string, streams int, way string) moved {
	cookie := wireiperf3.NewCookie()
	dial := func(network string) net.Conn {
		c, err := net.Dial(network, s.iperf3.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	control := dial("tcp")
	_ = control.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = control.Write(cookie[:])
	hears := func(want wireiperf3.State) {
		t.Helper()
		if got, err := wireiperf3.ReadState(control); err != nil || got != want {
			t.Fatalf("%s, %v; want %s", got, err, want)
		}
	}
	hears(wireiperf3.ParamExchange)
	p := wireiperf3.Parameters{
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
	if err := wireiperf3.WriteParameters(control, &p); err != nil {
		t.Fatal(err)
	}
	hears(wireiperf3.CreateStreams)
	var conns []net.Conn
	for range p.Streams() {
		c := dial(protocol)
		if protocol == "udp" {
			_, _ = c.Write([]byte(wireiperf3.UDPConnect))
			_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
			if _, err := c.Read(make([]byte, 16)); err != nil {
				t.Fatal(err)
			}
		} else {
			_, _ = c.Write(cookie[:])
		}
		conns = append(conns, c)
	}
	hears(wireiperf3.TestStart)
	hears(wireiperf3.TestRunning)
	for i, c := range conns {
		if direction == "reverse" || direction == "bidir" && i >= streams {
			g.reads(c)
		} else {
			g.writes(c, make([]byte, 1460))
		}
	}
	time.Sleep(cheats)
	_ = wireiperf3.WriteState(control, wireiperf3.TestEnd)
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
	case "reverse":
		in = 0
	case "bidir":
		in -= out
	}
	return moved{max(in, 0), out}
}

func ethrAsk(t *testing.T, s *served, change func(*wireethr.Params), test wireethr.Test) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.ethr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	m := wireethr.Message{Kind: wireethr.Syn, Test: test, Params: wireethr.Params{Threads: 1, Buffer: 16 << 10, Rounds: 1000}}
	change(&m.Params)
	_, _ = c.Write(wireethr.Append(nil, m))
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if answer, err := wireethr.Read(c); err != nil || answer.Kind != wireethr.Ack {
		t.Fatalf("%+v, %v", answer, err)
	}
	return c
}

func ethrFlows(t *testing.T, s *served, g *greedy, connections int, reverse bool) moved {
	var conns []net.Conn
	for range connections { // each says that it is alone
		conns = append(conns, ethrAsk(t, s, func(p *wireethr.Params) { p.Reverse = reverse }, wireethr.Bandwidth))
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
		conns = append(conns, ethrAsk(t, s, func(*wireethr.Params) {}, wireethr.Latency))
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
