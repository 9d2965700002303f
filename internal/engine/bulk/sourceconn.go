package bulk

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

const (
	tick       = 20 * time.Millisecond  // the longest wait of a loop before it checks for its end
	fast       = 16 << 10               // bytes that must have arrived since the last sleep for the next to be fixedSleep
	fixedSleep = 100 * time.Microsecond // the fixed sleep of a loop with fast connections
)

// write sends by the portable path: a goroutine for each connection.
func (s *Source) write(ctx context.Context, all *sync.WaitGroup) {
	block := make([]byte, s.unitOf())
	sock.Incompressible(block)
	for i := range s.conns {
		all.Go(func() {
			defer s.o.Pins.Keep(measure.Sender)()
			s.writeOn(ctx, i, block)
		})
	}
}

func (s *Source) writeOn(ctx context.Context, i int, block []byte) {
	c := s.conns[i]
	stop := context.AfterFunc(ctx, func() { _ = c.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	for ctx.Err() == nil {
		n := len(block)
		if due := s.due(s.counts[i].n.Load()); due >= 0 && due < int64(n) {
			sock.Pause(ctx, s.waitFor(int64(n)-due))
			continue
		}
		n, err := c.Write(block)
		s.counts[i].n.Add(int64(n))
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		if err != nil {
			s.failed(i, err)
			return
		}
	}
}
