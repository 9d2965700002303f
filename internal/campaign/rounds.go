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

// RaiseRounds adds the rounds that the plan has now and the campaign has not: a plan may be
// given more of them before the campaign goes on. It is an error of kind usage if there would
// be too many trials.
func (c *Campaign) RaiseRounds(now time.Time) error {
	if c.wanted <= c.planRounds() {
		return nil
	}
	more := max(c.wanted-c.Rounds(), 0)
	rec, err := c.roundsAdded(more, now)
	if err != nil {
		return err
	}
	rec.PlanRounds = c.wanted
	return c.write(rec)
}

// planRounds is how many rounds the plan had when the campaign last went on with more of them.
func (c *Campaign) planRounds() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(c.Plan.Rounds, c.raised)
}

// Trials is how many trials the whole campaign has.
func (c *Campaign) Trials() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trials
}

// recordedTrials is how many trials the campaign has by its journal.
func (c *Campaign) recordedTrials() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.recorded
}

func (c *Campaign) setTrials(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trials = n
}

// Blocks are the campaign's trials in the order in which they are to run: the
// plan's, and then the rounds that were added to them. Rounds that are added
// while the blocks are read are among them. Of a plan with find they are those that the
// results so far ask for: the next one is known when the one before has its results.
func (c *Campaign) Blocks() iter.Seq[Block] {
	if c.Plan.Searches() {
		return func(yield func(Block) bool) { c.search(yield) }
	}
	return GrowingBlocks(c.Plan, c.ID(), c.Record.Seed, c.Rounds)
}

// AddRounds adds rounds to the campaign, for good. They run after those that it
// has; an executor that runs the campaign goes on with them. Their order comes
// from the campaign's seed as that of all others. It may be called from anywhere
// while the campaign runs, also from [Executor.Watch]. The error is of kind usage
// if there would be too many trials, or as [Journal] says.
func (c *Campaign) AddRounds(n int, now time.Time) error {
	rec, err := c.roundsAdded(n, now)
	if err == nil && n < 1 {
		err = c.tooManyRounds(n)
	}
	if err != nil {
		return err
	}
	return c.write(rec)
}

// roundsAdded is the record of n further rounds.
func (c *Campaign) roundsAdded(n int, now time.Time) (Record, error) {
	trials := n * c.Plan.trialsOfRound()
	if n > maxTrials || c.Trials()+trials > maxTrials {
		return Record{}, c.tooManyRounds(n)
	}
	return Record{Kind: RecordRoundsAdded, At: now.UTC(), Rounds: n, Trials: trials}, nil
}

func (c *Campaign) tooManyRounds(n int) *measure.Error {
	return measure.Fail(measure.KindUsage, "campaign.too_many_rounds", measure.Figures{
		"rounds": n, "trials": c.Plan.trialsOfRound(), "campaign": c.ID(), "most": maxTrials,
	})
}

// Estimate is that of the plan, with the rounds that were added to it.
func (c *Campaign) Estimate(only Selection) Estimate {
	return EstimateWith(c.Plan, only, c.Rounds()-c.Plan.LastRound())
}
