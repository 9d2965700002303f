package report

import (
	"cmp"
	"slices"

	"soku/internal/measure"
)

// distinct drops nils and repeated IDs and sorts by time, so that a report does
// not depend on the order it was given.
func distinct(results []*measure.Result) []*measure.Result {
	seen := map[string]bool{}
	out := make([]*measure.Result, 0, len(results))
	for _, r := range results {
		if r == nil || r.ID != "" && seen[r.ID] {
			continue
		}
		seen[r.ID] = true
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b *measure.Result) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	return out
}

func (b *Builder) test(g labelled) Test {
	t := Test{Label: g.label, Test: g.test, ByHand: g.byHand, Capture: g.capture, apart: g.apart, Basis: Basis{measure.RankingMetric(g.test, g.results)}}
	t.Same, t.Different = compareOptions(g)
	t.Unvaried = b.unvaried[g.label]
	g.pair = pairingOf(g.results)
	patterns := byPattern(g, t.Different, b.patterns, t.Unvaried)
	t.Factors = factorsOf(patterns)
	if !g.byHand {
		nameAbsentLevels(patterns, t.Factors)
	}
	numberDuplicates(patterns)
	rounds := roundIndex(g)
	t.Rounds = len(rounds)
	t.Practical = b.design.practical()
	if !t.ByHand {
		t.interim = b.design.Until.interim(t.Label, lastRound(g.results))
	}
	for _, p := range patterns {
		t.Failures = append(t.Failures, failuresOf(p)...)
	}
	if !t.ByHand {
		t.NotMeasured = b.notMeasured(patterns, t.Unvaried, g.pair.factor)
	}
	patterns, control := b.design.withoutControl(patterns)
	for _, p := range patterns {
		t.Rows = append(t.Rows, b.row(p, &t, rounds))
	}
	for _, p := range control {
		t.ControlRows = append(t.ControlRows, b.row(p, &t, rounds))
	}
	t.rank(patterns, rounds)
	t.decided = t.findDecided(b.design.Until, t.groups(patterns, rounds))
	t.shareLimits()
	t.findReached()
	t.findMoved()
	t.findControl(patterns, control, rounds)
	t.findCurves(patterns, rounds, b.design.Searched)
	t.findEffects(patterns)
	t.findDisjointRanges()
	t.Pairs = t.findPairs(g.pair, patterns, rounds)
	t.findFlowGroups()
	if floor, found := combined(measure.MetricFloor, successful(g.results), nil, nil); found {
		t.Floor = &floor.Spread
	}
	t.Timings = timingsOf(g.results)
	t.Ingested, t.Missing = ingested(g.results)
	t.stated = statedRounds(g.results)
	t.Runs = differentRuns(patterns, t.Basis.Metric)
	t.placed = singlePlacements(patterns, t.Factors, g.pair.factor)
	t.wide = t.widest(b.design.Until)
	t.Answer, t.Caveats = t.findAnswer(), t.findCaveats()
	return t
}

// rank fills Ranking and the rows' ranks.
func (t *Test) rank(patterns []pattern, rounds map[int]int) {
	groups := t.groups(patterns, rounds)
	for _, k := range t.interim.Rank(groups, t.Basis.Metric.Better == measure.Higher) {
		t.Ranking = append(t.Ranking, Place{
			Rank: k.Rank, RankLow: k.Ranks.Low, RankHigh: k.Ranks.High, Letters: k.Letters, Best: k.Best,
			Pattern: k.Name, Reason: k.Reason,
			Estimate: finite(k.Estimate), Low: finite(max(k.Low, 0)), High: finite(k.High), // no figure that ranks can be below 0
		})
		for i := range t.Rows {
			if t.Rows[i].Pattern == k.Name {
				t.Rows[i].Rank = k.Rank
			}
		}
	}
	t.findSame(groups)
}

func failuresOf(p pattern) []Failure {
	var out []Failure
	for _, r := range p.results {
		if r.Error == nil {
			continue
		}
		f := Failure{Pattern: p.name, Repeat: repeatOf(r), Error: r.Error, Result: r.ID}
		if r.Trial != nil {
			f.Round = r.Trial.Round
		}
		out = append(out, f)
	}
	return out
}
