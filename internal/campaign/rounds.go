package campaign

import (
	"iter"
	"time"

	"soku/internal/measure"
)

// Rounds is how many rounds the campaign has: the plan's and those added.
func (c *Campaign) Rounds() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Plan.LastRound() + c.added
}

// Trials is how many trials the whole campaign has.
func (c *Campaign) Trials() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trials
}

func (c *Campaign) setTrials(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trials = n
}

// Blocks are the campaign's trials in the order in which they are to run: the
// plan's, and then the rounds that were added to them. Rounds that are added
// while the blocks are read are among them.
func (c *Campaign) Blocks() iter.Seq[Block] {
	return c.Plan.blocks(c.ID(), c.Record.Seed, c.Rounds)
}

// AddRounds adds rounds to the campaign, for good. They run after those that it
// has; an executor that runs the campaign goes on with them. Their order comes
// from the campaign's seed as that of all others. It may be called from anywhere
// while the campaign runs, also from [Executor.Watch]. The error is of kind usage
// if there would be too many trials, or as [Journal] says.
func (c *Campaign) AddRounds(n int, now time.Time) error {
	perRound := c.Plan.trialsOfRound()
	if n < 1 || c.Trials()+n*perRound > maxTrials {
		return measure.Fail(measure.KindUsage, "campaign.too_many_rounds", measure.Figures{
			"rounds": n, "trials": perRound, "campaign": c.ID(), "most": maxTrials,
		})
	}
	return c.write(Record{Kind: RecordRoundsAdded, At: now.UTC(), Rounds: n, Trials: n * perRound})
}
