package report

import "soku/internal/measure"

// notMeasured are the names of the plan's patterns that no trial of a test was made of, in the
// plan's order. factor is that of the pairs of hosts, which plans do not have. A search
// leaves levels out on purpose: it is named where it has no trial at all.
func (b *Builder) notMeasured(patterns []pattern, unvaried []string, factor string) (out []string) {
	seen := map[string]bool{}
	for _, p := range patterns {
		seen[measure.LevelsKey(without(p.levels, []string{factor, b.design.Searched}))] = true
	}
	for _, levels := range b.patterns {
		levels = without(without(levels, unvaried), []string{b.design.Searched})
		if key := measure.LevelsKey(levels); !seen[key] {
			seen[key] = true
			out = append(out, measure.JoinLevels(levels))
		}
	}
	return out
}
