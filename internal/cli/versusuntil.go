package cli

import (
	"context"
	"slices"
	"strings"

	"soku/internal/campaign"
	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/publish"
	"soku/internal/report"
	"soku/internal/stats"
	"soku/internal/store"
)

// untilFlag is when soku versus has enough rounds: decided, an interval, or one after the other
// for both.
type untilFlag struct {
	decided  bool
	interval measure.Percent
}

const untilDecided = "decided"

func (u *untilFlag) Set(text string) error {
	if text == untilDecided {
		u.decided = true
		return nil
	}
	return u.interval.Set(text)
}

func (u *untilFlag) String() string {
	var out []string
	if u.decided {
		out = append(out, untilDecided)
	}
	if u.interval > 0 {
		out = append(out, u.interval.String())
	}
	return strings.Join(out, ", ")
}

// Type names the value in help texts.
func (u *untilFlag) Type() string { return "decided|percent" }

// untilPlan is the flag in a plan: what has to be decided are the comparisons that are shown.
func (f *versusFlags) untilPlan() plan.Until {
	u := plan.Until{Interval: f.until.interval}
	if f.until.decided {
		u.Decided, u.Against, u.MaxRounds = true, stats.AgainstFirst, max(plan.DefaultMaxRounds, f.rounds)
		if f.allPairs {
			u.Against = stats.AgainstAll
		}
	}
	return u
}

// follow returns what says after every round how the comparisons stand.
func (f *versusFlags) follow(ctx context.Context, sys *System, st store.Store, c *campaign.Campaign, commands []advice.Command) (func(campaign.Event) string, error) {
	known, err := knownLimits(sys, "")()
	if err != nil {
		return nil, err
	}
	choices := make([]*report.Choice, len(commands))
	for i, command := range commands {
		choice, err := publish.CommandChoice(ctx, known, st, c.Entry(), command)
		switch {
		case measure.KindOf(err) == measure.KindUsage: // it did not run yet
			choice = report.NewChoice(command.Line, nil)
			choice.Until = publish.Until(c.Plan)
		case err != nil:
			return nil, err
		}
		choices[i] = choice
	}
	ran := map[int]int{} // trials by round
	return func(e campaign.Event) string {
		if e.Kind != campaign.EventResult {
			return ""
		}
		at := slices.IndexFunc(commands, func(c advice.Command) bool { return c.Line == e.Job.Trial.Levels[0].Value })
		if at < 0 {
			return ""
		}
		choices[at].Add(e.Result)
		round := e.Job.Trial.Round
		if ran[round]++; ran[round] < len(commands) || round < 2 {
			return ""
		}
		compared, err := report.Compare(choices, f.compareOptions())
		if err != nil { // a command has no figure yet
			return ""
		}
		return compared.Standing(sys.Catalogue, round)
	}, nil
}
