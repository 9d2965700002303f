package campaign

import (
	"math"
	"slices"
	"time"

	"soku/internal/measure"
	"soku/internal/stats"
	"soku/internal/yamlfile"
)

// Until is when a campaign has enough rounds: it adds rounds to those of its plan until the
// interval of every pattern is narrow. With an Interval of 0 it adds none.
type Until struct {
	Interval  measure.Percent  `yaml:"interval" doc:"Add rounds until the 95 % interval of every pattern reaches by at most this to either side of its mean, such as 2%"`
	MaxRounds int              `yaml:"max_rounds" min:"8" max:"10000" doc:"At most so many rounds in all; default 40"`
	MaxTime   measure.Duration `yaml:"max_time" doc:"Add no round that would end later than this, by the time of all runs of the campaign"`
	Tests     []string         `yaml:"tests" doc:"Labels of the tests whose intervals count; default all"`
}

// DefaultMaxRounds is how many rounds a campaign with until has at most, where the plan does
// not say.
const DefaultMaxRounds = 40

func (p *Plan) checkUntil(d *yamlfile.File) error {
	u := &p.Until
	switch {
	case u.Interval == 0 && (u.MaxRounds > 0 || u.MaxTime > 0 || len(u.Tests) > 0):
		return d.LocateAt("until", measure.Fail(measure.KindFile, "campaign.until_without_interval", nil))
	case u.Interval == 0:
		return nil
	}
	if u.MaxRounds == 0 {
		u.MaxRounds = max(DefaultMaxRounds, p.LastRound())
	}
	if rounds := p.LastRound(); rounds > u.MaxRounds {
		return d.LocateAt("until.max_rounds", measure.Fail(measure.KindFile, "campaign.until_rounds", measure.Figures{"rounds": rounds, "most": u.MaxRounds}))
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
	if p.Until.Interval == 0 {
		return fewest, most, false
	}
	last := p.LastRound()
	return p.estimate(only, max(0, stats.FirstIntervalLook-last)), p.estimate(only, p.Until.MaxRounds-last), true
}

// decidesByFigures reports whether what runs next depends on what was measured.
func (p *Plan) decidesByFigures() bool { return p.Until.Interval > 0 || p.Searches() }

// Enough is how a campaign with until stands after its rounds.
type Enough struct {
	Reached bool
	// Limit is why it has no more rounds although the intervals are not narrow; empty while
	// it goes on.
	Limit string
	Width
}

// Why a campaign has no more rounds: a key of [Until], or that no trial succeeded.
const (
	LimitRounds = "max_rounds"
	LimitTime   = "max_time"
	LimitFailed = "failed"
)

// Enough reports whether the intervals of the selected patterns are narrow, after so much
// time of all runs of the campaign, where a round takes perRound. It is nil without until.
// The first look is after 8 rounds: looking earlier ends campaigns by chance.
func (c *Campaign) Enough(only Selection, elapsed, perRound time.Duration) *Enough {
	u := c.Plan.Until
	if u.Interval == 0 {
		return nil
	}
	rounds := c.Rounds()
	c.mu.Lock()
	width, fewest := c.figures.widest(only, u.Tests)
	c.mu.Unlock()
	e := &Enough{Width: width}
	switch {
	case fewest == 0:
		e.Limit = LimitFailed
	case fewest >= stats.FirstIntervalLook && width.Ratio <= float64(u.Interval):
		e.Reached = true
	case rounds >= u.MaxRounds:
		e.Limit = LimitRounds
	case u.MaxTime > 0 && elapsed+perRound > u.MaxTime.Std():
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
	more := 1
	if first, u := stats.FirstIntervalLook-r.c.Rounds(), r.c.Plan.Until; first > 1 && (u.MaxTime == 0 || r.elapsed()+time.Duration(first)*perRound <= u.MaxTime.Std()) {
		more = first // nothing is decided before
	}
	return true, r.c.AddRounds(more, r.Now())
}
