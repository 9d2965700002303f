package bulk

import (
	"cmp"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
)

// SourceOptions configure a [Source]. The zero value is valid.
type SourceOptions struct {
	// Unit is how many bytes one write takes, 1 MiB at most. 0 lets the kernel send pages
	// that it already has, if it can.
	Unit int
	// Rate limits each connection, in bit/s, on average since the start: a connection
	// that was blocked for a while may catch up. 0 is no limit.
	Rate float64
	// Pacing limits each connection, in bit/s, in the kernel, so that the rate is even at
	// any moment. 0 is no limit.
	Pacing   float64
	Portable bool       // use the portable path
	Pins     *sock.Pins // pin the loops to processors; nil pins none
}

// Source sends over open TCP connections. Its counts are the bytes that the kernel
// accepted; they may be read while it runs.
type Source struct {
	o      SourceOptions
	conns  []*net.TCPConn
	counts []count
	begin  time.Time

	left  atomic.Int64 // connections that still send
	mu    sync.Mutex
	first error // first failure of a connection
}

// NewSource returns a source over conns, which the caller closes.
func NewSource(conns []*net.TCPConn, o SourceOptions) *Source {
	o.Unit = min(o.Unit, unitMost)
	s := &Source{o: o, conns: conns, counts: make([]count, len(conns))}
	s.left.Store(int64(len(conns)))
	return s
}

// Bytes returns the bytes that the kernel accepted so far, one element a connection.
func (s *Source) Bytes() []int64 { return read(s.counts) }

// Run sends on all connections until ctx ends, and returns nil within 100 ms of that. It
// stops using a connection that fails; when all have failed, it returns an error of kind
// broken about the first. It may be called once, and leaves the connections open, with
// their queued data.
func (s *Source) Run(ctx context.Context) error {
	if len(s.conns) == 0 {
		return measure.Fail(measure.KindInternal, "bulk.no_connections", nil)
	}
	s.begin = sock.Now()
	if s.o.Pacing > 0 {
		for _, c := range s.conns {
			sock.LimitPacing(c, uint64(s.o.Pacing/8)+1)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	s.senderLoops(ctx, &all)
	all.Wait()
	if s.left.Load() == 0 && ctx.Err() == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.first
	}
	return nil
}

// failed records that connection i failed.
func (s *Source) failed(i int, err error) {
	s.mu.Lock()
	if s.first == nil {
		s.first = engine.FailStream(s.conns, i, "bulk.send", measure.Figures{"cause": err})
	}
	s.mu.Unlock()
	s.left.Add(-1)
}

// due returns how many bytes a connection that has already sent this many may send now;
// it is negative if there is no limit.
func (s *Source) due(sent int64) int64 {
	if s.o.Rate <= 0 {
		return -1
	}
	return max(0, int64(s.o.Rate/8*sock.Since(s.begin).Seconds())-sent)
}

// unitOf returns how many bytes one write takes.
func (s *Source) unitOf() int {
	unit := s.o.Unit
	unit = cmp.Or(unit, usualWriting)
	if s.o.Rate > 0 {
		// A low rate must be even: at most 5 ms of it, and at least a segment.
		unit = min(unit, max(1448, int(s.o.Rate/8*0.005)))
	}
	return unit
}

const usualWriting = 128 << 10

// waitFor returns how long to wait until n more bytes are due.
func (s *Source) waitFor(n int64) time.Duration {
	return min(tick, max(fixedSleep, time.Duration(float64(n)*8e9/s.o.Rate)))
}
