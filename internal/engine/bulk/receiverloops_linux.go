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

// receivers are loops: one drops what comes as fast as many do, and reading wants one
// a processor. Where no reader opens, a goroutine a connection reads.
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

// receiverLoop takes what some of a sink's connections have from one thread, in turn. It
// waits as a loop of engine/tcp does, for the same reasons.
type receiverLoop struct {
	*Sink
	ctx    context.Context
	reader *sock.Reader
	yields bool
	places []int // the port of each of the reader's connections, -1 where there is none
	live   atomic.Int64

	mu      sync.Mutex
	waiting []arrival
	come    chan struct{} // holds one when something waits
}

// arrival is a connection that a receiverLoop has not taken in yet.
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
	b.tell()
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
			pace.Sleep(doze)
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
		b.tell()
	case <-b.ctx.Done():
	}
}

// tell says that something waits; once is enough.
func (b *receiverLoop) tell() {
	select {
	case b.come <- struct{}{}:
	default:
	}
}

// admit takes in what has come since.
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
		// The reader has a descriptor of its own; this one would have the runtime's
		// poller look at every packet.
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

// pass gives each connection one turn and returns how many bytes came.
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

// close ends what nobody took in; the loop has ended.
func (b *receiverLoop) close() {
	for _, a := range b.waiting {
		_ = a.conn.Close()
	}
}
