package connect

import "time"

// pacer waits for the points of a schedule on a goroutine locked to its
// thread: it sleeps while they are far and looks at the clock without sleeping
// for the last spin, because a sleep ends late by about that much and the
// lateness would count as latency.
type pacer struct {
	r       *run
	spin    int64
	sleep   func(ns int64)
	release func() // gives the thread back as it was
}

// timerSpin is about how late a timer of the Go runtime fires.
const timerSpin = int64(time.Millisecond)

func newPacer(r *run) *pacer {
	p := &pacer{r: r, spin: timerSpin, sleep: func(ns int64) { time.Sleep(time.Duration(ns)) }, release: func() {}}
	p.ownThread()
	return p
}

// until waits for a point of the schedule, or the end of the run, and returns
// the time then.
func (p *pacer) until(due int64) int64 {
	for {
		now := p.r.clock.now()
		left := due - now
		switch {
		case left <= 0, p.r.stop.Load():
			return now
		case left > p.spin:
			p.sleep(min(left-p.spin, int64(tick)))
		}
	}
}
