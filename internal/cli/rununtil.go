package cli

import (
	"fmt"
	"math"

	"soku/internal/campaign"
	"soku/internal/measure"
	"soku/internal/stats"
	"soku/internal/text"
)

// sayEnough says whether a campaign whose plan has until has enough rounds, and why not.
func sayEnough(sys *System, c *campaign.Campaign, e *campaign.Enough) {
	if e == nil {
		return
	}
	u := c.Plan.Until
	args := text.Args{
		"Interval": float64(u.Interval), "Width": e.Ratio, "Pattern": e.Pattern, "Label": e.Label, "Rounds": c.Rounds(),
		"MaxRounds": u.MaxRounds, "MaxTime": u.MaxTime, "Reached": e.Reached, "Limit": e.Limit,
	}
	if math.IsInf(e.Ratio, 0) {
		args["Width"] = 0.0
	}
	fmt.Fprintln(sys.Stderr, sys.Catalogue.Say("run.until", args))
}

// untilOutline is what a plan with until comes to.
type untilOutline struct {
	IntervalRatio float64           `json:"interval_ratio"`
	FewestRounds  int               `json:"fewest_rounds"`
	MostRounds    int               `json:"most_rounds"`
	Fewest        campaign.Estimate `json:"fewest"`
	Most          campaign.Estimate `json:"most"`
	MaxTime       measure.Duration  `json:"max_time_ns,omitempty"`
}

// outlineUntil is nil for a plan without until.
func outlineUntil(p *campaign.Plan, only campaign.Selection) *untilOutline {
	fewest, most, ok := p.UntilEstimate(only)
	if !ok {
		return nil
	}
	u := p.Until
	return &untilOutline{
		IntervalRatio: float64(u.Interval), FewestRounds: max(stats.FirstIntervalLook, p.LastRound()), MostRounds: u.MaxRounds,
		Fewest: fewest, Most: most, MaxTime: u.MaxTime,
	}
}

func (u *untilOutline) add(c *text.Catalogue, out *text.Lines) {
	if u == nil {
		return
	}
	out.Row("label.until", "plan.until", text.Args{
		"Interval": u.IntervalRatio, "Fewest": u.FewestRounds, "Most": u.MostRounds, "Trials": u.Most.Trials,
		"Least": roughly(c, u.Fewest.Time), "Longest": roughly(c, u.Most.Time), "MaxTime": u.MaxTime,
	})
}
