package plan

import (
	"slices"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// checkWhen sees that the conditions of levels name levels of other factors, and works them
// out for the combinations.
func (p *Plan) checkWhen(d *yamlfile.File) error {
	for i := range p.Factors {
		name := p.Factors[i].Name
		for j := range p.Factors[i].Value.Levels {
			l := &p.Factors[i].Value.Levels[j]
			path := l.at + ".when"
			if err := p.wrongSelection(l.When); err != nil {
				return d.LocateAt(selectionPath(d, path, l.When, err), err)
			}
			if _, own := yamlfile.Ordered[[]string](l.When).Get(name); own {
				return d.LocateAt(path+"."+name, measure.Fail(measure.KindFile, "campaign.when_of_itself", measure.Figures{"factor": yamlfile.Shorten(name)}))
			}
			for _, e := range l.When {
				factor := slices.IndexFunc(p.Factors, func(f yamlfile.Entry[Factor]) bool { return f.Name == e.Name })
				c := condition{factor: factor}
				for _, other := range p.Factors[factor].Value.Levels {
					c.with = append(c.with, slices.Contains(e.Value, other.Name))
				}
				l.conditions, p.conditional = append(l.conditions, c), true
			}
		}
	}
	return nil
}

// checkReached sees that every level with a condition is in a combination: conditions that
// exclude each other leave it out for good. A recorded plan may list the patterns to
// run.
func (p *Plan) checkReached(d *yamlfile.File, reached map[*Level]bool) error {
	if len(p.former.patterns) > 0 {
		return nil
	}
	for i := range p.Factors {
		for j := range p.Factors[i].Value.Levels {
			if l := &p.Factors[i].Value.Levels[j]; len(l.When) > 0 && !reached[l] {
				return d.LocateAt(l.at+".when", measure.Fail(measure.KindFile, "campaign.when_never", measure.Figures{"level": yamlfile.Shorten(l.Name)}))
			}
		}
	}
	return nil
}
