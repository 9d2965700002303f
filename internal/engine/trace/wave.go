package trace

import (
	"slices"
	"time"

	"soku/internal/engine/probe"
	"soku/internal/sock"
)

const (
	// leastChecks and mostChecks are how many probes immediately repeat unanswered ones of a
	// wave, to see whether those were lost.
	leastChecks, mostChecks = 3, 10
	// leastRefill is the shortest time between answers of a node that limits them: Linux has 100
	// ms for IPv6 and a second for IPv4.
	leastRefill = 100 * time.Millisecond
)

// wave is some probes to one hop, one after the other.
type wave struct {
	queue   []int // flows whose probe is to be sent
	probes  []*sent
	checks  []*sent // repeats
	checked bool    // checks were sent or are in the queue
	began   time.Time
	last    time.Time // when the last probe was sent
	limited bool      // by what was known of the hop
	closed  bool
	due     bool // an answer to each probe was due
}

// nextOfWave returns the next probe of the wave to a hop, nil if none may be sent now.
func (t *tracer) nextOfWave(h *hop) *sent {
	if h.wave == nil {
		return nil
	}
	for i, flow := range h.wave.queue {
		f := t.flows[flow]
		if f.serial && f.open > 0 {
			continue
		}
		w := h.wave
		w.queue = slices.Delete(w.queue, i, i+1)
		s := &sent{flow: flow, hop: h.distance, wave: w}
		w.last = sock.Now()
		if len(w.probes) == 0 {
			w.began = w.last
		}
		if w.checked {
			w.checks = append(w.checks, s)
		} else {
			w.probes = append(w.probes, s)
		}
		return s
	}
	return nil
}

// evaluate ends a wave whose outcome is known, or repeats its probes without an answer.
func (t *tracer) evaluate(h *hop, now time.Time) {
	w := h.wave
	if len(w.queue) > 0 {
		return
	}
	silent := w.silent(t)
	switch {
	case len(silent) == 0:
		t.end(h, now, w.checked)
	case now.Sub(w.last) < t.soft():
	case !w.checked && (h.answered && !h.limited || w.unexpectedlySilent(t)):
		t.repeat(w, silent, now)
	case !h.limited && w.passed():
		t.end(h, now, true)
	case now.Sub(w.began) >= probe.ErrorSpacing:
		t.limit(h, w)
	}
}

// passed reports whether most repeats were answered.
func (w *wave) passed() bool {
	answered := 0
	for _, s := range w.checks {
		if s.answered {
			answered++
		}
	}
	return answered >= 2 && 2*answered >= len(w.checks)
}

// unexpectedlySilent reports whether nothing of a wave was answered, although an answer to the
// first probe was due.
func (w *wave) unexpectedlySilent(t *tracer) bool {
	return w.probes[0].due(t) && !slices.ContainsFunc(w.probes, func(s *sent) bool { return s.answered })
}

// due reports whether the node had been left alone for long enough to answer. A probe of a
// flow not seen before may have had the answer instead.
func (s *sent) due(t *tracer) bool {
	at := t.flows[s.flow].cells[s.hop-1].last
	return s.spaced && s.known && t.responder(at).recent(s.at) == 0
}

// repeat sends probes without an answer again: as many as show whether a node has tokens
// left, which takes more the longer ago the probes were sent.
func (t *tracer) repeat(w *wave, silent []*sent, now time.Time) {
	w.checked = true
	n := max(len(silent), leastChecks+int(now.Sub(w.last)/leastRefill))
	for i := range min(n, mostChecks) {
		if s := silent[len(silent)-1-i%len(silent)]; !t.flows[s.flow].serial {
			w.queue = append(w.queue, s.flow)
		}
	}
}

// soft is how long answers are waited for before more is sent.
func (t *tracer) soft() time.Duration {
	const least = 60 * time.Millisecond
	return min(t.o.Timeout.Std(), probe.ErrorSpacing, max(least, 2*t.slowest))
}

// silent returns the probes without an answer, except those of flows that no node at this hop
// answers.
func (w *wave) silent(t *tracer) (list []*sent) {
	for _, s := range w.probes {
		if !s.answered && !t.flows[s.flow].cells[s.hop-1].silent {
			list = append(list, s)
		}
	}
	return list
}

func (t *tracer) close(h *hop) {
	w := h.wave
	h.wave, w.closed = nil, true
	for _, s := range slices.Concat(w.probes, w.checks) {
		if s.resolved {
			t.account(s)
		}
	}
}

// account counts a resolved probe whose wave is closed. It is lost only if an answer was due.
func (t *tracer) account(s *sent) {
	if s.number == 0 {
		return // not sent
	}
	c := &t.flows[s.flow].cells[s.hop-1]
	switch {
	case s.answered:
		if s.unlimited || s.spaced || s.wave != nil && s.wave.due {
			c.due++
		}
	case s.unlimited, c.last.IsValid() && t.responder(c.last).exceedsLimit(s.at), s.due(t) && t.responder(c.last).after(s.at, 2*t.soft()) > 0:
		c.due++
		c.lost++
	default:
		c.unanswered++
	}
}
