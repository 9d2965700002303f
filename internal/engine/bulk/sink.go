package bulk

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	"soku/internal/measure"
	"soku/internal/sock"
)

// SinkOptions say how a [Sink] takes bytes. The zero value is good.
type SinkOptions struct {
	// Unit is how many bytes one read takes, 1 MiB at most. 0 lets the kernel drop
	// them where it can, and else reads 64 KiB at a time.
	Unit int
	// Connections are how many there may be at a time, 0 for 16384; one that comes
	// beyond that is closed at once.
	Connections int
	NoDelay     bool // TCP_NODELAY on each connection
	// Came is called for each connection that is taken, from the goroutine that
	// accepts on that port: the listener's index, and both addresses. nil: nobody is told.
	Came func(port int, local, remote net.Addr)
	// Portable takes the way that every system has.
	Portable bool
	Pins     *sock.Pins // keep the loops on processors; nil keeps none
}

// connectionsMost bounds what strangers can make a sink hold.
const connectionsMost = 16384

// Sink takes whatever any number of TCP connections send, and counts it by the
// port they came to. Its counts are safe to read while it serves.
type Sink struct {
	o      SinkOptions
	ports  []count
	open   atomic.Int64
	opened atomic.Int64
}

// count is a running number of bytes, on a cache line of its own.
type count struct {
	n atomic.Int64
	_ [56]byte
}

// NewSink returns a sink for listeners on so many ports.
func NewSink(ports int, o SinkOptions) *Sink {
	if o.Connections <= 0 {
		o.Connections = connectionsMost
	}
	o.Unit = min(o.Unit, unitMost)
	return &Sink{o: o, ports: make([]count, ports)}
}

// unitMost bounds a read or write.
const unitMost = 1 << 20

// Bytes are what came so far, one element a port.
func (s *Sink) Bytes() []int64 { return read(s.ports) }

func read(counts []count) []int64 {
	out := make([]int64, len(counts))
	for i := range counts {
		out[i] = counts[i].n.Load()
	}
	return out
}

// Opened is how many connections have come so far, and Open how many are there.
func (s *Sink) Opened() int64 { return s.opened.Load() }

// Open is how many connections there are now.
func (s *Sink) Open() int64 { return s.open.Load() }

// Serve accepts on the listeners, one a port, and takes what comes until ctx ends,
// which it returns within 100 ms of, with no error; it has then closed all
// connections and the listeners. Errors are of kind broken, when a listener fails.
// It may be called once.
func (s *Sink) Serve(ctx context.Context, listeners []*net.TCPListener) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	receivers := s.receivers(ctx, &all)
	for port, l := range listeners {
		all.Go(func() {
			if err := sock.Accept(ctx, l, func(c net.Conn) { s.came(port, c.(*net.TCPConn), receivers) }); err != nil {
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

// receiver is where a connection goes once it is accepted. It owns the connection.
type receiver interface {
	take(port int, c *net.TCPConn)
	held() int64 // connections now
	close()      // what came too late; called when nothing runs any more
}

// came counts a connection in, and gives it to a receiver.
func (s *Sink) came(port int, c *net.TCPConn, receivers []receiver) {
	if s.open.Add(1) > int64(s.o.Connections) {
		s.open.Add(-1)
		sock.Abort(c)
		return
	}
	s.opened.Add(1)
	_ = c.SetNoDelay(s.o.NoDelay)
	if s.o.Came != nil {
		s.o.Came(port, c.LocalAddr(), c.RemoteAddr())
	}
	least(receivers).take(port, c)
}

// least is the receiver with the fewest connections.
func least(receivers []receiver) receiver {
	best := receivers[0]
	for _, t := range receivers[1:] {
		if t.held() < best.held() {
			best = t
		}
	}
	return best
}
