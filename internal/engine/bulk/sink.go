package bulk

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	"soku/internal/measure"
	"soku/internal/sock"
)

// SinkOptions configure a [Sink]. The zero value is valid.
type SinkOptions struct {
	// Unit is how many bytes one read takes, 1 MiB at most. 0 lets the kernel discard
	// them if it can, and otherwise reads 64 KiB at a time.
	Unit int
	// Connections is the most connections at a time, 0 for 16384; further ones are closed
	// immediately.
	Connections int
	NoDelay     bool // TCP_NODELAY on each connection
	// OnAccept is called for each accepted connection, from the goroutine that accepts on
	// that port, with the listener's index and both addresses. It may be nil.
	OnAccept func(port int, local, remote net.Addr)
	// Portable uses the portable path.
	Portable bool
	Pins     *sock.Pins // pin the loops to processors; nil pins none
}

// connectionsMost limits what foreign clients can make a sink hold.
const connectionsMost = 16384

// Sink reads and discards whatever any number of TCP connections send, and counts it by
// port. Its counts may be read while it serves. It closes connections with a reset: after
// the sender has closed, nothing is lost by that, and the sender's host keeps no TIME-WAIT,
// in which a fixed source port could not be used again for a minute.
type Sink struct {
	o      SinkOptions
	ports  []count
	open   atomic.Int64
	opened atomic.Int64
}

// count is a counter of bytes on a cache line of its own.
type count struct {
	n atomic.Int64
	_ [56]byte
}

// NewSink returns a sink for listeners on this number of ports.
func NewSink(ports int, o SinkOptions) *Sink {
	if o.Connections <= 0 {
		o.Connections = connectionsMost
	}
	o.Unit = min(o.Unit, unitMost)
	return &Sink{o: o, ports: make([]count, ports)}
}

// unitMost limits a read or write, in bytes.
const unitMost = 1 << 20

// Bytes returns the received bytes so far, one element a port.
func (s *Sink) Bytes() []int64 { return read(s.ports) }

func read(counts []count) []int64 {
	out := make([]int64, len(counts))
	for i := range counts {
		out[i] = counts[i].n.Load()
	}
	return out
}

// Opened is how many connections were accepted so far.
func (s *Sink) Opened() int64 { return s.opened.Load() }

// Open is how many connections are open now.
func (s *Sink) Open() int64 { return s.open.Load() }

// Serve accepts on the listeners, one a port, and receives until ctx ends. It then closes
// all connections and the listeners and returns nil within 100 ms. If a listener fails,
// the error is of kind broken. It may be called once.
func (s *Sink) Serve(ctx context.Context, listeners []*net.TCPListener) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	receivers := s.receivers(ctx, &all)
	for port, l := range listeners {
		all.Go(func() {
			if err := sock.Accept(ctx, l, func(c net.Conn) { s.accepted(port, c.(*net.TCPConn), receivers) }); err != nil {
				cancel(err)
			}
		})
	}
	<-ctx.Done()
	all.Wait()
	for _, t := range receivers {
		t.close()
	}
	if err := context.Cause(ctx); measure.KindOf(err) == measure.KindBroken {
		return err
	}
	return nil
}

// receiver receives on accepted connections, which it owns.
type receiver interface {
	take(port int, c *net.TCPConn)
	held() int64 // connections now
	close()      // closes connections that arrived too late; called after all loops have ended
}

// accepted counts a connection and hands it to a receiver.
func (s *Sink) accepted(port int, c *net.TCPConn, receivers []receiver) {
	if s.open.Add(1) > int64(s.o.Connections) {
		s.open.Add(-1)
		sock.Abort(c)
		return
	}
	s.opened.Add(1)
	_ = c.SetNoDelay(s.o.NoDelay)
	_ = c.SetLinger(0)
	if s.o.OnAccept != nil {
		s.o.OnAccept(port, c.LocalAddr(), c.RemoteAddr())
	}
	least(receivers).take(port, c)
}

// least returns the receiver with the fewest connections.
func least(receivers []receiver) receiver {
	best := receivers[0]
	for _, t := range receivers[1:] {
		if t.held() < best.held() {
			best = t
		}
	}
	return best
}
