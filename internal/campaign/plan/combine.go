package plan

import (
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// combiner makes the combinations of levels that a plan's selections ask for.
type combiner struct {
	*Plan
	file    *yamlfile.File
	seen    map[string]bool // patterns made so far
	reached map[*Level]bool // levels that are in a combination
	tries   int             // of levels, where conditions may leave few combinations

	wanted [][]bool // by factor and level: what the selection asks for
	index  []int    // of the levels chosen so far, one element a factor
	chosen []*Level
	made   int // combinations of the selection, those that the plan excludes among them
}

// maxTries bounds the levels that are tried where conditions leave few combinations. Two factors of
// [maxLevels] that go together take about a million.
const maxTries = 200 * maxPatterns

// choose makes the combinations of a selection.
func (c *combiner) choose(s Selection) error {
	c.made, c.wanted = 0, make([][]bool, len(c.Factors))
	for i, f := range c.Factors {
		levels, named := yamlfile.Ordered[[]string](s).Get(f.Name)
		c.wanted[i] = make([]bool, len(f.Value.Levels))
		for j, l := range f.Value.Levels {
			c.wanted[i][j] = !named || slices.Contains(levels, l.Name)
		}
		if !slices.Contains(c.wanted[i], true) {
			return nil // before the levels of the other factors are combined in vain
		}
	}
	return c.combine()
}

// combine goes through the levels of the factor after those already chosen.
func (c *combiner) combine() error {
	k := len(c.chosen)
	if k == len(c.Factors) {
		// Excluded ones count too: 20 factors could ask for more than memory holds.
		if c.made++; c.made > maxPatterns {
			return c.tooMany()
		}
		for _, l := range c.chosen {
			c.reached[l] = true
		}
		return c.addPattern(c.file, c.chosen, c.seen)
	}
	levels := c.Factors[k].Value.Levels
	for i := range levels {
		if !c.wanted[k][i] {
			continue
		}
		if c.conditional {
			if c.tries++; c.tries > maxTries {
				return c.tooMany()
			}
		}
		c.index, c.chosen = append(c.index[:k], i), append(c.chosen[:k], &levels[i])
		if !c.exist() {
			continue
		}
		if err := c.combine(); err != nil {
			return err
		}
	}
	c.index, c.chosen = c.index[:k], c.chosen[:k]
	return nil
}

// exist reports whether the levels chosen so far exist with each other. Only the last one
// is new.
func (c *combiner) exist() bool {
	last := len(c.chosen) - 1
	for k, l := range c.chosen {
		for _, cond := range l.conditions {
			if (cond.factor == last || k == last && cond.factor < last) && !cond.with[c.index[cond.factor]] {
				return false
			}
		}
	}
	return true
}

func (c *combiner) tooMany() error {
	return c.file.FailAt("factors", "campaign.too_many_patterns", measure.Figures{"most": maxPatterns})
}

// makePatterns works out the patterns, and checks the trials of each.
func (p *Plan) makePatterns(d *yamlfile.File) error {
	wanted := p.former.patterns
	if len(wanted) == 0 {
		wanted = []Selection{nil}
	}
	c := combiner{Plan: p, file: d, seen: map[string]bool{}, reached: map[*Level]bool{}}
	for _, w := range wanted {
		if err := c.choose(w); err != nil {
			return err
		}
	}
	if err := p.checkReached(d, c.reached); err != nil {
		return err
	}
	p.distinguish()
	if len(p.patterns) == 0 {
		return d.FailAt("exclude", "campaign.no_pattern_left", nil)
	}
	if n := float64(p.PairsOfPatterns()) * float64(p.trialsOfPair()); n > MaxTrials {
		return d.FailAt("rounds", "campaign.too_many_trials", measure.Figures{"trials": n, "most": MaxTrials})
	}
	for _, p2 := range p.patterns {
		if p.Only.Matches(p2.Levels) {
			return nil
		}
	}
	return d.LocateAt("only", measure.Fail(measure.KindFile, "campaign.only_selects_none", nil))
}

// distinguish renames patterns where two of them are shown by the same name.
func (p *Plan) distinguish() {
	seen := map[string]bool{}
	for i := range p.patterns {
		seen[p.patterns[i].Name] = true
	}
	if len(seen) == len(p.patterns) {
		return
	}
	for i := range p.patterns {
		p.patterns[i].Name = quoted(p.patterns[i].Levels)
	}
}

// quoted is the levels in a row, with quotes around levels that have the separator in their
// names, so that no two patterns have the same row.
func quoted(levels []measure.Level) string {
	out := slices.Clone(levels)
	for i, l := range out {
		if strings.Contains(l.Value, measure.LevelSeparator) || strings.Contains(l.Value, `"`) {
			out[i].Value = strconv.Quote(l.Value)
		}
	}
	return measure.JoinLevels(out)
}
