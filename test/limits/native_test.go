package limits

import (
	"context"
	"net"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/latency"
	"soku/internal/engine/tcp"
	"soku/internal/engine/udp"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/server"
	"soku/internal/sock"
	"soku/internal/wire"
	"soku/internal/wire/native"
	"soku/test/tier"
)

// streamOptions ask for more than the limit in some way.
func streamOptions(test measure.Test, d measure.Direction, streams int, way string) measure.Options {
	o := option.Defaults(test)
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
	o, err := option.Effective(o, test)
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

// begin opens a session with its data connections, and starts it.
func begin(t *testing.T, s *served, test measure.Test, o measure.Options) (wire.Session, []net.Conn) {
	t.Helper()
	session := open(t, s, test, o)
	var conns []net.Conn
	var err error
	if option.OverUDP(o, test) {
		conns, err = session.UDP(t.Context())
	} else {
		var streams []*net.TCPConn
		streams, err = session.TCP(t.Context())
		conns = sock.Conns(streams)
	}
	if err == nil {
		err = session.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return session, conns
}

// nativeFlows sends on the streams of the forward direction and reads those of the other.
func nativeFlows(t *testing.T, s *served, g *greedy, test measure.Test, o measure.Options) moved {
	session, conns := begin(t, s, test, o)
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
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // what is in buffers arrives at the limited rate
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
	o := option.Defaults(test)
	o.Streams, o.Rate, o.Duration = len(conns), 10*limit, measure.Duration(cheats)
	o, err := option.Effective(o, test)
	if err != nil {
		t.Fatal(err)
	}
	g.work.Go(func() { _, _ = udp.Send(t.Context(), conns, o, engine.Flow{}) }) // the server may refuse it at any moment
}

func nativeMessages(t *testing.T, s *served, g *greedy, protocol string, flows int, spin string) moved {
	o := option.Defaults(measure.TestLatency)
	o.Duration, o.Flows, o.Size = measure.Duration(time.Minute), flows, 16<<10
	measure.EditOwn(&o, func(own *latency.Options) { own.Protocol, own.Spin = protocol, spin })
	_, conns := begin(t, s, measure.TestLatency, o)
	message := make([]byte, o.Size)
	if protocol == "udp" {
		copy(message, []byte{0x73, 0x6b, 0x6c, 0x71}) // a request
	}
	for _, c := range conns {
		g.writes(c, message)
		g.reads(c)
	}
	time.Sleep(cheats)
	g.end()
	return moved{-1, g.received.Load()}
}

func TestMessagesBesideALoadDoNotPassTheRate(t *testing.T) {
	t.Parallel()
	tier.WatchesTheClock(t)
	s := serve(t, server.Config{MaxRate: limit})
	o := streamOptions(measure.TestTCP, measure.Forward, 1, "bytes")
	measure.EditOwn(&o, func(own *tcp.Options) { own.WithLatency = true })
	_, conns := begin(t, s, measure.TestTCP, o)
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
	o := option.Defaults(measure.TestConnect)
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
