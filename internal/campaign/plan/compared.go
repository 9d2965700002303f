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

// ComparedPatterns are the patterns that are compared, which the caller does not change.
func (p *Plan) ComparedPatterns(only Selection) (out []*Pattern) {
	for i := range p.patterns {
		if pt := &p.patterns[i]; only.Matches(pt.Levels) && !p.IsControl(pt.Levels) {
			out = append(out, pt)
		}
	}
	return out
}

// ComparedLevels are the levels of the patterns that are compared.
func (p *Plan) ComparedLevels(only Selection) (out [][]measure.Level) {
	for _, pt := range p.ComparedPatterns(only) {
		out = append(out, pt.Levels)
	}
	return out
}
