package campaign

import (
	"math"
	"time"

	"soku/internal/campaign/plan"
)

// Enough is how a campaign with until stands after its rounds.
type Enough struct {
	Reached bool
	Narrow  bool // as the interval of the plan asks for; true without one
	// Limit is why it has no more rounds although it needs them; empty while it goes on.
	Limit string
	Width
	Decisions
}

// Why a campaign has no more rounds: max_rounds of [plan.Until], the time of [plan.Budget], that no trial succeeded, or that a single
// pattern has figures where patterns are to be compared.
const (
	LimitRounds = "max_rounds"
	LimitTime   = "max_time"
	LimitFailed = "failed"
	LimitSingle = "single"
)

// Enough reports whether the intervals of the selected patterns are narrow and their
// comparisons decided, as the plan asks for. elapsed is the time of all runs of the campaign, and
// a round takes perRound. The result is nil without until. The first interim analysis of intervals
// is after 8 rounds, that of comparisons after 6: an earlier one ends campaigns by chance.
func (c *Campaign) Enough(only plan.Selection, elapsed, perRound time.Duration) *Enough {
	u, most := c.Plan.Until, c.Plan.Budget.Time.Std()
	if !u.Adds() {
		return nil
	}
	rounds := c.Rounds()
	c.mu.Lock()
	width, fewest := c.figures.widest(only, u.Tests)
	compared := c.compared(only)
	c.mu.Unlock()
	e := &Enough{Width: width}
	looked := fewest >= u.FirstAnalysis()
	e.Narrow = u.Interval == 0 || looked && width.Ratio <= float64(u.Interval)
	if u.Decided && looked {
		e.Decisions = compared.decide(u.InterimAnalyses(rounds), c.Plan.PracticalThreshold(), u.Against)
	}
	switch {
	case fewest == 0:
		e.Limit = LimitFailed
	case u.Decided && looked && e.Compared == 0:
		e.Limit = LimitSingle
	case looked && e.Narrow && e.Open == 0:
		e.Reached = true
	case rounds >= u.Most():
		e.Limit = LimitRounds
	case most > 0 && elapsed+perRound > most:
		e.Limit = LimitTime
	}
	return e
}

// width is half of the widest interval over its mean; 0 without until, and while it is
// unknown.
func (c *Campaign) width(only plan.Selection) float64 {
	if c.Plan.Until.Interval == 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if w, _ := c.figures.widest(only, c.Plan.Until.Tests); !math.IsInf(w.Ratio, 0) {
		return w.Ratio
	}
	return 0
}

// goesOn reports whether more rounds are needed and allowed.
func (e *Enough) goesOn() bool { return e != nil && !e.Reached && e.Limit == "" }

// Unfinished reports whether a campaign that has run all its rounds needs more of them.
func (c *Campaign) Unfinished(only plan.Selection) bool {
	done, _ := c.Done()
	return done > 0 && c.Enough(only, c.Worked(), c.Worked()/time.Duration(c.Rounds())).goesOn()
}
