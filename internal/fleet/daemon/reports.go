package daemon

import (
	"encoding/json"
	"sync"
	"time"

	"soku/internal/fleet"
	"soku/internal/measure"
)

// Bounds of the progress of a trial that is sent to the hub.
const (
	progressEvery = 900 * time.Millisecond // of live intervals of 1 s each is sent
	progressBytes = 1 << 10
)

// reports are what a trial tells the hub while it runs. A report is lost where there is no
// connection; the last one that matters is repeated on the next.
type reports struct {
	publish func(fleet.TrialReport) // does not wait

	mu    sync.Mutex
	state fleet.TrialReport // ready or started
	last  time.Time         // when progress was sent
	sent  measure.Direction // of that
	other bool              // another direction has been seen since
}

// set sends that the trial is ready or has started.
func (r *reports) set(state fleet.TrialReport) {
	r.mu.Lock()
	r.state = state
	r.mu.Unlock()
	r.publish(state)
}

// repeat sends the state again.
func (r *reports) repeat() {
	r.mu.Lock()
	state := r.state
	r.mu.Unlock()
	if state.Ready || state.Started {
		r.publish(state)
	}
}

// progress sends a live interval, unless one was sent within the last second. Of a trial in two
// directions each gets its turn.
func (r *reports) progress(p measure.Progress, now time.Time) {
	r.mu.Lock()
	due := now.Sub(r.last) >= progressEvery
	if p.Direction != r.sent {
		r.other = true
	} else if r.other && due {
		due = false // that of the other direction comes next
		r.other = false
	}
	if due {
		r.last, r.sent, r.other = now, p.Direction, false
	}
	r.mu.Unlock()
	if due {
		r.publish(fleet.TrialReport{Progress: short(p)})
	}
}

// short is p without the parts that would make it too long, or nil.
func short(p measure.Progress) *measure.Progress {
	for range 2 {
		if b, err := json.Marshal(p); err == nil && len(b) <= progressBytes {
			return &p
		}
		if p.Streams == nil {
			p.RTT, p.Copy = nil, nil
		}
		p.Streams = nil
	}
	p.RTT, p.Copy = nil, nil
	return &p
}
