package trace

import (
	"cmp"
	"slices"
	"time"

	"soku/internal/measure"
)

const (
	// firstWave is how many probes go to a hop at once before it has answered.
	firstWave = 4
	// spacing is the time between waves to a hop that limits its answers, a little more
	// than Linux needs for one answer.
	spacing = 1050 * time.Millisecond
	// silentWave limits waves that nobody answers. Nobody's limit is exceeded by them.
	silentWave = 8
	// openWave is a size of waves at which a hop is no longer taken for one with a limit.
	openWave = 8
	// leastGrowth and mostGrowth are how many waves in a row must be answered entirely
	// before a hop with a limit gets a larger one.
	leastGrowth, mostGrowth = 2, 16
	// tries is how many probes without an answer, all telling, show that a hop is silent.
	tries = 3
	// refusals is how many probes without an answer show a limit rather than loss.
	refusals = 3
)

// hop is one distance: how many probes the nodes there answer, and the wave of probes under
// way. While all are answered, the next wave is twice as large and follows at once. If some
// are not, some of these are repeated. If the repeats are answered, the others were lost.
// Otherwise the nodes limit their answers: from then on a wave has as many probes as the one
// before had answers, and they are more than a second apart.
type hop struct {
	distance int
	size     int // of the next wave
	wave     *wave
	ready    time.Time // earliest start of the next wave
	lastSent time.Time
	answered bool // at any time
	owed     bool // no wave in this round so far
	limited  bool
	growth   int // entire waves that let the size grow
	entire   int // in a row
	barren   int // telling waves in a row that found nobody
	refused  int // probes not answered because of the limit
	granted  int // answers since the limit was found
	waves    int // since then
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
// once in the last round; and its answers are not spent on flows that nobody there answers.
func (t *tracer) allows(h *hop, c *cell) bool {
	if h.limited && (c.silent || t.round >= t.o.Count && !h.owed) {
		return false
	}
	return h.answered || h.owed
}

// asked returns the hops that may be probed now: one beyond the front, for longer paths.
func (t *tracer) asked() []*hop { return t.hops[:min(t.front+1, len(t.hops))] }

// advance ends waves that are over and starts the next ones.
func (t *tracer) advance(now time.Time) {
	for _, h := range t.hops {
		if h.wave != nil {
			t.judge(h, now)
		}
		if h.wave != nil || h.distance > t.front+1 || now.Before(h.ready) {
			continue
		}
		list := t.candidates(h)
		if len(list) == 0 {
			continue
		}
		h.owed = false
		h.wave = &wave{queue: list[:min(h.size, len(list))], began: now, last: now, limited: h.limited}
	}
}

// end closes a wave whose probes were answered, or of which the answers to repeats show
// that they were lost.
func (t *tracer) end(h *hop, now time.Time, lost bool) {
	h.barren = 0
	full := len(h.wave.probes) >= min(h.size, len(t.flows))
	switch {
	case h.limited:
		h.ready = h.wave.began.Add(spacing)
		h.granted += len(h.wave.probes)
		h.waves++
		if full {
			h.entire++
		}
		if h.entire >= h.growth {
			h.entire, h.size = 0, 2*h.size
			h.limited = h.size < min(openWave, 2*len(t.flows))
		}
	default:
		h.ready = now
		if full && !lost {
			h.size = min(2*h.size, maxFlows)
		}
	}
	h.wave.due = !h.wave.limited
	t.close(h)
}

// limit closes a wave with probes that were not answered, even when repeated.
func (t *tracer) limit(h *hop, w *wave) {
	h.ready = w.began.Add(spacing)
	answered, refused, found, telling := 0, 0, false, false
	for i, s := range slices.Concat(w.probes, w.checks) {
		switch {
		case s.answered:
			answered++
			found = found || !s.known
		case i < len(w.probes): // a repeat has no new evidence
			telling = t.unseen(s) || telling
		}
		if !s.answered && !s.spaced {
			refused++
		}
	}
	if answered > 0 {
		h.refused += refused
	}
	switch {
	case found:
		h.barren = 0
	case telling:
		h.barren++
	}
	if h.barren >= tries {
		t.giveUp(h)
	}
	if h.answered {
		h.react(answered)
	}
	t.close(h)
}

// react sets the size of the next wave after one that was not answered entirely.
func (h *hop) react(answered int) {
	if h.limited {
		h.growth = min(2*h.growth, mostGrowth)
		h.granted += answered
		h.waves++
	}
	h.entire = 0
	if answered > 0 {
		h.size = answered
	} else {
		h.size = min(2*h.size, silentWave)
	}
	h.limited = answered < openWave
}

// unseen counts a probe of a flow not seen at this hop if its silence is telling.
func (t *tracer) unseen(s *sent) bool {
	c := &t.flows[s.flow].cells[s.hop-1]
	if c.last.IsValid() || !t.telling(s) {
		return false
	}
	c.tries++
	c.silent = c.tries >= tries
	return true
}

// giveUp marks the flows that were asked for in vain at a hop where nobody else was found.
func (t *tracer) giveUp(h *hop) {
	for _, f := range t.flows {
		c := &f.cells[h.distance-1]
		c.silent = c.silent || c.tries > 0 && !c.last.IsValid()
	}
}

// limits reports whether the nodes of a hop limit their answers, and to how many a second.
func (h *hop) limits() *measure.AnswerLimit {
	if !h.limited || h.refused < refusals || h.granted == 0 {
		return nil
	}
	return &measure.AnswerLimit{PerSecond: float64(h.granted) / (float64(h.waves) * spacing.Seconds())}
}
