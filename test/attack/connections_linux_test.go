package attack

import (
	"context"
	"net"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	_ "soku/internal/tests" // the registry of tests
	"soku/internal/wire"
	"soku/internal/wire/native"
)

var _ = row(
	attack{name: "silent connections", run: silentConnections},
	attack{name: "idle control connections", run: idleControlConnections},
	attack{name: "one session of many connections", descriptors: 2048, run: manyConnections},
)

// open dials n connections from an attacker to a port of the server and sends each what it
// begins with. They stay open until ctx ends. If again, one more follows every 2 ms, for
// servers that close what says nothing.
func open(ctx context.Context, t *testing.T, address string, begin func() []byte, n int, again bool, ready func()) {
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	for i := 0; ; i++ {
		if i == n {
			ready()
			if !again {
				<-ctx.Done()
			}
		}
		if i >= n && !sleep(ctx.Done(), 2*time.Millisecond) {
			return
		}
		c, err := from(1).DialContext(ctx, "tcp", address)
		if err != nil {
			if ctx.Err() == nil {
				t.Errorf("connection %d: %v", i, err)
			}
			return
		}
		_, _ = c.Write(begin())
		if conns = append(conns, c); len(conns) > n {
			_ = conns[0].Close()
			conns = conns[1:]
		}
	}
}

// idleControlConnections ask for something harmless and stay: more than the server has
// places for.
func idleControlConnections(ctx context.Context, t *testing.T, at *target, ready func()) {
	request := func() []byte { return []byte("GET /v1/info HTTP/1.1\r\nHost: x\r\n\r\n") }
	open(ctx, t, at.address, request, 6500, false, ready)
}

// silentConnections are opened on all ports, and again when the server closes them.
func silentConnections(ctx context.Context, t *testing.T, at *target, ready func()) {
	const most = 3000
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for n := 0; ctx.Err() == nil; n++ {
		c, err := from(n%4).DialContext(ctx, "tcp", []string{at.address, at.iperf3, at.ethr}[n%3])
		if err != nil {
			if ctx.Err() == nil {
				t.Errorf("connect: %v", err)
			}
			return
		}
		open = append(open, c)
		if len(open) > most {
			_ = open[0].Close()
			open = open[1:]
		}
		if n == most {
			ready()
		}
		if n >= most && !sleep(ctx.Done(), time.Millisecond) {
			return
		}
	}
}

// manyConnections is a session of as many connections as the server takes, all open.
func manyConnections(ctx context.Context, t *testing.T, at *target, ready func()) {
	o := option.Defaults(measure.TestTCP)
	o.Bind, o.Direction = "127.66.0.1", measure.Bidirectional
	for o.Streams = 1024; o.Streams > 0; o.Streams /= 2 {
		effective, err := option.Effective(o, measure.TestTCP)
		if err != nil {
			t.Error(err)
			return
		}
		session, err := native.Open(ctx, at.address, wire.Request{Test: measure.TestTCP, Options: effective}, wire.Hooks{})
		if err != nil {
			t.Logf("%d streams: %v", o.Streams, err)
			continue
		}
		defer session.Close()
		if _, err := session.TCP(ctx); err != nil {
			t.Errorf("%d streams, which the server took: %v", o.Streams, err)
			return
		}
		break
	}
	ready()
	<-ctx.Done()
}
