package ntttcp

import (
	"context"
	"time"

	"soku/internal/host"
	"soku/internal/sock"
)

// showEvery is the time between two lines of the rate.
const showEvery = 500 * time.Millisecond

// cycle is warm-up, test and cool-down at one end, while bytes move.
type cycle struct {
	o      *Options
	c      *console
	counts func() []int64  // bytes so far, one element per thread
	agreed int             // seconds of all three; 0: until interrupted
	over   <-chan struct{} // closed when the other end ends it; nil: never
	base   []int64         // counts at the start; nil: read at the start
}

// run returns the figures of the test, nil if it did not start, and whether it ended
// early.
func (y *cycle) run(ctx context.Context) (f *figures, early bool) {
	begin := sock.Now()
	all := y.end(begin, y.agreed)
	if w := y.o.Warmup; w > 0 {
		end := begin.Add(time.Duration(w) * time.Second)
		if !all.IsZero() && all.Before(end) {
			end = all
		}
		if !y.phase(ctx, end, true) {
			y.c.info("Test was interrupted.")
			return nil, true
		}
		y.c.info("Test warmup completed.")
	}
	f, inTime := y.measure(ctx, all)
	y.c.info("Test run completed.")
	if inTime && y.agreed > y.o.Warmup+y.o.Duration {
		y.c.info("Test cooldown is in progress...")
		inTime = y.phase(ctx, all, false)
	}
	y.c.info("Test cycle finished.")
	return f, !inTime
}

// measure is the test itself; it ends no later than the whole cycle.
func (y *cycle) measure(ctx context.Context, all time.Time) (f *figures, inTime bool) {
	before, from, begin := y.base, read(y.o), sock.Now()
	if before == nil || y.o.Warmup > 0 {
		before = y.counts()
	}
	end := y.end(begin, y.o.Duration)
	if y.agreed == 0 {
		end = time.Time{}
	} else if end.IsZero() || all.Before(end) {
		end = all
	}
	inTime = y.phase(ctx, end, true)
	after, seconds, to := y.counts(), sock.Since(begin).Seconds(), read(y.o)
	for i := range after {
		after[i] -= before[i]
	}
	return &figures{o: y.o, seconds: seconds, threads: after, from: from, to: to, mhz: host.ProcessorMHz(), rttUs: -1}, inTime
}

// end is this number of seconds later; 0 means no end.
func (y *cycle) end(begin time.Time, seconds int) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return begin.Add(time.Duration(seconds) * time.Second)
}

// phase waits until end, or without limit if end is the zero time. It returns false if it was
// interrupted.
func (y *cycle) phase(ctx context.Context, end time.Time, show bool) bool {
	shown, bytes := sock.Now(), sum(y.counts())
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		next := shown.Add(showEvery)
		if !end.IsZero() && end.Before(next) {
			next = end
		}
		timer.Reset(next.Sub(sock.Now()))
		select {
		case <-ctx.Done():
			return false
		case <-y.over:
			return false
		case <-timer.C:
		}
		now := sock.Now()
		if !end.IsZero() && !now.Before(end) {
			return true
		}
		if now.Sub(shown) < showEvery {
			continue
		}
		total := sum(y.counts())
		if show && !y.o.Quiet {
			y.c.now(total-bytes, now.Sub(shown))
		}
		shown, bytes = now, total
	}
}

func sum(counts []int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}
