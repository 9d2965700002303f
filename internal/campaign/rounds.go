package campaign

import (
	"time"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// Rounds is how many rounds the campaign has: the plan's and those added, without those missed.
func (c *Campaign) Rounds() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Plan.LastRound() + c.added
}

// RaiseRounds adds the rounds and levels that the plan has now and the campaign has not: a plan
// may be given more of them before the campaign goes on. It is an error of kind usage if there
// would be too many trials.
func (c *Campaign) RaiseRounds(now time.Time) error {
	if len(c.levels) > 0 {
		return c.addLevels(now)
	}
	if c.wanted <= c.planRounds() {
		return nil
	}
	more := max(c.roundsFor(c.wanted)-c.Missed()-c.Rounds(), 0)
	rec, err := c.roundsAdded(more, now)
	if err != nil {
		return err
	}
	rec.PlanRounds = c.wanted
	return c.write(rec)
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

// AddRounds adds rounds to the campaign, for good. They run after those that it
// has; an executor that runs the campaign goes on with them. Their order comes
// from the campaign's seed as that of all others. It may be called from anywhere
// while the campaign runs, also from [Executor.Watch]. The error is of kind usage
// if there would be too many trials, or as [journal.Journal] says.
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
func (c *Campaign) roundsAdded(n int, now time.Time) (journal.Record, error) {
	trials := n * c.Plan.TrialsOfRound()
	for round := c.Rounds() + 1; round <= min(c.Rounds()+n, c.Plan.LastRound()); round++ { // in place of one that was missed
		tests := len(schedule.NewRound(c.Plan, "", 0, round).Tests)
		trials -= c.Plan.PairsOfPatterns() * (c.Plan.TrialsOfTurn() - tests)
	}
	if n > plan.MaxTrials || c.Trials()+trials > plan.MaxTrials {
		return journal.Record{}, c.tooManyRounds(n)
	}
	return journal.Record{Kind: journal.RecordRoundsAdded, At: now.UTC(), Rounds: n, Trials: trials}, nil
}

func (c *Campaign) tooManyRounds(n int) *measure.Error {
	return measure.Fail(measure.KindUsage, "campaign.too_many_rounds", measure.Figures{
		"rounds": n, "trials": c.Plan.TrialsOfRound(), "campaign": c.ID(), "most": plan.MaxTrials,
	})
}

// Estimate is that of the plan, with the rounds that were added to it.
func (c *Campaign) Estimate(only plan.Selection) advice.Estimate {
	return advice.EstimateFrom(c.Plan, only, c.Rounds()-c.Plan.LastRound(), c.firstRound)
}
