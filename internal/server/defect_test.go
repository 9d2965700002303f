package server

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"soku/internal/engine"
	"soku/internal/engine/tcp"
	"soku/internal/host/series"
	"soku/internal/measure"
	"soku/internal/panics"
)

// brittle has a name that is found in a stack.
func brittle() { panic("glass") }

func TestAPanicEndsTheSessionInWhichItHappens(t *testing.T) {
	own := func(ctx context.Context, _ []*net.TCPConn, _ measure.Options, _ engine.Flow) (measure.FlowEnd, error) {
		brittle()
		return measure.FlowEnd{}, nil
	}
	worker := func(ctx context.Context, _ []*net.TCPConn, _ measure.Options, _ engine.Flow) (measure.FlowEnd, error) {
		var workers panics.Group
		workers.Go(brittle)
		workers.Wait()
		return measure.FlowEnd{}, nil
	}
	loop := func(ctx context.Context, conns []*net.TCPConn, o measure.Options, f engine.Flow) (measure.FlowEnd, error) {
		f.Observe = func(measure.Progress) { brittle() }
		return tcp.Receive(ctx, conns, o, f)
	}
	stored := func(ctx context.Context, conns []*net.TCPConn, o measure.Options, f engine.Flow) (measure.FlowEnd, error) {
		f.Policy.Contents.Sink = func() (io.WriteCloser, error) { return brittleFile{}, nil }
		return tcp.Receive(ctx, conns, o, f)
	}
	for name, receive := range map[string]func(context.Context, []*net.TCPConn, measure.Options, engine.Flow) (measure.FlowEnd, error){
		"in the engine": own, "in a goroutine of the engine": worker, "in what an engine calls": loop, "in a loop of an engine": stored,
	} {
		t.Run(name, func(t *testing.T) {
			fake := fakes()
			usual := fake.Flows.ReceiveTCP
			fake.Flows.ReceiveTCP = func(ctx context.Context, conns []*net.TCPConn, o measure.Options, f engine.Flow) (end measure.FlowEnd, err error) {
				if len(conns) == 2 {
					return receive(ctx, conns, o, f)
				}
				return usual(ctx, conns, o, f)
			}
			var sampling atomic.Int64
			fake.sample = func(series.Config) func() *measure.Series {
				sampling.Add(1)
				return func() *measure.Series { sampling.Add(-1); return nil }
			}
			s := serveWith(t, Config{MaxClients: 2}, fake)
			sampled := func(o *measure.Options) { o.Series = measure.SeriesOn }
			other := s.open(measure.TestTCP, tcpOptions(sampled))
			others := other.tcp()
			other.start()
			broken := s.open(measure.TestTCP, tcpOptions(sampled, func(o *measure.Options) { o.Streams = 2 }))
			conns := broken.tcp()
			broken.start()
			_, _ = conns[0].Write(make([]byte, 1000))
			if err := broken.aborted(prompt); measure.KindOf(err) != measure.KindInternal || strings.Contains(err.Error(), "glass") {
				t.Errorf("the client has %v", err)
			}
			next := s.open(measure.TestTCP, tcpOptions()) // has the place
			_ = next.tcp()
			if _, err := others[0].Write(make([]byte, 100_000)); err != nil {
				t.Fatal(err)
			}
			_ = others[0].CloseWrite()
			if end := other.finish(); end.Flows[0].Streams[0].ReceivedBytes != 100_000 {
				t.Errorf("the other client: %+v", end.Flows)
			}
			_ = next.Close()
			s.free()
			if n := sampling.Load(); n != 0 {
				t.Errorf("%d series go on", n)
			}
			if logs := s.logs.String(); !strings.Contains(logs, "panic=glass") || !strings.Contains(logs, "server.brittle") {
				t.Errorf("the log has no stack:\n%s", logs)
			}
		})
	}
}

type brittleFile struct{}

func (brittleFile) Write([]byte) (int, error) { brittle(); return 0, nil }
func (brittleFile) Close() error              { return nil }

// breaking is a protocol with a defect.
type breaking struct{ Services }

func (breaking) Name() string                    { return "breaking" }
func (breaking) Match(first []byte) (bool, int)  { return strings.HasPrefix(string(first), "brea"), 0 }
func (b breaking) NewHandler(s Services) Handler { return breaking{s} }
func (breaking) ServeConn(*Conn)                 { brittle() }
func (breaking) Close()                          {}
func (breaking) ServeDatagram(_ Port, _ netip.AddrPort, b []byte) bool {
	if string(b) == "break" {
		brittle()
	}
	return false
}

func TestAPanicInTheHandlerOfAConnectionOrADatagramEndsNothingElse(t *testing.T) {
	s := serve(t, Config{Foreign: []Foreign{{Protocol: breaking{}}}})
	for _, network := range []string{"tcp", "udp"} {
		c, err := net.Dial(network, s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = c.Write([]byte("break"))
		if network == "tcp" {
			if _, err := c.Read(make([]byte, 1)); err == nil {
				t.Error("the connection is open")
			}
		}
		eventually(t, prompt, "no panic is logged", func() bool { return strings.Contains(s.logs.String(), "panic=glass") })
		s.logs.mu.Lock()
		s.logs.b.Reset()
		s.logs.mu.Unlock()
	}
	_ = s.open(measure.TestUDP, options(measure.TestUDP)).udp() // still served
}

func TestAPanicWhileThisHostIsReadLeavesItsFactsOut(t *testing.T) {
	fake := fakes()
	fake.facts = func(context.Context, netip.Addr) measure.Facts { brittle(); return measure.Facts{} }
	s := serveWith(t, Config{}, fake)
	_ = s.open(measure.TestTCP, tcpOptions()).tcp()
}
