package campaign

import (
	"cmp"
	"math"
	"slices"
	"time"

	"soku/internal/measure"
	"soku/internal/stats"
	"soku/internal/yamlfile"
)

// Until is when a campaign has enough rounds: it adds rounds to those of its plan until the
// interval of every pattern is narrow, or every comparison is decided, or both. With neither
// it adds none.
type Until struct {
	Interval  measure.Percent `yaml:"interval" doc:"Add rounds until the 95 % interval of every pattern reaches by at most this to either side of its mean, such as 2%"`
	Decided   bool            `yaml:"decided" doc:"Add rounds until every comparison shows a difference, or rules out one as large as practical"`
	Against   stats.Against   `yaml:"against" doc:"Which comparisons have to be decided: of all patterns with the best, whichever that is (best, the default), with the first one of the plan (first), or of every pair (all)"`
	MaxRounds int             `yaml:"max_rounds" min:"8" max:"10000" doc:"At most so many rounds in all; default 40, with decided none: each look then takes more evidence"`
	Tests     []string        `yaml:"tests" doc:"Labels of the tests that count; default all"`
}

// DefaultMaxRounds is how many rounds a campaign has at most that goes on until its intervals
// are narrow, where the plan does not say.
const DefaultMaxRounds = 40

// mostRounds is how many rounds a campaign has at most, whatever its plan says.
const mostRounds = 10_000

// Adds reports whether the campaign adds rounds to those of its plan.
func (u *Until) Adds() bool { return u.Interval > 0 || u.Decided }

// most is how many rounds a campaign has at most.
func (u *Until) most() int { return cmp.Or(u.MaxRounds, mostRounds) }

// firstLook is after how many rounds the campaign may have enough of them.
func (u *Until) firstLook() int {
	if u.Interval > 0 {
		return max(stats.FirstIntervalLook, stats.FirstLook)
	}
	return stats.FirstLook
}

// Looks returns the interim analyses of a campaign of that many rounds.
func (u *Until) Looks(rounds int) stats.Looks {
	switch {
	case !u.Decided:
		return stats.Looks{}
	case u.MaxRounds == 0:
		return stats.LooksUpTo(0)
	}
	return stats.LooksUpTo(max(u.MaxRounds, rounds))
}

func (p *Plan) checkUntil(d *yamlfile.File) error {
	u := &p.Until
	switch {
	case !u.Adds() && (u.MaxRounds > 0 || len(u.Tests) > 0 || u.Against != ""):
		return d.LocateAt("until", measure.Fail(measure.KindFile, "campaign.until_without_interval", nil))
	case !u.Adds():
		return nil
	case u.Against != "" && !u.Decided:
		return d.LocateAt("until.against", measure.Fail(measure.KindFile, "campaign.until_against_undecided", nil))
	case u.Decided && !p.Compares(nil):
		return d.LocateAt("until.decided", measure.Fail(measure.KindFile, "campaign.until_one_pattern", nil))
	}
	if known := []string{string(stats.AgainstBest), string(stats.AgainstFirst), string(stats.AgainstAll)}; u.Against != "" && !slices.Contains(known, string(u.Against)) {
		unknown := measure.Fail(measure.KindFile, "campaign.until_against", measure.Figures{"against": yamlfile.Shorten(string(u.Against)), "known": known})
		return d.LocateAt("until.against", unknown)
	}
	u.Against = cmp.Or(u.Against, stats.AgainstBest)
	if u.MaxRounds == 0 && !u.Decided {
		u.MaxRounds = max(DefaultMaxRounds, p.LastRound())
	}
	if rounds := p.LastRound(); rounds > u.most() {
		return d.LocateAt("until.max_rounds", measure.Fail(measure.KindFile, "campaign.until_rounds", measure.Figures{"rounds": rounds, "most": u.most()}))
	}
	for _, label := range u.Tests {
		if !slices.Contains(p.Tests.Names(), label) {
			unknown := measure.Fail(measure.KindFile, "campaign.no_test_label", measure.Figures{"label": yamlfile.Shorten(label)})
			return d.LocateAt("until.tests", suggest(unknown, label, p.Tests.Names(), "campaign.test_labels_are"))
		}
	}
	return nil
}

