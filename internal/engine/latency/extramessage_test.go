package latency

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"soku/internal/engine"
)

// A far end that answers batches of three in the way of Ethr's server: it has one
// message in hand, and after a every takes another.
func TestAfterALapOneMessageGoesUnanswered(t *testing.T) {
	const every, trips = 3, 10
	near, far := sockets(t, "tcp")
	o := options("tcp")
	o.Size, o.Duration, o.Count = 9, 0, trips
	taken := make(chan int, 1)
	go func() {
		b, n := make([]byte, 9), 0
		defer func() { taken <- n }()
		for {
			for i := range every + 1 {
				if _, err := io.ReadFull(far, b); err != nil {
					return
				}
				n++
				if i == every {
					break
				}
				if _, err := far.Write(b); err != nil {
					return
				}
			}
		}
	}()
	l, err := Run(t.Context(), []net.Conn{near}, o, extraEvery(every))
	if err != nil || l.Received != trips || l.Sent != trips {
		t.Fatalf("%+v, %v", l, err)
	}
	if n := <-taken; n != trips+trips/every {
		t.Errorf("the far end had %d messages, want %d", n, trips+trips/every)
	}
}

func TestAnEchoOfLapsLeavesTheLastMessageUnanswered(t *testing.T) {
	const every = 2
	near, far := sockets(t, "tcp")
	o := options("tcp")
	o.Size, o.Duration, o.Count = 8, 0, 25
	done, seen := make(chan error, 1), 0
	go func() {
		_, err := Echo(t.Context(), []net.Conn{far}, o, extraEvery(every), func(int64) { seen++ })
		done <- err
	}()
	l, err := Run(t.Context(), []net.Conn{near}, o, extraEvery(every))
	near.Close()
	if err := errors.Join(err, <-done); err != nil || l.Received != 25 {
		t.Fatalf("%+v, %v", l, err)
	}
	if seen != 25-1 { // the last answer got no message
		t.Errorf("the echo saw %d round trips", seen)
	}
}

func TestFlowsHaveLapsOfTheirOwn(t *testing.T) {
	const every = 4
	var near []net.Conn
	o := options("tcp")
	o.Duration, o.Count = 0, 50
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 3 {
		a, b := sockets(t, "tcp")
		near = append(near, a)
		go func() { _, _ = Echo(ctx, []net.Conn{b}, o, extraEvery(every), nil) }()
	}
	if l, err := Run(ctx, near, o, extraEvery(every)); err != nil || l.Received != 50 || len(l.Flows) != 3 {
		t.Errorf("%+v, %v", l, err)
	}
}

// extraEvery is a flow of a protocol with an unanswered message after this many
// round trips.
func extraEvery(every int64) engine.Flow {
	return engine.Flow{Policy: engine.FlowPolicy{ExtraMessageEvery: every}}
}
