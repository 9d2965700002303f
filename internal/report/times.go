package report

import (
	"time"

	"soku/internal/measure"
)

// Times are the times at which rounds were to begin, of a plan that has them (every).
type Times struct {
	Missed int `json:"missed"` // at which no round began
	Of     int `json:"of"`
}

// timesOf counts the times at which no round began: nothing ran, or the round before lasted longer.
// It returns nil if there is none. A campaign that goes on has the times until its newest round, a
// finished one also those of its plan. A round that a later run went on with began twice. The first
// round begins with the campaign: what its first trial waits for, such as a command before it, the
// first trials of the others wait for, too.
func timesOf(results []*measure.Result, c Meta, d Design) *Times {
	if d.Every == 0 {
		return nil
	}
	type round struct{ session, number int }
	begun := map[round]bool{}
	slots := map[time.Duration]bool{}
	last, delay := time.Duration(0), time.Duration(0)
	for _, r := range results { // in the order of their start
		if r.Trial == nil || r.Origin != nil {
			continue
		}
		of := round{number: r.Trial.Round}
		if r.Trial.Session != nil {
			of.session = r.Trial.Session.Number
		}
		if begun[of] {
			continue
		}
		if len(begun) == 0 && of.number == 1 && of.session <= 1 {
			delay = max(0, r.StartedAt.Sub(c.StartedAt))
		}
		begun[of] = true
		// The clock of another host may be behind.
		slot := max(0, r.StartedAt.Sub(c.StartedAt)-delay+d.Every/10) / d.Every
		slots[slot], last = true, max(last, slot)
	}
	t := Times{Of: int(last) + 1}
	if !c.FinishedAt.IsZero() {
		t.Of = max(t.Of, d.Times)
	}
	if t.Missed = t.Of - len(slots); t.Missed == 0 {
		return nil
	}
	return &t
}
