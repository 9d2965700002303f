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

	index  []int // of the levels chosen so far, one element a factor
	chosen []*Level
	made   int // combinations, those that the plan excludes among them
}

func (p *Plan) newCombiner(d *yamlfile.File, s Selection, seen map[string]bool) *combiner {
	c := &combiner{Plan: p, file: d, seen: seen, wanted: make([][]bool, len(p.Factors))}
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
			return c.file.FailAt("factors", "campaign.too_many_patterns", measure.Figures{"most": maxPatterns})
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
		c.index, c.chosen = append(c.index[:k], i), append(c.chosen[:k], &levels[i])
		if err := c.combine(); err != nil {
			return err
		}
	}
	c.index, c.chosen = c.index[:k], c.chosen[:k]
	return nil
}
