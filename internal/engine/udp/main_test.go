package udp

import (
	"context"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock/datagram"
	"soku/test/freeport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pairs returns n connected pairs of sockets on loopback.
func pairs(t testing.TB, n int) (clients, servers []net.Conn) {
	t.Helper()
	for range n {
		a, b := freeport.Pair(t)
		clients, servers = append(clients, a), append(servers, b)
	}
	return clients, servers
}

func options(d time.Duration, n int, rate measure.Rate) measure.Options {
	o := option.Defaults(measure.TestUDP)
	o.Duration, o.Streams, o.Rate = measure.Duration(d), n, rate
	return o
}

// way is a combination of send and receive path.
type way struct{ tx, rx string }

// ways returns combinations for this host: each path is in one, and each that joins or
// splits is also combined with one that does not.
func ways(t *testing.T) []way {
	a, _ := freeport.Pair(t)
	out := []way{{"write", "read"}}
	for _, w := range []way{{"batch", "batch"}, {"gso", "gro"}, {"gso", "read"}} {
		_, errTX := datagram.SendPath(w.tx, []net.Conn{a})
		_, errRX := datagram.ReceivePath(w.rx, []net.Conn{a})
		if errTX == nil && errRX == nil {
			out = append(out, w)
		}
	}
	return out
}

// eachWay runs a test over all combinations in parallel.
func eachWay(t *testing.T, f func(t *testing.T, w way)) {
	for _, w := range ways(t) {
		t.Run(w.tx+" to "+w.rx, func(t *testing.T) {
			t.Parallel()
			f(t, w)
		})
	}
}

func (w way) options(d time.Duration, n int, rate measure.Rate) measure.Options {
	o := options(d, n, rate)
	o.TX, o.RX = w.tx, w.rx
	return o
}

type outcome struct {
	end measure.FlowEnd
	err error
}

func both(ctx context.Context, from, to []net.Conn, o measure.Options, dir measure.Direction, sent, received measure.Observer) (s, r outcome) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.end, r.err = Receive(ctx, to, o, engine.Flow{Direction: dir, Observe: received})
	}()
	s.end, s.err = Send(ctx, from, o, engine.Flow{Direction: dir, Observe: sent})
	<-done
	return s, r
}

func total(f measure.FlowEnd) (n measure.PacketCount, sent, received int64) {
	for _, s := range f.Streams {
		sent += s.SentBytes
		received += s.ReceivedBytes
		n.Sent += s.Packets.Sent
		n.Received += s.Packets.Received
		n.Lost += s.Packets.Lost
		n.Reordered += s.Packets.Reordered
		n.Duplicated += s.Packets.Duplicated
	}
	return n, sent, received
}

// forward is a native flow from the client to the server.
var forward = engine.Flow{Direction: measure.Forward}
