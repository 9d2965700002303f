package plan

import (
	"cmp"
	"slices"

	"soku/internal/measure"
	"soku/internal/stats"
	"soku/internal/yamlfile"
)

// DefaultMaxRounds is how many rounds a campaign has at most that goes on until its intervals
// are narrow, where the plan does not say.
const DefaultMaxRounds = 40

// mostRounds is how many rounds a campaign has at most, whatever its plan says.
const mostRounds = 10_000

// Adds reports whether the campaign adds rounds to those of its plan.
func (u *Until) Adds() bool { return u.Interval > 0 || u.Decided }

// Most is how many rounds a campaign has at most.
func (u *Until) Most() int { return cmp.Or(u.MaxRounds, mostRounds) }

// FirstAnalysis is after how many rounds the campaign may have enough of them.
func (u *Until) FirstAnalysis() int {
	if u.Interval > 0 {
		return max(stats.FirstIntervalLook, stats.FirstLook)
	}
	return stats.FirstLook
}

// InterimAnalyses returns the interim analyses of a campaign of that many rounds.
func (u *Until) InterimAnalyses(rounds int) stats.Looks {
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
	if rounds := p.LastRound(); rounds > u.Most() {
		return d.LocateAt("until.max_rounds", measure.Fail(measure.KindFile, "campaign.until_rounds", measure.Figures{"rounds": rounds, "most": u.Most()}))
	}
	for _, label := range u.Tests {
		if !slices.Contains(p.Tests.Names(), label) {
			unknown := measure.Fail(measure.KindFile, "campaign.no_test_label", measure.Figures{"label": yamlfile.Shorten(label)})
			return d.LocateAt("until.tests", suggest(unknown, label, p.Tests.Names(), "campaign.test_labels_are"))
		}
	}
	return nil
}

// FewestRounds is how many rounds a campaign with until has at least.
func (p *Plan) FewestRounds() int { return max(p.Until.FirstAnalysis(), p.LastRound()) }

// MostRounds is how many rounds a campaign with until has at most.
func (p *Plan) MostRounds() int { return p.Until.Most() }
