package attack

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
	"soku/internal/wire"
	"soku/internal/wire/native"
)

var _ = row(
	attack{name: "quiet sessions", processors: 0.12, run: quietSessions},
	attack{name: "silent sessions that spin", processors: 0.2, run: silentSpin},
	attack{name: "sessions whose replies are not read", run: unreadSessions(8, 50)},
	attack{name: "sessions whose replies are not read, of a server with few descriptors", descriptors: 1024, run: unreadSessions(2, 50)},
	attack{name: "pipelined messages", run: pipelinedMessages},
	attack{name: "pipelined messages whose answers nobody reads", processors: 0.2, run: unreadAnswers},
	attack{name: "more than the rate with intervals of an hour", rate: 20_000_000, run: longIntervals},
	attack{name: "more than the rate with pipelined messages", rate: 20_000_000, run: pipelinedMessages},
)

// underway is what the queues of both hosts hold of a session of eight streams, bytes.
const underway = 80 << 20

// session starts a session of attacker n and returns its data connections; nil after a
// failure, which is reported.
func session(ctx context.Context, t *testing.T, at *target, n int, test measure.Test, change func(*measure.Options)) (end func(), conns []net.Conn) {
	o := option.Defaults(test)
	o.Duration, o.Bind = measure.Duration(time.Hour), fmt.Sprintf("127.66.0.%d", 1+n)
	change(&o)
	o, err := option.Effective(o, test)
	if err != nil {
		t.Error(err)
		return func() {}, nil
	}
	s, err := native.Open(ctx, at.address, wire.Request{Test: test, Options: o}, wire.Hooks{})
	if err != nil {
		refused := at.fewDescriptors && measure.KindOf(err) == measure.KindRefused
		if !refused && ctx.Err() == nil {
			t.Errorf("a session of %s: %v", test, err)
		}
		return func() {}, nil
	}
	end = func() { _ = s.Close() }
	if option.OverUDP(o, test) {
		conns, err = s.UDP(ctx)
	} else {
		var streams []*net.TCPConn
		streams, err = s.TCP(ctx)
		conns = sock.Conns(streams)
	}
	if err == nil {
		err = s.Start(ctx)
	}
	if err != nil && ctx.Err() == nil {
		t.Errorf("a session of %s: %v", test, err)
	}
	return end, conns
}

// hold opens n sessions from each address and keeps them until ctx ends.
func hold(ctx context.Context, addresses, n int, ready func(), one func(address, i int) (end func())) {
	var opening, ending sync.WaitGroup
	for address := range addresses {
		opening.Add(1)
		ending.Go(func() {
			for i := range n {
				defer one(address, i)()
			}
			opening.Done()
			<-ctx.Done()
		})
	}
	opening.Wait()
	ready()
	ending.Wait()
}

// quietSessions send and read nothing.
func quietSessions(ctx context.Context, t *testing.T, at *target, ready func()) {
	hold(ctx, 8, 50, ready, func(address, i int) func() {
		test := []measure.Test{measure.TestTCP, measure.TestLatency}[i%2]
		end, _ := session(ctx, t, at, address, test, func(o *measure.Options) {
			switch i % 8 {
			case 0:
				o.Direction = measure.Reverse
			case 1, 5:
				measure.EditOwn(o, func(own *latency.Options) { own.Protocol = "udp" })
			}
		})
		return end
	})
}

// unreadSessions has the server send on as many of n sessions from each address as it
// accepts.
func unreadSessions(addresses, n int) func(ctx context.Context, t *testing.T, at *target, ready func()) {
	return func(ctx context.Context, t *testing.T, at *target, ready func()) {
		hold(ctx, addresses, n, ready, func(address, _ int) func() {
			end, _ := session(ctx, t, at, address, measure.TestTCP, func(o *measure.Options) { o.Direction = measure.Reverse })
			return end
		})
	}
}

// silentSpin asks the server to poll for messages that never come, on one connection and on
// several.
func silentSpin(ctx context.Context, t *testing.T, at *target, ready func()) {
	hold(ctx, 8, 8, ready, func(address, i int) func() {
		end, _ := session(ctx, t, at, address, measure.TestLatency, func(o *measure.Options) {
			o.Flows = 1 + (address+i)%2
			measure.EditOwn(o, func(own *latency.Options) { own.Spin = "on" })
		})
		return end
	})
}

// unreadAnswers fill the queues of both directions, so that the server cannot send.
func unreadAnswers(ctx context.Context, t *testing.T, at *target, ready func()) {
	end, conns := session(ctx, t, at, 0, measure.TestLatency, func(o *measure.Options) {
		o.Size = 64_000
		measure.EditOwn(o, func(own *latency.Options) { own.Spin = "on" })
	})
	defer end()
	var writes sync.WaitGroup
	for _, c := range conns {
		writes.Go(func() { write(c, &atomic.Int64{}) })
	}
	ready()
	<-ctx.Done()
	for _, c := range conns {
		_ = c.Close()
	}
	writes.Wait()
}

// write writes until it fails, and counts bytes.
func write(c net.Conn, sent *atomic.Int64) {
	b := make([]byte, 1<<20)
	for {
		n, err := c.Write(b)
		sent.Add(int64(n))
		if err != nil {
			return
		}
	}
}

// pump writes to connections as fast as they take it, and reads what comes back, until ctx
// ends. It returns how many bytes it wrote.
func pump(ctx context.Context, conns []net.Conn) int64 {
	var work sync.WaitGroup
	var sent atomic.Int64
	for _, c := range conns {
		work.Go(func() { _, _ = io.Copy(io.Discard, c) })
		work.Go(func() { write(c, &sent) })
	}
	<-ctx.Done()
	for _, c := range conns {
		_ = c.Close()
	}
	work.Wait()
	return sent.Load()
}

// pumpAll is pump over the connections of a session of attacker 0. It checks the server's
// limit of the rate, if it has one.
func pumpAll(ctx context.Context, t *testing.T, at *target, ready func(), test measure.Test, change func(*measure.Options)) {
	end, conns := session(ctx, t, at, 0, test, change)
	defer end()
	ready()
	began := time.Now()
	sent, took := pump(ctx, conns), time.Since(began)
	if most := int64(took.Seconds()*float64(at.rate)/8) + underway; at.rate > 0 && sent > most {
		t.Errorf("the attacker sent %d MB in %v, want %d at most", sent>>20, took, most>>20)
	}
}

// pipelinedMessages waits for no answer.
func pipelinedMessages(ctx context.Context, t *testing.T, at *target, ready func()) {
	pumpAll(ctx, t, at, ready, measure.TestLatency, func(o *measure.Options) { o.Size = 64_000 })
}

// longIntervals names intervals at which nothing can be checked in time.
func longIntervals(ctx context.Context, t *testing.T, at *target, ready func()) {
	pumpAll(ctx, t, at, ready, measure.TestTCP, func(o *measure.Options) {
		o.Streams, o.Interval = 8, measure.Duration(time.Hour)
	})
}
