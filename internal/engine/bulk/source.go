package bulk

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

// SourceOptions say how a [Source] sends. The zero value is good.
type SourceOptions struct {
	// Unit is how many bytes one write takes, 1 MiB at most. 0 lets the kernel send
	// pages that it has already where it can.
	Unit int
	// Rate bounds each connection, in bit/s, on average since the start: what a
	// connection could not take for a while it may make up for. 0 is no bound.
	Rate float64
	// Pacing bounds each connection, in bit/s, in the kernel, so that it is even at
	// any moment. 0 is no bound.
	Pacing   float64
	Portable bool       // take the way that every system has
	Pins     *sock.Pins // keep the loops on processors; nil keeps none
}

// Source sends over TCP connections that somebody opened. Its counts are safe to
// read while it runs, and are of what the kernel took.
type Source struct {
	o      SourceOptions
	conns  []*net.TCPConn
	counts []count
	begin  time.Time

	left  atomic.Int64 // connections that still send
	mu    sync.Mutex
	first error // of a connection
}

// NewSource returns a source over conns, which stay the caller's.
func NewSource(conns []*net.TCPConn, o SourceOptions) *Source {
	o.Unit = min(o.Unit, unitMost)
	s := &Source{o: o, conns: conns, counts: make([]count, len(conns))}
	s.left.Store(int64(len(conns)))
	return s
}

// Bytes are what the kernel took so far, one element a connection.
func (s *Source) Bytes() []int64 { return read(s.counts) }

// Run sends on all connections until ctx ends, and returns within 100 ms of that,
// with no error. A connection that fails is left alone; when all have, Run returns
// an error of kind broken about the first. It may be called once, and leaves the
// connections open, with what is queued on them.
func (s *Source) Run(ctx context.Context) error {
	if len(s.conns) == 0 {
		return measure.Errorf(measure.KindInternal, "send over no connections")
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

// failed notes that connection i takes no more.
func (s *Source) failed(i int, err error) {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = errno // without the addresses, which the sentence has
	}
	s.mu.Lock()
	if s.first == nil {
		s.first = measure.Errorf(measure.KindBroken, "send to %s (connection %d of %d): %w", s.conns[i].RemoteAddr(), i+1, len(s.conns), err).
			WithHint("the far end or the path went away; is the receiver still running?")
	}
	s.mu.Unlock()
	s.left.Add(-1)
}

// due is how many bytes a connection that has sent so many may send now; it is
// negative where there is no bound.
func (s *Source) due(sent int64) int64 {
	if s.o.Rate <= 0 {
		return -1
	}
	return max(0, int64(s.o.Rate/8*sock.Since(s.begin).Seconds())-sent)
}

// unitOf is how many bytes go at once where a program writes them.
func (s *Source) unitOf() int {
	unit := s.o.Unit
	if unit == 0 {
		unit = usualWriting
	}
	if s.o.Rate > 0 {
		// A low rate does not move in lumps: 5 ms of it, and a segment at least.
		unit = min(unit, max(1448, int(s.o.Rate/8*0.005)))
	}
	return unit
}

const usualWriting = 128 << 10

// waitFor is how long to wait until n more bytes are due.
func (s *Source) waitFor(n int64) time.Duration {
	return min(tick, max(doze, time.Duration(float64(n)*8e9/s.o.Rate)))
}
