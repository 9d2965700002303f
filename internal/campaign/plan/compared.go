package plan

import (
	"cmp"

	"soku/internal/measure"
	"soku/internal/stats"
)

// PracticalThreshold is the smallest difference that matters.
func (p *Plan) PracticalThreshold() float64 {
	return cmp.Or(float64(p.Practical), stats.DefaultPractical)
}

// Compares reports whether the plan has two patterns or pairs of hosts to compare.
func (p *Plan) Compares(only Selection) bool {
	return len(p.ComparedLevels(only)) > 1 || p.HasPairs() && p.PairCount() > 1
}

// ComparedLevels are the levels of the patterns that are compared.
func (p *Plan) ComparedLevels(only Selection) (out [][]measure.Level) {
	for i := range p.patterns {
		if levels := p.patterns[i].Levels; only.Matches(levels) && !p.IsControl(levels) {
			out = append(out, levels)
		}
	}
	return out
}
