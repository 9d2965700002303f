package campaign

import (
	"slices"
	"time"

	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// Addition is levels that were added to the plan of a campaign after it had begun. Rounds from
// FirstRound on have them with all other levels, so that what is compared was measured in the same rounds.
type Addition struct {
	Levels     []measure.Level
	FirstRound int
}

// addition is an Addition as the campaign works with it.
type addition struct {
	Addition
	text   string     // of the plan with the levels
	before *plan.Plan // the campaign's plan, with the patterns of the rounds before
}

// Additions are the levels that were added to the campaign, in the order of their rounds.
func (c *Campaign) Additions() []Addition {
	out := make([]Addition, len(c.additions))
	for i, a := range c.additions {
		out[i] = a.Addition
	}
	return out
}

// readAdditions works out which levels were added to the plan that the campaign began with, and
// returns the last plan that the journal has.
func (c *Campaign) readAdditions(recorded *plan.Plan) (last *plan.Plan, err error) {
	last = recorded
	for i := range c.additions {
		p, err := plan.ParseRecorded(c.Record.File, []byte(c.additions[i].text))
		if err != nil {
			return nil, err
		}
		c.additions[i].Levels, last = p.AddedTo(last), p
	}
	return last, nil
}

// restrict gives each addition the plan of the rounds before it.
func (c *Campaign) restrict() {
	later := c.levels
	for i := len(c.additions) - 1; i >= 0; i-- {
		a := &c.additions[i]
		later = append(later[:len(later):len(later)], a.Levels...)
		a.before = c.Plan.Without(later)
	}
}

// planOf is the plan of a round: without the levels that were added later.
func (c *Campaign) planOf(round int) *plan.Plan {
	for _, a := range c.additions {
		if round < a.FirstRound {
			return a.before
		}
	}
	return c.Plan
}

// firstRound is the first round of the patterns with the levels.
func (c *Campaign) firstRound(levels []measure.Level) int {
	first := 1
	for _, a := range c.additions {
		for _, l := range a.Levels {
			if slices.Contains(levels, l) {
				first = a.FirstRound
			}
		}
	}
	return first
}

// roundsFor is how many rounds the campaign has where the levels that were added last have n.
func (c *Campaign) roundsFor(n int) int {
	if last := len(c.additions) - 1; last >= 0 {
		n += c.additions[last].FirstRound - 1
	}
	return n
}

// addLevels adds the levels that the plan has now: they are in the rounds that have not begun, and
// rounds are added until each level has those of the plan.
func (c *Campaign) addLevels(now time.Time) error {
	whole, before := *c.Plan, c.Plan.Without(c.levels)
	whole.Rounds = c.wanted
	first := c.begun() + 1
	rounds := c.Rounds()
	more := max(0, first-1+whole.LastRound()-rounds)
	rec, err := c.roundsAdded(more, now)
	if err != nil {
		return err
	}
	added := c.Plan.PairsOfPatterns() - before.PairsOfPatterns()
	for round := first; round <= rounds; round++ {
		rec.Trials += added * len(schedule.NewRound(c.Plan, "", 0, round).Tests)
	}
	if c.Trials()+rec.Trials > plan.MaxTrials {
		return c.tooManyRounds(more)
	}
	rec.FromRound, rec.Text = first, string(c.Plan.Text)
	if c.wanted > c.planRounds() {
		rec.PlanRounds = c.wanted
	}
	if err := c.write(rec); err != nil {
		return err
	}
	c.additions[len(c.additions)-1].Levels, c.levels = c.levels, nil
	c.restrict()
	return nil
}

// begun is the last round that has a result, or 0 if no round has one.
func (c *Campaign) begun() (round int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k := range c.outcomes.of {
		round = max(round, int(k.round))
	}
	return round
}
