package agent

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// barrier is where a child that is ready waits for its start. arrive, pass and began are
// called in the order in which the child reports, leave when it has ended.
type barrier struct {
	cancel  context.CancelCauseFunc // ends the child
	hooks   Hooks
	compare func(context.Context) (Clock, error) // the child's clock; nil: it is not known
	ctx     context.Context                      // of the wait
	stop    context.CancelFunc
	stdin   io.Writer
	spec    Spec
	work    sync.WaitGroup

	mu    sync.Mutex
	state barrierState
	start Start
	owed  bool  // the start is to be reported by leave
	err   error // why the trial was not to start
}

type barrierState int

const (
	away    barrierState = iota // the child has not reported that it is ready
	waiting                     // it has, and its hook Ready has not returned
	open                        // it may start; also where there is no barrier
	closed                      // it may not, or did before the signal
)

// newBarrier makes the barrier of a trial.
func newBarrier(ctx context.Context, cancel context.CancelCauseFunc, h Hooks, clock func(context.Context) (Clock, error), stdin io.Writer, s Spec) *barrier {
	b := &barrier{cancel: cancel, hooks: h, compare: clock, stdin: stdin, spec: s}
	if h.Ready == nil {
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
		clock, order, err := b.wait()
		line, _ := json.Marshal(order)
		b.mu.Lock()
		defer b.mu.Unlock()
		switch {
		case b.state != waiting:
		case err == nil:
			b.state, b.start.Ordered, b.start.Before = open, time.Now(), clock
			_, _ = b.stdin.Write(append(line, '\n')) // a child that is gone has its own error
		case b.ctx.Err() == nil:
			b.close(err)
		}
	})
}

// wait returns the order to start when it is to be sent: before the instant of the start, or at that if the child's clock is not known.
func (b *barrier) wait() (clock Clock, o order, err error) {
	o.Start = true
	var lead time.Duration
	if b.compare != nil {
		if clock, err = b.compare(b.ctx); err != nil {
			return clock, o, err
		}
		lead = clock.Lead()
	}
	at, err := b.hooks.Ready(b.ctx, lead)
	switch {
	case err != nil || at.IsZero():
	case b.compare == nil:
		err = b.spec.awaitInstant(b.ctx, at)
	default:
		o.AtUnixNs = clock.There(at)
	}
	return clock, o, err
}

// pass is called when a child reports something that follows its start, and returns whether
// the child was started. A child that did not wait runs a version without the start barrier.
func (b *barrier) pass() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == away || b.state == waiting {
		b.close(b.spec.NotWaiting())
	}
	return b.state == open
}

// began takes the child's report of its start. One on another host is passed on when the trial has ended: only then are the
// clocks compared again, so that it is not disturbed.
func (b *barrier) began(delay time.Duration, unixNs int64, reported time.Time) {
	b.mu.Lock()
	b.start.Delay, b.start.UnixNs, b.start.Reported = delay, unixNs, reported
	b.owed = b.start.Before.Uncertainty > 0
	now, start := !b.owed, b.start
	b.mu.Unlock()
	if now && b.hooks.Started != nil {
		b.hooks.Started(start.At())
	}
}

func (b *barrier) close(why error) {
	b.state, b.err = closed, why
	b.cancel(why)
}

// leave ends the wait of a child that has ended, and returns why its trial was
// not to start.
func (b *barrier) leave(ctx context.Context) error {
	b.stop()
	b.work.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.owed && b.hooks.Started != nil {
		b.start.CompareAgain(ctx, b.compare)
		b.hooks.Started(b.start.At())
	}
	return b.err
}
