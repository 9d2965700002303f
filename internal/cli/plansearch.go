package cli

import (
	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/text"
)

// searchOutline is what a plan with find may run.
type searchOutline struct {
	Option    string   `json:"option"`
	Levels    []string `json:"levels"` // that the search may reach, ascending
	GainRatio float64  `json:"gain_ratio"`
	Test      string   `json:"test"`     // label of the test whose figure decides
	Searches  int      `json:"searches"` // one for each combination of the other factors' levels
	// FewestTrials and MostTrials are of all searches; AllTrials is what every level would take,
	// measured as often as the best one.
	FewestTrials int `json:"fewest_trials"`
	MostTrials   int `json:"most_trials"`
	AllTrials    int `json:"all_trials"`
}

// outlineSearch is nil for a plan without find.
func outlineSearch(p *plan.Plan, only plan.Selection, e advice.Estimate) *searchOutline {
	if !p.Searches() {
		return nil
	}
	o := &searchOutline{
		Option: p.Find.Option, Levels: p.SearchedLevels(), GainRatio: float64(p.Find.Gain), Test: p.Find.Test,
		FewestTrials: e.FewestTrials, MostTrials: e.Trials,
	}
	o.Searches, o.AllTrials = len(p.SearchedPatterns(only)), p.TrialsOfList(only)
	return o
}

// mostSearchedLevels is how many levels a person gets to see.
const mostSearchedLevels = 16

func (o *searchOutline) add(out *text.Lines) {
	if o == nil {
		return
	}
	levels := o.Levels
	if n := len(levels); n > mostSearchedLevels {
		levels = append(append(levels[:mostSearchedLevels-1:mostSearchedLevels-1], "…"), levels[n-1])
	}
	out.Row("label.search", "plan.search", text.Args{
		"Option": o.Option, "Levels": levels, "Gain": o.GainRatio, "Test": o.Test, "Searches": o.Searches,
		"Fewest": o.FewestTrials, "Most": o.MostTrials, "All": o.AllTrials,
	})
}
