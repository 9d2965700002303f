package ntttcp

import (
	"context"
	"net"
	"sync"

	"soku/internal/engine/bulk"
	"soku/internal/measure/option"
	"soku/internal/sock"
	wire "soku/internal/wire/ntttcp"
)

// source moves a sender's bytes.
type source interface {
	Run(context.Context) error
	Bytes() []int64
}

// send runs the test of a sender.
func send(ctx context.Context, o *Options, c *console, pins *sock.Pins) (*figures, error) {
	d, err := newDialer(ctx, o)
	if err != nil {
		return nil, err
	}
	agreed := o.Cycle()
	var session *wire.Sync
	if o.NoSync {
		c.info("Starting sender activity (no sync) ...")
	} else {
		conn, err := d.dial(ctx, "tcp", o.Port-1, 0)
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		c.debug("Sync connection: local:%d --> %s", portOf(conn.LocalAddr()), conn.RemoteAddr())
		session = wire.NewSync(conn)
		if agreed, err = agree(ctx, o, c, session); err != nil {
			return nil, err
		}
	}
	m, err := connect(ctx, d, c)
	if err != nil {
		return nil, err
	}
	defer m.close()
	if session != nil {
		if err := session.Begin(ctx, o.Last, func() { c.info("waiting for the last client to join the test") }); err != nil {
			return nil, err
		}
		c.info("Network activity progressing...")
	}
	f, early, err := flood(ctx, o, c, m, newSource(o, m, pins), agreed)
	if session != nil && early {
		session.Exit()
	} else if session != nil {
		session.Linger(ctx)
	}
	return f, err
}

// agree negotiates with the receiver how long both run.
func agree(ctx context.Context, o *Options, c *console, session *wire.Sync) (int, error) {
	if err := session.Ask(ctx); err != nil {
		return 0, err
	}
	for o.Duration > 0 && wire.Letter(o.Cycle()) {
		c.info("%d seconds would be taken for a command by the receiver. cool down for a second more", o.Cycle())
		o.Cooldown++
	}
	agreed, err := session.Agree(ctx, o.Cycle())
	switch {
	case err != nil:
	case agreed == 0 && o.Duration != 0:
		c.info("test is negotiated to run with continuous mode")
	case agreed != o.Duration:
		c.info("Test cycle time negotiated is: %d seconds", agreed)
	}
	return agreed, err
}

// connect opens all connections; if some fail, the test continues without them.
func connect(ctx context.Context, d *dialer, c *console) (*made, error) {
	c.info("%d threads created", d.o.Ports*d.o.Threads)
	begin := sock.Now()
	m, err := d.all(ctx, func(conn net.Conn) {
		c.debug("New connection: local:%d --> %s", portOf(conn.LocalAddr()), conn.RemoteAddr())
	})
	if m == nil {
		return nil, err
	}
	us := sock.Since(begin).Microseconds()
	if len(m.conns) == d.o.Total() {
		c.info("%d connections created in %d microseconds", len(m.conns), us)
	} else {
		c.error("in %d microseconds, only %d connections created (expected: %d): %v", us, len(m.conns), d.o.Total(), err)
	}
	return m, nil
}

// flood sends for the time of the cycle.
func flood(ctx context.Context, o *Options, c *console, m *made, s source, agreed int) (f *figures, early bool, err error) {
	sending, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan struct{})
	var runErr error
	var run sync.WaitGroup
	run.Go(func() {
		defer close(ended)
		runErr = s.Run(sending)
	})
	counts := func() []int64 {
		out := make([]int64, o.Ports*o.Threads)
		for i, n := range s.Bytes() {
			out[m.thread[i]] += n
		}
		return out
	}
	y := &cycle{o: o, c: c, counts: counts, agreed: agreed, over: ended}
	f, early = y.run(ctx)
	stop()
	run.Wait()
	if f != nil {
		f.connections, f.rttUs = len(m.conns), averageRTT(m)
	}
	if runErr == nil && ctx.Err() != nil {
		runErr = context.Cause(ctx)
	}
	return f, early, runErr
}

func newSource(o *Options, m *made, pins *sock.Pins) source {
	each := float64(o.Bandwidth) / float64(o.Total())
	if o.UDP {
		return bulk.NewDatagramSource(m.conns, o.SendBuffer(), each, pins)
	}
	conns := make([]*net.TCPConn, len(m.conns))
	for i, c := range m.conns {
		conns[i] = c.(*net.TCPConn)
	}
	return bulk.NewSource(conns, bulk.SourceOptions{
		Unit: o.Buffer, Rate: each, Pacing: float64(o.FQRate) / float64(o.Total()), Pins: pins,
	})
}

// averageRTT returns the mean of the kernel's smoothed round trip times of the TCP
// connections in µs, or -1 if the kernel does not report them.
func averageRTT(m *made) int64 {
	var total, known int64
	for _, c := range m.conns {
		if t, ok := c.(*net.TCPConn); ok {
			if info, ok := sock.TCPInfo(t); ok {
				total, known = total+info.RTTNs/1000, known+1
			}
		}
	}
	if known == 0 {
		return -1
	}
	return total / known
}

func portOf(a net.Addr) int {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.Port
	case *net.UDPAddr:
		return a.Port
	}
	return 0
}

// affinity are the pins of -m, nil without it.
func affinity(o *Options, c *console) (*sock.Pins, error) {
	if o.CPU < 0 {
		return nil, nil
	}
	pins, err := sock.NewPins(option.Pinning{On: true, CPUs: []int{o.CPU}})
	if err != nil {
		return nil, err
	}
	c.info("main: set cpu affinity")
	return pins, nil
}
