package campaign

import (
	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// combiner makes the combinations of levels that one selection asks for.
type combiner struct {
	*Plan
	file   *yamlfile.File
	wanted [][]bool        // by factor and level
	seen   map[string]bool // patterns that other selections made
	// reached are the levels that are in a combination; shared with other selections.
	reached map[*Level]bool

	index  []int // of the levels chosen so far, one element a factor
	chosen []*Level
	made   int // combinations, those that the plan excludes among them
	steps  int // levels that were tried
}

// maxSteps bounds the levels that are tried where conditions leave few combinations.
const maxSteps = 100 * maxPatterns

func (p *Plan) newCombiner(d *yamlfile.File, s Selection, seen map[string]bool, reached map[*Level]bool) *combiner {
	c := &combiner{Plan: p, file: d, seen: seen, reached: reached, wanted: make([][]bool, len(p.Factors))}
	for i, f := range p.Factors {
		levels, named := yamlfile.Ordered[[]string](s).Get(f.Name)
		c.wanted[i] = make([]bool, len(f.Value.Levels))
		for j, l := range f.Value.Levels {
			c.wanted[i][j] = !named || contains(levels, l.Name)
		}
	}
	return c
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
	first, end := 0, len(levels)
	if with := c.together[k]; with < k { // its level goes with one that is chosen
		first, end = c.index[with], c.index[with]+1
	}
	for i := first; i < end; i++ {
		if !c.wanted[k][i] {
			continue
		}
		if c.steps++; c.steps > maxSteps {
			return c.tooMany()
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
