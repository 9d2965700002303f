package campaign

import (
	"context"
	"time"

	"soku/internal/campaign/schedule"
)

// awaitRound waits until the time of a block's round, if the plan has times and the block has trials
// to run. Times follow each other from the beginning of the campaign on; the campaign's first round
// begins without waiting. A round that lasts longer misses the times until it ends.
func (r *run) awaitRound(ctx context.Context, b schedule.Block) error {
	every := r.c.Plan.Every.Std()
	if every == 0 || r.timed == b.Round || len(r.due(b, nil)) == 0 {
		return nil
	}
	first := r.timed == 0
	r.timed = b.Round
	start := r.c.StartedAt.Round(0) // wall clock, also while a host sleeps
	if first && r.session.Number == 1 {
		r.setLastRound(start, b.Round)
		return nil
	}
	slot := int64((r.Now().Sub(start) + every - 1) / every)
	missed := int(slot - r.slot - 1)
	if first { // another run was before
		missed = 0
	}
	r.slot = slot
	next := start.Add(time.Duration(slot) * every)
	r.setLastRound(next, b.Round)
	r.emit(Event{Kind: EventRoundAwaited, Round: b.Round, At: next, Missed: missed})
	for left := next.Sub(r.Now()); left > 0; left = next.Sub(r.Now()) {
		// Timers stop while a host sleeps.
		if pause(ctx, min(left, time.Minute)); ctx.Err() != nil {
			return r.interrupted(ctx)
		}
	}
	return nil
}

// setLastRound works out when the last round begins, if a round begins at the given time.
func (r *run) setLastRound(begins time.Time, round int) {
	left := r.c.Rounds() - round
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock.lastRound, r.clock.roundsLeft = begins.Add(time.Duration(left)*r.c.Plan.Every.Std()), left+1
}
