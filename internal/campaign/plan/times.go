package plan

import (
	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// checkTimes works out the rounds of a plan that has the time in which they begin.
func (p *Plan) checkTimes(d *yamlfile.File) error {
	if p.For == 0 {
		return nil
	}
	rounds := 0
	if p.Every > 0 {
		if rounds = int(p.For / p.Every); p.For%p.Every > 0 {
			rounds++
		}
	}
	switch {
	case p.Every == 0:
		return d.LocateAt("for", measure.Fail(measure.KindFile, "campaign.for_without_every", nil))
	case p.NamesRounds():
		return d.LocateAt("for", measure.Fail(measure.KindFile, "campaign.for_and_rounds", measure.Figures{"rounds": rounds}))
	case rounds > mostRounds:
		return d.LocateAt("for", measure.Fail(measure.KindFile, "campaign.for_rounds", measure.Figures{"rounds": rounds, "most": mostRounds}))
	}
	p.Rounds, p.roundsByDefault = rounds, false
	return nil
}
