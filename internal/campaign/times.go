package campaign

import (
	"context"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/schedule"
)

// awaitRound waits until the time of a block's round, if the plan has times and the block has trials
// to run. Times follow each other from the beginning of the campaign on; the campaign's first round
// begins without waiting. A round that lasts longer misses the times until it ends. The campaign may
// have fewer rounds afterwards (see [Campaign.MissRounds]); missed is true if the block's is left out.
func (r *run) awaitRound(ctx context.Context, b schedule.Block) (missed bool, err error) {
	every := r.c.Plan.Every.Std()
	if every == 0 || r.timed == b.Round || len(r.due(b, nil)) == 0 {
		return false, nil
	}
	first := r.timed == 0
	r.timed = b.Round
	start := r.c.StartedAt.Round(0) // wall clock, also while a host sleeps
	if first && r.session.Number == 1 {
		r.setLastRound(start, b.Round)
		return false, nil
	}
	if n, err := r.c.missRounds(r.Now(), b.Round); err != nil {
		return false, err
	} else if n > 0 {
		// These may have been the last trials that were left.
		if err := r.Store.PutCampaign(context.WithoutCancel(ctx), r.c.Entry()); err != nil {
			return false, err
		}
		r.count()
		r.emit(Event{Kind: EventRoundsMissed, Missed: n})
	}
	if b.Round > r.c.Rounds() {
		return true, nil
	}
	slot := r.c.nextTime(r.Now())
	times := slot - r.slot - 1
	if first { // another run was before
		times = 0
	}
	r.slot = slot
	next := start.Add(time.Duration(slot) * every)
	r.setLastRound(next, b.Round)
	r.emit(Event{Kind: EventRoundAwaited, Round: b.Round, At: next, Missed: times})
	for left := next.Sub(r.Now()); left > 0; left = next.Sub(r.Now()) {
		// Timers stop while a host sleeps.
		if pause(ctx, min(left, time.Minute)); ctx.Err() != nil {
			return false, r.interrupted(ctx)
		}
	}
	return false, nil
}

// setLastRound works out when the last round begins, if a round begins at the given time.
func (r *run) setLastRound(begins time.Time, round int) {
	left := r.c.Rounds() - round
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock.lastRound, r.clock.roundsLeft = begins.Add(time.Duration(left)*r.c.Plan.Every.Std()), left+1
}

// nextTime is the first time of rounds that has not passed, from 0.
func (c *Campaign) nextTime(now time.Time) int {
	every := c.Plan.Every.Std()
	return int(max(0, now.Sub(c.StartedAt.Round(0))+every-1) / every)
}

// Missed is how many rounds were left out, because their times passed.
func (c *Campaign) Missed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.missed
}

// MissRounds leaves out rounds whose times have passed, if the plan says until when rounds begin
// (for): the campaign ends then. A round that has begun stays, as do those that were added by number.
func (c *Campaign) MissRounds(now time.Time) error {
	_, err := c.missRounds(now, 1)
	return err
}

// missRounds is MissRounds before the given round, and returns how many it left out.
func (c *Campaign) missRounds(now time.Time, round int) (int, error) {
	if c.Plan.For == 0 {
		return 0, nil
	}
	begun := max(c.begun(), round-1)
	taken := begun + c.Missed()
	n := min(c.nextTime(now)-taken, c.roundsFor(c.planRounds())-taken, c.Rounds()-max(begun, 1))
	if n <= 0 {
		return 0, nil
	}
	rec := journal.Record{Kind: journal.RecordRoundsMissed, At: now.UTC(), Rounds: n}
	for b := range c.Blocks() {
		if b.Round > c.Rounds()-n {
			rec.Trials += b.Len
		}
	}
	return n, c.write(rec)
}
