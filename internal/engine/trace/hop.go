package trace

import (
	"cmp"
	"slices"
	"time"

	"soku/internal/engine/probe"
	"soku/internal/measure"
)

const (
	// firstWave is the number of probes that are sent to a hop together before it has answered.
	firstWave = 4
	// mostSilentWave is the largest wave after one without any answer.
	mostSilentWave = 8
	// unlimitedWave is a size of waves at which a hop is no longer taken for one with a limit.
	unlimitedWave = 8
	// leastGrowth and mostGrowth are how many waves in a row must be answered entirely
	// before a hop with a limit gets a larger one.
	leastGrowth, mostGrowth = 2, 16
	// silentAfter is how many conclusive probes without an answer show that a hop is silent.
	silentAfter = 3
	// leastUnanswered is how many probes without an answer show a limit rather than loss.
	leastUnanswered = 3
)

// hop is one distance: how many probes the nodes there answer, and the wave of probes under
// way. While all are answered, the next wave is twice as large and follows immediately. If some
// are not, some of these are repeated. If the repeats are answered, the others were lost.
// Otherwise the nodes limit their answers: from then on a wave has as many probes as the one
// before had answers, and they are more than a second apart.
type hop struct {
	distance    int
	size        int // of the next wave
	wave        *wave
	ready       time.Time // earliest start of the next wave
	lastSent    time.Time
	answered    bool // at any time
	unprobed    bool // no wave in this round so far
	limited     bool
	growth      int // entire waves that let the size grow
	entire      int // waves in a row that were answered entirely
	silentWaves int // conclusive waves in a row that found no other node
	unanswered  int // probes without an answer because of the limit
	answers     int // since the limit was found
	waves       int // since then
}

func newHop(distance int) *hop {
	return &hop{distance: distance, size: firstWave, growth: leastGrowth}
}

// candidates returns the flows to probe at a hop, those not seen there first.
func (t *tracer) candidates(h *hop) []int {
	var list []int
	closing := t.closing()
	for i, f := range t.flows {
		c := &f.cells[h.distance-1]
		if c.open > 0 || h.distance > t.last(f) || t.toTarget(f, h.distance) || t.scan != nil && t.scan.flow == f {
			continue
		}
		unknown := t.unknown(f, h.distance)
		switch {
		case unknown && !closing && t.first(f, h.distance), !unknown && c.wanted && t.allows(h, c):
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int {
		return cmp.Or(t.order(a, h.distance)-t.order(b, h.distance), int(t.flows[a].cells[h.distance-1].sent-t.flows[b].cells[h.distance-1].sent))
	})
	return list
}

// order is 0 for a flow not seen at a hop.
func (t *tracer) order(flow, hop int) int {
	if t.unknown(t.flows[flow], hop) {
		return 0
	}
	return 1
}

// allows reports whether a known cell may be probed again. A hop with a limit has its turn
// once in the last round; flows that get no answer there use none of its answers.
func (t *tracer) allows(h *hop, c *cell) bool {
	if h.limited && (c.silent || t.round >= t.o.Count && !h.unprobed) {
		return false
	}
	return h.answered || h.unprobed
}

// asked returns the hops that may be probed now: one beyond the front, for longer paths.
func (t *tracer) asked() []*hop { return t.hops[:min(t.front+1, len(t.hops))] }

// advance ends waves that are over and starts the next ones.
func (t *tracer) advance(now time.Time) {
	for _, h := range t.hops {
		if h.wave != nil {
			t.evaluate(h, now)
		}
		if h.wave != nil || h.distance > t.front+1 || now.Before(h.ready) {
			continue
		}
		list := t.candidates(h)
		if len(list) == 0 {
			continue
		}
		h.unprobed = false
		h.wave = &wave{queue: list[:min(h.size, len(list))], began: now, last: now, limited: h.limited}
	}
}

// end closes a wave whose probes were answered, or of which the answers to repeats show
// that they were lost.
func (t *tracer) end(h *hop, now time.Time, lost bool) {
	h.silentWaves = 0
	full := len(h.wave.probes) >= min(h.size, len(t.flows))
	switch {
	case h.limited:
		h.ready = h.wave.began.Add(probe.ErrorSpacing)
		h.answers += len(h.wave.probes)
		h.waves++
		if full {
			h.entire++
		}
		if h.entire >= h.growth {
			h.entire, h.size = 0, 2*h.size
			h.limited = h.size < min(unlimitedWave, 2*len(t.flows))
		}
	default:
		h.ready = now
		if full && !lost {
			h.size = min(2*h.size, probe.MaxFlows)
		}
	}
	h.wave.due = !h.wave.limited
	t.close(h)
}

// limit closes a wave with probes that were not answered, even when repeated.
func (t *tracer) limit(h *hop, w *wave) {
	h.ready = w.began.Add(probe.ErrorSpacing)
	answered, unanswered, found, conclusive := 0, 0, false, false
	for i, s := range slices.Concat(w.probes, w.checks) {
		switch {
		case s.answered:
			answered++
			found = found || !s.known
		case i < len(w.probes): // a repeat has no new evidence
			conclusive = t.countSilence(s) || conclusive
		}
		if !s.answered && !s.spaced {
			unanswered++
		}
	}
	if answered > 0 {
		h.unanswered += unanswered
	}
	switch {
	case found:
		h.silentWaves = 0
	case conclusive:
		h.silentWaves++
	}
	if h.silentWaves >= silentAfter {
		t.markSilent(h)
	}
	if h.answered {
		h.resize(answered)
	}
	t.close(h)
}

// resize sets the size of the next wave after one that was not answered entirely.
func (h *hop) resize(answered int) {
	if h.limited {
		h.growth = min(2*h.growth, mostGrowth)
		h.answers += answered
		h.waves++
	}
	h.entire = 0
	if answered > 0 {
		h.size = answered
	} else {
		h.size = min(2*h.size, mostSilentWave)
	}
	h.limited = answered < unlimitedWave
}

// countSilence counts a probe of a flow not seen at this hop, if its silence is conclusive.
func (t *tracer) countSilence(s *sent) bool {
	c := &t.flows[s.flow].cells[s.hop-1]
	if c.last.IsValid() || !t.conclusive(s) {
		return false
	}
	c.silences++
	c.silent = c.silences >= silentAfter
	return true
}

// markSilent marks the flows that got no answer at a hop where no other node was found.
func (t *tracer) markSilent(h *hop) {
	for _, f := range t.flows {
		c := &f.cells[h.distance-1]
		c.silent = c.silent || c.silences > 0 && !c.last.IsValid()
	}
}

// limits reports whether the nodes of a hop limit their answers, and to how many a second.
func (h *hop) limits() *measure.AnswerLimit {
	if !h.limited || h.unanswered < leastUnanswered || h.answers == 0 {
		return nil
	}
	return &measure.AnswerLimit{PerSecond: float64(h.answers) / (float64(h.waves) * probe.ErrorSpacing.Seconds())}
}
