package ntttcp

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
	"time"

	"soku/internal/engine/bulk"
	"soku/internal/measure"
	"soku/internal/sock"
	wire "soku/internal/wire/ntttcp"
)

// receiver is the state of a receiver over all its tests.
type receiver struct {
	o        *Options
	c        *console
	pins     *sock.Pins
	registry *wire.Registry // nil without the sync connection
	sink     *bulk.Sink     // of TCP

	counts func() []int64
	first  chan struct{} // has an element when a connection was accepted
	base   []int64       // counts when the test began

	listeners []*net.TCPListener
	sockets   []*net.UDPConn
}

// goodbye is how long a receiver waits after a test for senders to close.
const goodbye = 3 * time.Second

// receive runs one test, or with -H tests until ctx ends. done gets the figures of each
// test, also of one that ctx ended, which is not an error.
func receive(ctx context.Context, o *Options, c *console, pins *sock.Pins, done func(*figures) error) error {
	r := &receiver{o: o, c: c, pins: pins, first: make(chan struct{}, 1)}
	serve, err := r.open(ctx)
	defer r.close()
	if err != nil {
		return err
	}
	r.base = r.counts() // before a connection can be accepted
	serving, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop(nil)
	for _, s := range serve {
		all.Go(func() {
			if err := s(serving); err != nil {
				stop(err)
			}
		})
	}
	c.info("%d threads created", len(serve)+o.Ports-1)
	for {
		test, err := r.await(serving)
		if err != nil {
			return err
		}
		y := &cycle{o: o, c: c, counts: r.counts, agreed: test.Seconds, over: test.Over, base: r.base}
		f, early := y.run(serving)
		if r.registry != nil {
			r.registry.Done()
		}
		if f != nil {
			if err := done(f); err != nil {
				return err
			}
		}
		switch {
		case ctx.Err() != nil && f != nil && (early || !o.Hold): // else the wait for the next test was interrupted
			return nil
		case serving.Err() != nil:
			return context.Cause(serving)
		}
		if !o.Hold {
			r.leave(serving)
			return nil
		}
		if r.registry == nil {
			r.forget()
		}
	}
}

// open listens on all ports and returns the function to run.
func (r *receiver) open(ctx context.Context) (serve []func(context.Context) error, err error) {
	var plain net.ListenConfig
	plain.SetMultipathTCP(false)
	for i := range r.o.Ports {
		at := net.JoinHostPort(r.o.Address, strconv.Itoa(r.o.Port+i))
		if r.o.UDP {
			p, err := plain.ListenPacket(ctx, "udp"+r.o.family(), at)
			if err != nil {
				return nil, explainListen(at, err)
			}
			sock.RaiseQueue(p.(*net.UDPConn))
			r.sockets = append(r.sockets, p.(*net.UDPConn))
		} else {
			l, err := plain.Listen(ctx, "tcp"+r.o.family(), at)
			if err != nil {
				return nil, explainListen(at, err)
			}
			r.listeners = append(r.listeners, l.(*net.TCPListener))
		}
		r.c.debug("ntttcp server is listening on %s", at)
	}
	serve = append(serve, r.takes())
	if r.o.NoSync {
		return serve, nil
	}
	at := net.JoinHostPort(r.o.Address, strconv.Itoa(r.o.Port-1))
	l, err := plain.Listen(ctx, "tcp"+r.o.family(), at)
	if err != nil {
		return nil, explainListen(at, err)
	}
	r.registry = wire.NewRegistry(wire.RegistryOptions{Seconds: r.o.Duration, Multi: r.o.Multi,
		Log:    func(line string) { r.c.debug("%s", line) },
		Begins: func() { r.base = r.counts() }, // read after the registry has handed over the test
	})
	return append(serve, func(ctx context.Context) error { return r.registry.Serve(ctx, l) }), nil
}

// takes is the function that receives the bytes.
func (r *receiver) takes() func(context.Context) error {
	if r.o.UDP {
		sink := bulk.NewDatagramSink(r.o.Ports, r.o.Buffer, r.pins)
		r.counts = sink.Bytes
		return func(ctx context.Context) error { return sink.Serve(ctx, r.sockets) }
	}
	r.sink = bulk.NewSink(r.o.Ports, bulk.SinkOptions{Unit: r.o.Buffer, NoDelay: r.o.NoDelay, Pins: r.pins, OnAccept: func(_ int, local, remote net.Addr) {
		r.c.debug("New connection: %s --> local:%d", remote, portOf(local))
		select {
		case r.first <- struct{}{}:
		default:
		}
	}})
	r.counts = r.sink.Bytes
	return func(ctx context.Context) error { return r.sink.Serve(ctx, r.listeners) }
}

// await waits for a test to start: for a sender's message, or without sync for a
// connection or a datagram.
func (r *receiver) await(ctx context.Context) (wire.Test, error) {
	test := wire.Test{Seconds: r.o.Cycle()}
	if r.registry == nil {
		if err := r.awaitFirst(ctx); err != nil {
			return test, err
		}
		r.c.info("Network activity progressing...")
		return test, nil
	}
	select {
	case test = <-r.registry.Begun():
		if r.o.Duration != 0 && test.Seconds == 0 {
			r.c.info("test is negotiated to run with continuous mode")
		} else if test.Seconds > r.o.Duration {
			r.c.info("Test cycle time negotiated is: %d seconds", test.Seconds)
		}
		r.c.info("Network activity progressing...")
		return test, nil
	case <-ctx.Done():
		return test, context.Cause(ctx)
	}
}

// forget makes the connections and bytes so far those of the previous test.
func (r *receiver) forget() {
	select {
	case <-r.first:
	default:
	}
	r.base = r.counts()
}

// awaitFirst waits for the first connection or datagram of a test.
func (r *receiver) awaitFirst(ctx context.Context) error {
	before := sum(r.base)
	var look <-chan time.Time
	if r.o.UDP {
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		look = ticker.C
	}
	for {
		select {
		case <-r.first:
			if r.o.Hold { // the end of the previous test may have arrived meanwhile
				r.base = nil
			}
			return nil
		case <-look:
			if sum(r.counts()) != before {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// leave waits at most goodbye for the senders to close, so that none is disconnected while
// it still sends.
func (r *receiver) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, goodbye)
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for (r.sink != nil && r.sink.Open() > 0) || (r.registry != nil && r.registry.Open() > 0) {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (r *receiver) close() {
	for _, l := range r.listeners {
		_ = l.Close()
	}
	for _, s := range r.sockets {
		_ = s.Close()
	}
}

func explainListen(at string, err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return measure.Fail(measure.KindUsage, "dropin.ntttcp.listen", measure.Figures{"address": at, "cause": err})
}
