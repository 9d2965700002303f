package campaign

import "time"

// lull is the time between the first end of trials that began together and the next
// starts: hosts of an arranged block wait for each other for a part of a trial.
type lull struct {
	since  time.Time     // the first of them ended; zero: there is none
	began  time.Time     // the first of them began
	length time.Duration // of a trial, as planned
}

// most is how long hosts wait.
func (l lull) most() time.Duration { return l.length / 4 }

// left is how long the hosts of an arranged block still wait for those whose trials began
// with one that has ended; 0 where nothing else is to come free in time, or is wanted.
func (g *gathering) lullLeft() time.Duration {
	l := g.lull
	if l.since.IsZero() {
		return 0
	}
	left := l.most() - time.Since(l.since)
	for o := range g.ongoing {
		if o.length == l.length && o.began.Sub(l.began).Abs() <= l.most() && left > 0 && g.queue.wantsBusyHosts() {
			return left
		}
	}
	g.lull = lull{}
	return 0
}
