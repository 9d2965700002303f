package report

import (
	"slices"

	"soku/internal/measure"
	"soku/internal/stats"
)

// singlePlacements are the factors, without the pairs, whose levels were measured on one
// placement each, all different: their effects may come from the hosts. A placement is the
// deployment of both hosts if known, otherwise the pair of endpoints. Ingested results have none.
func singlePlacements(patterns []pattern, factors []string, pair string) (out []string) {
	for _, factor := range factors {
		placements, used, known := map[string]string{}, map[string]bool{}, factor != pair
		for _, p := range patterns {
			level := alignLevels(p.levels, []string{factor})[0].Value
			for _, r := range successful(p.results) {
				at := placementOf(r)
				if seen, found := placements[level]; at == "" || found && seen != at {
					known = false
				}
				placements[level], used[at] = at, true
			}
		}
		if known && len(placements) > 1 && len(used) == len(placements) {
			out = append(out, factor)
		}
	}
	return out
}

// placementOf identifies the hosts of a result, or returns "" if it does not name them.
func placementOf(r *measure.Result) string {
	if r.Origin != nil || r.Trial == nil || r.Trial.Pair == nil {
		return ""
	}
	return r.Trial.Pair.Client.Name + "\n" + r.Trial.Pair.Server.Name + "\n" + deploymentOf(r)
}

// showsDifference reports whether a factor is shown to matter, or, where there are no effects of
// factors, a pattern to be better than another.
func (t *Test) showsDifference(factor string) bool {
	if len(t.FactorEffects) > 0 {
		return slices.ContainsFunc(t.FactorEffects, func(f FactorEffect) bool { return f.Factor == factor && f.Matters == stats.MattersYes })
	}
	return t.Rounds > 1 && slices.ContainsFunc(t.Ranking, func(p Place) bool { return p.Rank > 1 })
}
