package stats

import (
	"cmp"
	"math"
	"slices"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// Ranked is a group's place in a ranking.
type Ranked struct {
	Name string
	// Rank is 1 for the best. Groups of equal rank: no difference between any
	// two of them is shown. A group of a later rank is shown to be worse than
	// at least one of the rank before. 0: the group has no values.
	Rank int
	// Ranks are those that the group may have, Best is whether it is among the best, and
	// Letters are its groups of patterns without a shown difference: what
	// [PatternComparison] has of it. All are zero where nothing was tested.
	Ranks   RankRange
	Best    bool
	Letters string
	// Estimate is that of [Estimates]; Low and High are its own 95 % interval. The ranks come from
	// paired comparisons, not from overlaps of these intervals.
	Estimate, Low, High float64
	Reason              measure.Finding // of the rank
	// Behind is the group against the first one; its interval is of this pair by itself. It is nil for
	// the first one, and where nothing was tested.
	Behind *Comparison
	// Alike reports that neighbouring rounds are alike in the difference that Reason shows. See [LagOne].
	Alike bool
}

// Rank orders groups by their estimates, best first, but puts no group before one that is shown to be
// better: rounds that are missing and heavy tails can make such an order of estimates. It assigns ranks from the top: a group opens a new rank
// (1 + the number of groups before it) if it is shown to be worse than any group of the
// rank above it in the list, by at least the practical threshold (a ratio such as 0.02; 0: by any
// difference), otherwise it joins that rank. Of two or three groups in three to five rounds a
// difference that is seen counts as one that is shown. A group that is alone among the best has
// the first rank alone. All pairs are compared as by
// [ComparePatterns] over what one session measured of a round. A pair with fewer than two
// rounds of that, or with a round mean that is not positive, is compared as by [Compare].
// All that is shown holds together with 95 % (Holm, over the pairs). A pair that cannot be
// tested counts as no difference shown. If no group has more than two rounds, ranks are the
// plain order, which tests nothing. Groups without values come last with rank 0.
func Rank(groups []Group, higherIsBetter bool, practical float64) []Ranked {
	return Looks{}.Rank(groups, higherIsBetter, practical)
}

// Rank is the function of that name, for groups that are looked at so often.
func (l Looks) Rank(groups []Group, higherIsBetter bool, practical float64) []Ranked {
	entries := make([]entry, 0, len(groups))
	var empty []Ranked
	most := 0
	for _, e := range entriesOf(groups) {
		if e.Rounds == 0 {
			empty = append(empty, Ranked{Name: e.group.Name, Estimate: math.NaN(), Low: math.NaN(), High: math.NaN(), Reason: measure.NewFinding(finding.RankNoValues, "", nil)})
			continue
		}
		most = max(most, e.Rounds)
		entries = append(entries, e)
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		if higherIsBetter {
			a, b = b, a
		}
		return cmp.Compare(a.Estimate, b.Estimate)
	})
	if most < testedRounds {
		return append(plainOrder(entries, most), empty...)
	}
	return append(tiers(entries, higherIsBetter, l, practical), empty...)
}

type entry struct {
	roundMeans
	Interval
}

// Estimates returns an estimate of each group with its own 95 % interval by [AutocorrelationAdjusted],
// NaN with one round: the geometric mean of the round means, so that the ratio of two estimates is
// what a comparison over the same rounds gives. If a round mean of any group is not positive, it is the
// mean of the round means.
func Estimates(groups []Group) []Interval {
	out := make([]Interval, len(groups))
	for i, e := range entriesOf(groups) {
		out[i] = e.Interval
	}
	return out
}

// EstimateOfRounds is [Estimates] of one group with one value a round, NaN for none.
func EstimateOfRounds(values []float64) Interval {
	g := Group{Rounds: make([][]float64, len(values))}
	for i := range values {
		g.Rounds[i] = values[i : i+1]
	}
	return Estimates([]Group{g})[0]
}

func entriesOf(groups []Group) []entry {
	out, ratios := make([]entry, len(groups)), true
	for i, g := range groups {
		out[i].roundMeans = g.means()
		ratios = ratios && out[i].logs != nil
	}
	for i := range out {
		out[i].Interval = out[i].interval(ratios)
	}
	return out
}

// interval is that of the mean of the rounds, the geometric one for ratios: then its half width is that
// of the mean logarithm (delta method), because the exponential of the bounds of two or three noisy rounds says nothing.
func (m roundMeans) interval(ratios bool) Interval {
	if !ratios {
		return AutocorrelationAdjusted(m.values, confidence).Interval
	}
	out := AutocorrelationAdjusted(m.logs, confidence).Interval
	sorted := present(m.values)
	if len(sorted) == 0 {
		return out
	}
	slices.Sort(sorted) // the order of the rounds would change the last digit
	var beyond float64
	for _, v := range sorted {
		beyond += math.Log(v) - math.Log(sorted[0])
	}
	half := out.High - out.Estimate
	out.Estimate = sorted[0] * math.Exp(beyond/float64(len(sorted)))
	out.Low, out.High = out.Estimate*(1-half), out.Estimate*(1+half)
	return out
}

func (e entry) ranked(rank int, reason measure.Finding) Ranked {
	return Ranked{Name: e.group.Name, Rank: rank, Estimate: e.Estimate, Low: e.Low, High: e.High, Reason: reason}
}

