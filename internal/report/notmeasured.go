package report

import "soku/internal/measure"

// notMeasured are the names of the plan's patterns that no trial of a test was made of, in the
// plan's order. factor is that of the pairs of hosts, which plans do not have.
func (b *Builder) notMeasured(patterns []pattern, unvaried []string, factor string) (out []string) {
	seen := map[string]bool{}
	for _, p := range patterns {
		seen[measure.LevelsKey(without(p.levels, []string{factor}))] = true
	}
	for _, levels := range b.patterns {
		levels = without(levels, unvaried)
		if key := measure.LevelsKey(levels); !seen[key] {
			seen[key] = true
			out = append(out, measure.JoinLevels(levels))
		}
	}
	return out
}
