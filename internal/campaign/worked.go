package campaign

import (
	"time"

	"soku/internal/campaign/journal"
)

// worked is how long the runs of a campaign took, as far as its journal shows: from the
// start of each to its last record.
type worked struct {
	before      time.Duration // of the runs before the last one
	began, last time.Time
}

func (w *worked) learn(rec journal.Record) {
	switch {
	case rec.Kind == journal.RecordStarted:
		w.before = w.total()
		w.began, w.last = rec.At, rec.At
	case rec.Kind == journal.RecordRoundsAdded, rec.Kind == journal.RecordRoundsMissed: // also while nothing runs
	case rec.At.After(w.last) && !w.began.IsZero():
		w.last = rec.At
	}
}

func (w *worked) total() time.Duration { return w.before + max(0, w.last.Sub(w.began)) }