// UntilEstimate is the estimate of a plan with until for the fewest and for the most rounds;
// false without until.
func (p *Plan) UntilEstimate(only Selection) (fewest, most Estimate, ok bool) {
	if !p.Until.Adds() {
		return fewest, most, false
	}
	last := p.LastRound()
	return p.estimate(only, max(0, p.Until.firstLook()-last)), p.estimate(only, p.Until.most()-last), true
}

// FewestRounds is how many rounds a campaign with until has at least.
func (p *Plan) FewestRounds() int { return max(p.Until.firstLook(), p.LastRound()) }

// MostRounds is how many rounds a campaign with until has at most.
func (p *Plan) MostRounds() int { return p.Until.most() }

// decidesByFigures reports whether what runs next depends on what was measured.
func (p *Plan) decidesByFigures() bool { return p.Until.Adds() || p.Searches() }

// Enough is how a campaign with until stands after its rounds.
type Enough struct {
	Reached bool
	Narrow  bool // as the interval of the plan asks for; true without one
	// Limit is why it has no more rounds although it needs them; empty while it goes on.
	Limit string
	Width
	Decisions
}

// Why a campaign has no more rounds: max_rounds of [Until], the time of [Budget], that no trial succeeded, or that a single
// pattern has figures where patterns are to be compared.
const (
	LimitRounds = "max_rounds"
	LimitTime   = "max_time"
	LimitFailed = "failed"
	LimitSingle = "single"
)

// Enough reports whether the intervals of the selected patterns are narrow and their
// comparisons decided, as the plan asks for, after so much time of all runs of the campaign,
// where a round takes perRound. It is nil without until. The first look is after 8 rounds at
// intervals, and after 6 at comparisons: looking earlier ends campaigns by chance.
func (c *Campaign) Enough(only Selection, elapsed, perRound time.Duration) *Enough {
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
	looked := fewest >= u.firstLook()
	e.Narrow = u.Interval == 0 || looked && width.Ratio <= float64(u.Interval)
	if u.Decided && looked {
		e.Decisions = compared.decide(u.Looks(rounds), c.Plan.PracticalThreshold(), u.Against)
	}
	switch {
	case fewest == 0:
		e.Limit = LimitFailed
	case u.Decided && looked && e.Compared == 0:
		e.Limit = LimitSingle
	case looked && e.Narrow && e.Open == 0:
		e.Reached = true
	case rounds >= u.most():
		e.Limit = LimitRounds
	case most > 0 && elapsed+perRound > most:
		e.Limit = LimitTime
	}
	return e
}

// width is half of the widest interval over its mean; 0 without until, and while it is
// unknown.
func (c *Campaign) width(only Selection) float64 {
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
func (c *Campaign) Unfinished(only Selection) bool {
	done, _ := c.Done()
	return done > 0 && c.Enough(only, c.Worked(), c.Worked()/time.Duration(c.Rounds())).goesOn()
}

// extend adds the rounds that the plan's until asks for, once all that the campaign has are
// over. It returns false if there are none. While trials are left that could not run, none
// are added.
func (r *run) extend() (bool, error) {
	perRound := r.workedBefore / time.Duration(r.c.Rounds())
	if r.roundsRun > 0 {
		perRound = r.Now().Sub(r.began) / time.Duration(r.roundsRun)
	}
	r.out.Enough = r.c.Enough(r.Only, r.elapsed(), perRound)
	if r.out.Skipped > 0 || !r.out.Enough.goesOn() {
		return false, nil
	}
	more, most := 1, r.c.Plan.Budget.Time
	if first := r.c.Plan.Until.firstLook() - r.c.Rounds(); first > 1 && (most == 0 || r.elapsed()+time.Duration(first)*perRound <= most.Std()) {
		more = first // nothing is decided before
	}
	return true, r.c.AddRounds(more, r.Now())
}
