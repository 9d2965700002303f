package bulk

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync"
	"sync/atomic"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/pace"
)

// receivers returns the loops: one if bytes are discarded, and one a processor if bytes are
// read. On a host with many processors the one that discards can be the limit: unlike
// engine/tcp, which divides the streams of a busy loop, a sink does not. Without a fast path it
// returns a receiver with a goroutine a connection.
func (s *Sink) receivers(ctx context.Context, all *sync.WaitGroup) []receiver {
	path, n := "discard", 1
	if s.o.Unit > 0 {
		path, n = "read", sock.Processors
	}
	var out []receiver
	for range n {
		reader, err := sock.OpenReader(nil, path, s.o.Unit)
		if err != nil || s.o.Portable {
			return append(out, &readers{Sink: s, ctx: ctx, all: all})
		}
		b := &receiverLoop{Sink: s, ctx: ctx, reader: reader, yields: path == "discard", come: make(chan struct{}, 1)}
		all.Go(b.run)
		out = append(out, b)
	}
	return out
}

// receiverLoop receives on some of a sink's connections from one thread, in turn. It
// waits as a loop of engine/tcp does, for the same reasons.
type receiverLoop struct {
	*Sink
	ctx    context.Context
	reader *sock.Reader
	yields bool
	places []int // the port index of each of the reader's connections, -1 for none
	live   atomic.Int64

	mu      sync.Mutex
	waiting []arrival
	come    chan struct{} // holds a value if a connection waits to be admitted
}

// arrival is a connection that a receiverLoop has not admitted yet.
type arrival struct {
	port int
	conn *net.TCPConn
}

func (b *receiverLoop) held() int64 { return b.live.Load() }

func (b *receiverLoop) take(port int, c *net.TCPConn) {
	b.live.Add(1)
	b.mu.Lock()
	b.waiting = append(b.waiting, arrival{port, c})
	b.mu.Unlock()
	b.notify()
}

func (b *receiverLoop) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer b.o.Pins.Keep(measure.Receiver)()
	_, restore := pace.FineSleep()
	defer restore()
	defer b.reader.Close()
	var since int64
	for b.ctx.Err() == nil {
		b.admit()
		if b.live.Load() == 0 {
			b.idle()
			continue
		}
		n := b.pass()
		since += n
		switch {
		case n > 0 && b.yields:
			sock.Yield()
		case n > 0:
		case since >= fast:
			pace.Sleep(fixedSleep)
			since = 0
		default:
			b.reader.Wait(tick)
			since = 0
		}
	}
}

// idle waits for a connection.
func (b *receiverLoop) idle() {
	select {
	case <-b.come:
		b.notify()
	case <-b.ctx.Done():
	}
}

// notify signals that a connection waits; further signals have no effect.
func (b *receiverLoop) notify() {
	select {
	case b.come <- struct{}{}:
	default:
	}
}

// admit adds the waiting connections to the reader.
func (b *receiverLoop) admit() {
	select {
	case <-b.come:
	default:
		return
	}
	b.mu.Lock()
	arrivals := b.waiting
	b.waiting = nil
	b.mu.Unlock()
	for _, a := range arrivals {
		i, err := b.reader.Add(a.conn)
		// The reader duplicates the descriptor. With this one open, the runtime's poller
		// would process every packet.
		_ = a.conn.Close()
		if err != nil {
			b.gone()
			continue
		}
		for len(b.places) <= i {
			b.places = append(b.places, -1)
		}
		b.places[i] = a.port
	}
}

// pass visits each connection once and returns how many bytes it received.
func (b *receiverLoop) pass() (moved int64) {
	for i, port := range b.places {
		if port < 0 {
			continue
		}
		n, err := b.reader.Take(i)
		if n > 0 {
			moved += int64(n)
			b.ports[port].n.Add(int64(n))
		}
		if err != nil && !errors.Is(err, sock.ErrWouldBlock) {
			b.places[i] = -1
			b.reader.Remove(i)
			b.gone()
		}
	}
	return moved
}

func (b *receiverLoop) gone() {
	b.live.Add(-1)
	b.open.Add(-1)
}

// close closes the connections that were not admitted, after the loop has ended.
func (b *receiverLoop) close() {
	for _, a := range b.waiting {
		_ = a.conn.Close()
	}
}
