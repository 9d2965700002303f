package agent

import (
	"context"
	"io"
	"sync"
	"time"

	"soku/internal/measure"
)

// barrier is where a child that is ready waits for its start. arrive and pass are
// called in the order in which the child reports, leave when it has ended.
type barrier struct {
	cancel context.CancelCauseFunc // ends the child
	ready  func(context.Context) error
	ctx    context.Context // of the wait
	stop   context.CancelFunc
	stdin  io.Writer
	client measure.Endpoint
	work   sync.WaitGroup

	mu      sync.Mutex
	state   barrierState
	ordered time.Time // when the order to start was sent; zero before
	err     error     // why the trial was not to start
}

type barrierState int

const (
	away    barrierState = iota // the child has not reported that it is ready
	waiting                     // it has, and its hook Ready has not returned
	open                        // it may start; also where there is no barrier
	closed                      // it may not, or did before the signal
)

// newBarrier makes the barrier of a trial with the hook ready, which may be nil.
func newBarrier(ctx context.Context, cancel context.CancelCauseFunc, ready func(context.Context) error, stdin io.Writer, client measure.Endpoint) *barrier {
	b := &barrier{cancel: cancel, ready: ready, stdin: stdin, client: client}
	if ready == nil {
		b.state = open
	}
	b.ctx, b.stop = context.WithCancel(ctx)
	return b
}

// arrive is for a child that reports that it is ready. It does not wait, so that
// what the child reports meanwhile is read.
func (b *barrier) arrive() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state != away {
		return
	}
	b.state = waiting
	b.work.Go(func() {
		err := b.ready(b.ctx)
		b.mu.Lock()
		defer b.mu.Unlock()
		switch {
		case b.state != waiting:
		case err == nil:
			b.state, b.ordered = open, time.Now()
			_, _ = io.WriteString(b.stdin, startLine) // a child that is gone has its own error
		case b.ctx.Err() == nil:
			b.close(err)
		}
	})
}

// pass is called when a child reports something that follows its start, and returns whether
// the child was started. A child that did not wait runs a version without the start barrier.
func (b *barrier) pass() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == away || b.state == waiting {
		b.close(Spec{Client: b.client}.NotWaiting())
	}
	return b.state == open
}

// startedAt is when a child started.
func (b *barrier) startedAt(delay time.Duration, reported time.Time) (at time.Time, uncertainty time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return StartedAt(b.ordered, delay, reported)
}

// StartedAt is when a trial started, on the clock of this process: from when the order to start was sent, the delay between
// its arrival at the trial and the start, and from when the report of the start arrived. The
// rest of that time the order and the report were on their way: half of it each, or
// anything between none and all, hence the uncertainty.
func StartedAt(ordered time.Time, delay time.Duration, reported time.Time) (at time.Time, uncertainty time.Duration) {
	passed := max(reported.Sub(ordered), 0)
	delay = min(max(delay, 0), passed)
	uncertainty = (passed - delay) / 2
	return ordered.Add(delay + uncertainty), uncertainty
}

func (b *barrier) close(why error) {
	b.state, b.err = closed, why
	b.cancel(why)
}

// leave ends the wait of a child that has ended, and returns why its trial was
// not to start.
func (b *barrier) leave() error {
	b.stop()
	b.work.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
