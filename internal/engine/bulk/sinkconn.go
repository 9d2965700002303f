package bulk

import (
	"cmp"
	"context"
	"net"
	"sync"

	"soku/internal/measure"
	"soku/internal/sock"
)

// readers is the portable receiver: a goroutine for each connection.
type readers struct {
	*Sink
	ctx context.Context
	all *sync.WaitGroup
}

const (
	buffersMost  = 32 << 20 // of all connections together, if they are few
	bufferLeast  = 4 << 10
	usualReading = 64 << 10
)

func (r *readers) held() int64 { return r.open.Load() }

func (r *readers) close() {}

func (r *readers) take(port int, c *net.TCPConn) {
	r.all.Go(func() {
		defer r.open.Add(-1)
		defer c.Close()
		stop := context.AfterFunc(r.ctx, func() { sock.Abort(c) })
		defer stop()
		defer r.o.Pins.Keep(measure.Receiver)()
		unit := r.o.Unit
		unit = cmp.Or(unit, usualReading)
		buf := make([]byte, max(bufferLeast, min(unit, buffersMost/int(max(1, r.open.Load())))))
		for {
			n, err := c.Read(buf)
			r.ports[port].n.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
}