func plainOrder(entries []entry, rounds int) []Ranked {
	out := make([]Ranked, len(entries))
	for i, e := range entries {
		rank := i + 1
		if i > 0 && e.Estimate == entries[i-1].Estimate {
			rank = out[i-1].Rank
		}
		reason := measure.NewFinding(finding.RankOneRound, "", nil)
		if rounds > 1 {
			reason = measure.NewFinding(finding.RankTwoRounds, "", nil)
		}
		if len(entries) == 1 {
			reason = measure.NewFinding(finding.RankOnlyOne, "", nil)
		}
		out[i] = e.ranked(rank, reason)
	}
	return out
}

func tiers(entries []entry, higherIsBetter bool, looks Looks, practical float64) []Ranked {
	pairs := compareGroups(entries, higherIsBetter, looks, practical)
	if order := pairs.betterFirst(); !slices.IsSorted(order) {
		entries = arranged(entries, order)
		pairs = compareGroups(entries, higherIsBetter, looks, practical)
	}
	out := make([]Ranked, 0, len(entries))
	top := 0 // index of the first group of the current rank
	for i, e := range entries {
		if i == 0 {
			out = append(out, e.ranked(1, first(entries, higherIsBetter)))
			continue
		}
		worse := top
		for worse < i && !pairs.behind(i, worse) && !pairs.soleBest(worse) {
			worse++
		}
		if worse == i {
			out = append(out, e.ranked(top+1, same(pairs.pair(i, top), pairs.pairOf(i, top).Differ(), entries[top])))
			continue
		}
		top = i
		k := e.ranked(top+1, different(pairs.pair(i, worse), entries[worse], higherIsBetter))
		k.Alike = difference(e.roundMeans, entries[worse].roundMeans).alike()
		out = append(out, k)
	}
	for i := range out {
		if i > 0 {
			c := pairs.byItself(i, 0)
			out[i].Behind = &c
		}
		out[i].Ranks = pairs.Ranks[i]
		if pairs.Letters != nil {
			out[i].Letters = pairs.Letters[i]
		}
	}
	for _, i := range pairs.Best {
		out[i].Best = true
	}
	return out
}

// first returns the reason of the group at the top, which names the group of the best estimate if that is another.
func first(entries []entry, higherIsBetter bool) measure.Finding {
	figures := measure.Figures{"patterns": len(entries), "rounds": entries[0].Rounds}
	best := slices.MaxFunc(entries, func(a, b entry) int {
		if !higherIsBetter {
			a, b = b, a
		}
		return cmp.Compare(a.Estimate, b.Estimate)
	})
	if best.Estimate != entries[0].Estimate {
		figures["than"] = best.group.Name
	}
	switch {
	case len(entries) == 1:
		return measure.NewFinding(finding.RankOnlyOne, "", nil)
	case higherIsBetter:
		return measure.NewFinding(finding.RankHighest, "", figures)
	default:
		return measure.NewFinding(finding.RankLowest, "", figures)
	}
}

// different returns the reason of a group that is behind another.
func different(c Comparison, other entry, higherIsBetter bool) measure.Finding {
	switch {
	case higherIsBetter && c.Apart:
		return measure.NewFinding(finding.RankBelowOtherRun, "", compared(c, other))
	case higherIsBetter:
		return measure.NewFinding(finding.RankBelow, "", compared(c, other))
	case c.Apart:
		return measure.NewFinding(finding.RankAboveOtherRun, "", compared(c, other))
	}
	return measure.NewFinding(finding.RankAbove, "", compared(c, other))
}

// same returns the reason of a group that shares the rank of another, from which it may differ by
// less than matters.
func same(c Comparison, differ bool, leader entry) measure.Finding {
	if !c.Tested() {
		return measure.NewFinding(finding.RankUntested, "", measure.Figures{"than": leader.group.Name})
	}
	figures := compared(c, leader)
	if differ {
		return measure.NewFinding(finding.RankSmall, "", figures)
	}
	if c.Apart {
		return measure.NewFinding(finding.RankNoDifferenceOtherRun, "", figures)
	}
	if c.Needed > c.Rounds {
		figures["needed_rounds"] = c.Needed
	}
	return measure.NewFinding(finding.RankNoDifference, "", figures)
}

// compared returns the figures of a comparison with another group, as ratios: those that
// were compared, or of the other's estimate unless that is 0.
func compared(c Comparison, other entry) measure.Figures {
	figures := measure.Figures{"than": other.group.Name}
	if c.Rounds > 0 {
		figures["rounds"] = c.Rounds
	}
	if c.SignedRanks {
		figures["signed_ranks"] = 1
	}
	if c.Seen {
		figures["seen_rounds"] = c.Rounds
	}
	reference := math.Abs(other.Estimate)
	switch {
	case c.Ratio:
		figures["difference_ratio"], figures["low_ratio"], figures["high_ratio"] = c.Difference, c.Low, c.High
	case reference > 0:
		// Some value is 0 and none is below: a bound below -100 % would be impossible.
		figures["difference_ratio"], figures["low_ratio"], figures["high_ratio"] = c.Difference/reference, max(c.Low/reference, -1), c.High/reference
	default:
		figures["difference"], figures["low"], figures["high"] = c.Difference, c.Low, c.High
	}
	return figures
}
