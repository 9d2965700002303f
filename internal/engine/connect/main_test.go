package connect

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// ways are each end's ways into the kernel, in every combination.
func ways(t *testing.T, f func(t *testing.T, client makers, server acceptors)) {
	for _, c := range []struct {
		name   string
		client makers
		server acceptors
	}{
		{"best to best", bestMaker, bestAcceptor}, {"net to best", newNetMaker, bestAcceptor},
		{"best to net", bestMaker, listenNet}, {"net to net", newNetMaker, listenNet},
	} {
		t.Run(c.name, func(t *testing.T) { f(t, c.client, c.server) })
	}
}

func options(change func(*measure.Options)) measure.Options {
	o := option.Defaults(measure.TestConnect)
	change(&o)
	o, err := option.Effective(o, measure.TestConnect)
	if err != nil {
		panic(err)
	}
	return o
}

// listening is a listener that counts until the test ends or stop is called.
type listening struct {
	*Listener
	stop func() *measure.Connect
}

func listen(t *testing.T, o measure.Options, with acceptors, peers ...netip.Addr) listening {
	t.Helper()
	if peers == nil {
		peers = []netip.Addr{loopback}
	}
	l, err := listenWith(loopback, peers, o, with)
	if err != nil {
		t.Fatal(err)
	}
	l.Begin(t.Context())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan *measure.Connect, 1)
	go func() { done <- l.Serve(ctx, nil) }()
	stop := sync.OnceValue(func() *measure.Connect {
		cancel()
		c := <-done
		l.Close()
		return c
	})
	t.Cleanup(func() { stop() })
	return listening{l, stop}
}

func (l listening) target(reset bool) Target {
	return Target{Addr: netip.AddrPortFrom(loopback, uint16(l.Port())), Reset: reset, Await: !reset}
}

// within bounds what hangs when it is broken.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
