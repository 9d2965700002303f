package cli

import (
	"maps"
	"math"

	"soku/internal/campaign"
	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/stats"
	"soku/internal/text"
)

// sayEnough says whether a campaign whose plan has until has enough rounds, and why not.
func (p *progress) sayEnough(c *campaign.Campaign, e *campaign.Enough) {
	if e == nil {
		return
	}
	u := c.Plan.Until
	limits := text.Args{"Rounds": c.Rounds(), "MaxRounds": u.MaxRounds, "MaxTime": c.Plan.Budget.Time, "Limit": e.Limit}
	if u.Interval > 0 {
		args := text.Args{"Interval": float64(u.Interval), "Width": e.Ratio, "Pattern": e.Pattern, "Label": e.Label, "Reached": e.Narrow}
		if math.IsInf(e.Ratio, 0) {
			args["Width"] = 0.0
		}
		maps.Copy(args, limits)
		p.printLine("run.until", args)
	}
	if u.Decided && (u.Interval == 0 || e.Limit != campaign.LimitFailed) {
		args := text.Args{"Compared": e.Compared, "Open": e.Open, "A": e.A, "B": e.B, "Label": e.OpenLabel}
		maps.Copy(args, limits)
		p.printLine("run.until_decided", args)
	}
}

// untilOutline is what a plan with until comes to.
type untilOutline struct {
	IntervalRatio float64          `json:"interval_ratio"` // 0: not asked for
	Decided       bool             `json:"decided,omitempty"`
	Against       stats.Against    `json:"against,omitempty"`
	LevelRatio    float64          `json:"level_ratio,omitempty"` // of each look at the comparisons; 0: by e-values
	FewestRounds  int              `json:"fewest_rounds"`
	MostRounds    int              `json:"most_rounds"`
	Fewest        advice.Estimate  `json:"fewest"`
	Most          advice.Estimate  `json:"most"`
	MaxTime       measure.Duration `json:"max_time_ns,omitempty"`
}

// outlineUntil is nil for a plan without until.
func outlineUntil(p *plan.Plan, only plan.Selection) *untilOutline {
	fewest, most, ok := advice.UntilEstimate(p, only)
	if !ok {
		return nil
	}
	u := p.Until
	out := &untilOutline{
		IntervalRatio: float64(u.Interval), Decided: u.Decided, FewestRounds: p.FewestRounds(), MostRounds: p.MostRounds(),
		Fewest: fewest, Most: most, MaxTime: p.Budget.Time,
	}
	if u.Decided {
		out.Against = u.Against
		if looks := u.InterimAnalyses(p.LastRound()); !looks.Anytime() {
			out.LevelRatio = looks.Alpha()
		}
	}
	return out
}

func (u *untilOutline) add(c *text.Catalogue, out *text.Lines) {
	if u == nil {
		return
	}
	out.Row("label.until", "plan.until", text.Args{
		"Interval": u.IntervalRatio, "Decided": u.Decided, "Against": string(u.Against), "Level": u.LevelRatio, "Fewest": u.FewestRounds, "Most": u.MostRounds, "Trials": u.Most.Trials,
		"Least": roughly(c, u.Fewest.Time), "Longest": roughly(c, u.Most.Time), "MaxTime": u.MaxTime,
	})
}
