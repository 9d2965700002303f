package report

import (
	"slices"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/metric"
	"soku/internal/stats"
)

// roundIndex numbers the rounds of a test from 0 without gaps. Trials run by
// hand are one round: nothing interleaved them, so their order tests nothing.
func roundIndex(g labelled) map[int]int {
	var numbers []int
	for _, r := range g.results {
		numbers = addOnce(numbers, roundOf(r))
	}
	slices.Sort(numbers)
	out := map[int]int{}
	for i, n := range numbers {
		out[n] = i
	}
	return out
}

// lastRound is the number of the last round of which there are results, whether or not all
// before it are known.
func lastRound(results []*measure.Result) (last int) {
	for _, r := range results {
		last = max(last, roundOf(r))
	}
	return last
}

func roundOf(r *measure.Result) int {
	if r.Trial == nil {
		return 1
	}
	return r.Trial.Round
}

func repeatOf(r *measure.Result) int {
	if r.Trial == nil {
		return 0
	}
	return r.Trial.Repeat
}

// RunPatterns are patterns that one run of a campaign measured, from its start or a
// resumption to its end.
type RunPatterns struct {
	Run      int       `json:"run"` // from 1, or 0 if unknown
	From     time.Time `json:"from"`
	Session  string    `json:"session,omitempty"` // of ingested results, as their source names the run
	Trials   int       `json:"trials"`            // that have the figure that ranks
	Patterns []string  `json:"patterns"`
}

// runOf is the number of the run that measured a result, 0 where it does not say.
func runOf(r *measure.Result) int {
	if r.Trial == nil || r.Trial.Session == nil {
		return 0
	}
	return r.Trial.Session.Number
}

// sessionName is what the source of an ingested result calls the run that measured it, empty
// where it says nothing and for a result of soku's own.
func sessionName(r *measure.Result) string {
	if r.Origin == nil || r.Trial == nil || r.Trial.Session == nil {
		return ""
	}
	return r.Trial.Session.ID
}

// sessionsPerRound are the sessions that measured a pattern's values in each round, as
// perRound has the values; session numbers that of a result, such as [runOf].
func sessionsPerRound(results []*measure.Result, rounds map[int]int, m *metric.Definition, session func(*measure.Result) int) [][]int {
	out := make([][]int, max(len(rounds), 1))
	for _, r := range results {
		if v, ok := m.Value(r); ok && plausible(v) {
			if i, n := rounds[roundOf(r)], session(r); !slices.Contains(out[i], n) {
				out[i] = append(out[i], n)
			}
		}
	}
	return out
}

// differentRuns are the runs and what each measured, if there are two patterns that no
// run measured both: those were not interleaved. Otherwise nil.
func differentRuns(patterns []pattern, m *metric.Definition) []RunPatterns {
	var runs []RunPatterns
	var of [][]int // by pattern that has values
	for _, p := range patterns {
		var mine []int
		for _, r := range successful(p.results) {
			if v, ok := m.Value(r); !ok || !plausible(v) {
				continue
			}
			n := runOf(r)
			run := findOrAdd(&runs, func(x RunPatterns) bool { return x.Run == n }, RunPatterns{Run: n, From: r.StartedAt, Session: sessionName(r)})
			run.Trials++
			if r.StartedAt.Before(run.From) {
				run.From = r.StartedAt
			}
			if !slices.Contains(mine, n) {
				mine = append(mine, n)
				run.Patterns = append(run.Patterns, p.name)
			}
		}
		if len(mine) > 0 {
			of = append(of, mine)
		}
	}
	apart := func(a, b []int) bool {
		return !slices.ContainsFunc(a, func(n int) bool { return slices.Contains(b, n) })
	}
	for i, a := range of {
		if slices.ContainsFunc(of[:i], func(b []int) bool { return apart(a, b) }) {
			slices.SortStableFunc(runs, func(a, b RunPatterns) int { return a.Run - b.Run })
			return runs
		}
	}
	return nil
}

// acrossRuns reports whether a place in a ranking comes from a comparison of patterns
// that were measured in different runs of the campaign.
func (p Place) acrossRuns() bool {
	switch p.Reason.Code {
	case finding.RankAboveOtherRun, finding.RankBelowOtherRun, finding.RankNoDifferenceOtherRun:
		return true
	}
	return false
}

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
