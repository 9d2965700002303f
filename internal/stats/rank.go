package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Ranked is a group's place in a ranking.
type Ranked struct {
	Name string
	// Rank is 1 for the best. Groups of equal rank: no difference between any
	// two of them is shown. A group of a later rank is shown to be worse than
	// at least one of the rank before. 0: the group has no values.
	Rank int
	// Estimate is the mean of the round means; Low and High are its own 95 %
	// interval, NaN where there is one round. The ranks come from paired
	// comparisons, not from whether these intervals overlap.
	Estimate, Low, High float64
	Reason              string // one phrase, no full stop
}

// OneRound is the reason of every group in a ranking that one round ordered.
const OneRound = "one round: order not tested"

// Rank orders groups, best first. Ranks are given from the top: a group opens
// a new rank (1 + the number of groups before it) when it is shown to be worse
// than any group of the rank above it in the list, otherwise it joins that rank.
// Every pair is compared with [Compare] at a level that makes all comparisons of
// the ranking hold together with 95 % (Bonferroni, over the pairs). A pair that cannot
// be tested counts as no difference shown; but where no group has more than one
// round, ranks are the plain order and every Reason is [OneRound]. Groups
// without values come last with rank 0. The seed fixes the resamples of the
// groups' own intervals.
func Rank(groups []Group, higherIsBetter bool, seed int64) []Ranked {
	entries := make([]entry, 0, len(groups))
	var empty []Ranked
	most := 0
	for _, g := range groups {
		e := entry{group: g, Interval: Estimate(g, seed)}
		if e.Rounds == 0 {
			empty = append(empty, Ranked{Name: g.Name, Estimate: math.NaN(), Low: math.NaN(), High: math.NaN(), Reason: "no values"})
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
	if most == 1 {
		return append(plainOrder(entries), empty...)
	}
	return append(tiers(entries, higherIsBetter), empty...)
}

type entry struct {
	group Group
	Interval
}

func (e entry) ranked(rank int, reason string) Ranked {
	return Ranked{Name: e.group.Name, Rank: rank, Estimate: e.Estimate, Low: e.Low, High: e.High, Reason: reason}
}

func plainOrder(entries []entry) []Ranked {
	out := make([]Ranked, len(entries))
	for i, e := range entries {
		rank := i + 1
		if i > 0 && e.Estimate == entries[i-1].Estimate {
			rank = out[i-1].Rank
		}
		reason := OneRound
		if len(entries) == 1 {
			reason = "the only one"
		}
		out[i] = e.ranked(rank, reason)
	}
	return out
}

func tiers(entries []entry, higherIsBetter bool) []Ranked {
	pairs := max(len(entries)*(len(entries)-1)/2, 1)
	level := 1 - (1-confidence)/float64(pairs)
	extreme := "lowest"
	if higherIsBetter {
		extreme = "highest"
	}
	out := make([]Ranked, 0, len(entries))
	top := 0 // index of the first group of the current rank
	for i, e := range entries {
		if i == 0 {
			reason := fmt.Sprintf("%s of %d over %s", extreme, len(entries), count(e.Rounds))
			if len(entries) == 1 {
				reason = "the only one"
			}
			out = append(out, e.ranked(1, reason))
			continue
		}
		worse, against := -1, Comparison{}
		for j := top; j < i && worse < 0; j++ {
			c := Compare(e.group, entries[j].group, level)
			if c.High < 0 && higherIsBetter || c.Low > 0 && !higherIsBetter {
				worse, against = j, c
			}
		}
		if worse < 0 {
			out = append(out, e.ranked(top+1, same(Compare(e.group, entries[top].group, level), entries[top])))
			continue
		}
		top = i
		out = append(out, e.ranked(top+1, different(against, entries[worse])))
	}
	return out
}

// different says by how much a group is behind another.
func different(c Comparison, other entry) string {
	return relative(c.Difference, other.Estimate) + " " + other.group.Name + " (" + bounds(c, other.Estimate) + ")"
}

// same says why a group shares the rank of another.
func same(c Comparison, leader entry) string {
	if !c.Tested() {
		return "no difference shown from " + leader.group.Name + ": too few rounds to test"
	}
	reason := fmt.Sprintf("no difference shown from %s: %s it (%s)", leader.group.Name, relative(c.Difference, leader.Estimate), bounds(c, leader.Estimate))
	if c.Needed > c.Rounds {
		reason += fmt.Sprintf("; a difference of this size would take about %d rounds to show", c.Needed)
	}
	return reason
}

// relative is a difference in percent of a reference, with its direction.
func relative(difference, reference float64) string {
	direction := "above"
	if difference < 0 {
		direction = "below"
	}
	if reference == 0 {
		return fmt.Sprintf("%.4g %s", math.Abs(difference), direction)
	}
	return percent(math.Abs(difference/reference)) + " % " + direction
}

func bounds(c Comparison, reference float64) string {
	n := "not paired"
	if c.Rounds > 0 {
		n = count(c.Rounds)
	}
	if reference == 0 {
		return fmt.Sprintf("95 %% interval %.4g to %.4g, %s", c.Low, c.High, n)
	}
	low, high := c.Low/math.Abs(reference), c.High/math.Abs(reference)
	if c.Shown() && high < 0 { // "below" already says the sign
		low, high = -high, -low
	}
	return fmt.Sprintf("95 %% interval %s to %s %%, %s", percent(low), percent(high), n)
}

// percent writes a ratio times 100 with digits for its size and a true minus
// sign; small ones keep two digits, so that a bound next to zero shows its side.
func percent(ratio float64) string {
	v := ratio * 100
	format := "%.1f"
	switch a := math.Abs(v); {
	case a >= 99.95:
		format = "%.0f"
	case a < 0.995:
		format = "%.2f"
	}
	text := fmt.Sprintf(format, math.Abs(v))
	if v < 0 && text != "0.00" {
		return "−" + text
	}
	return text
}

func count(rounds int) string {
	if rounds == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", rounds)
}
