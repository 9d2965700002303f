package connect

import (
	"time"

	"soku/internal/sock/pace"
)

// pacer waits for the times of a schedule on a goroutine locked to its thread: it sleeps
// until shortly before and then polls the clock for the duration spin, because a sleep
// ends late by about that much and the delay would count as latency.
type pacer struct {
	r       *run
	spin    int64
	release func() // restores the thread
}

func newPacer(r *run) *pacer {
	late, restore := pace.FineSleep()
	return &pacer{r: r, spin: int64(late), release: restore}
}

// until waits for a time of the schedule, or the end of the run, and returns the time
// then.
func (p *pacer) until(due int64) int64 {
	for {
		now := p.r.clock.now()
		left := due - now
		switch {
		case left <= 0, p.r.stop.Load():
			return now
		case left > p.spin:
			pace.Sleep(time.Duration(min(left-p.spin, int64(tick))))
		}
	}
}
