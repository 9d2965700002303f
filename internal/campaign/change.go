package campaign

import (
	"context"
	"slices"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// HandChange is a change that a person makes.
type HandChange struct {
	Levels []measure.Level // that differ from those before
	Number int             // among the changes of this run, from 1
	Of     int             // changes that this run needs, or 0 if searches decide
}

// changeByHand waits until a person has confirmed the levels that a block needs. At the
// start of a run nothing is known about them, so they are confirmed then, too.
func (r *run) changeByHand(ctx context.Context, b schedule.Block) error {
	levels := r.c.Plan.HandLevels(b.Pattern)
	if len(levels) == 0 || slices.Equal(levels, r.byHand) {
		return nil
	}
	if r.Confirm == nil {
		return r.c.Plan.NoTerminal(levels)
	}
	var change []measure.Level
	for _, l := range levels {
		if !slices.Contains(r.byHand, l) {
			change = append(change, l)
		}
	}
	confirmed, err := r.Confirm(ctx, HandChange{Levels: change, Number: r.changes + 1, Of: r.allChanges})
	if err != nil {
		if ctx.Err() != nil {
			return r.interrupted(ctx)
		}
		return err
	}
	r.byHand = levels
	r.changes++
	return r.c.write(journal.Record{Kind: journal.RecordChanged, At: r.Now().UTC(), Change: &journal.ChangeRecord{Levels: levels, Confirmed: confirmed}})
}
