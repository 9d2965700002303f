package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/sorting"
	"soku/internal/stats"
	"soku/internal/text"
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

// labelled is the results of one label and kind of test.
type labelled struct {
	label   string
	test    measure.Test
	byHand  bool
	capture capture
	apart   bool // another test differs from it in the capture only
	pair    pairing
	results []*measure.Result
}

// byLabel sorts results into tests: by label in a campaign, by kind outside one.
// Goodput of bytes that were dropped unread and of bytes that were read are two
// tests, whatever their label: one is of the path, the other of the hosts, too. labels
// are in the order of the plan.
func byLabel(results []*measure.Result, labels []string) []labelled {
	var out []labelled
	for _, r := range results {
		g := labelled{label: string(r.Test), test: r.Test, byHand: r.Trial == nil, capture: captureOf(r)}
		if !g.byHand {
			g.label = cmp.Or(r.Trial.Label, g.label)
		}
		i := slices.IndexFunc(out, g.alike)
		if i < 0 {
			out = append(out, g)
			i = len(out) - 1
		}
		out[i].capture = cmp.Or(out[i].capture, g.capture)
		out[i].results = append(out[i].results, r)
	}
	plain := slices.Clone(out)
	for i, g := range plain {
		out[i].apart = slices.ContainsFunc(plain, func(o labelled) bool { return o.label == g.label && o.byHand == g.byHand && o.capture != g.capture })
	}
	order := func(t measure.Test) int { return slices.Index(measure.Tests(), t) }
	planned := func(label string) int {
		if i := slices.Index(labels, label); i >= 0 {
			return i
		}
		return len(labels)
	}
	sorting.Stable(out, func(a, b labelled) int {
		return cmp.Or(cmp.Compare(planned(a.label), planned(b.label)), cmp.Compare(order(a.test), order(b.test)), natural(a.label, b.label), cmp.Compare(a.capture, b.capture))
	})
	return out
}

// alike reports whether the results of both may be compared. Where a trial failed
// before it received a byte, this is unknown.
func (g labelled) alike(o labelled) bool {
	return g.label == o.label && g.test == o.test && g.byHand == o.byHand && (g.capture == o.capture || g.capture == "" || o.capture == "")
}

// capture is how a receiver took the bytes; empty where that is not known.
type capture string

const (
	captureDiscarded capture = "discarded"
	captureRead      capture = "read"
)

func captureOf(r *measure.Result) capture {
	switch {
	case !r.Test.CanDiscard() || len(r.Flows) == 0 || r.Flows[0].RXPath == "":
		return ""
	case r.Flows[0].Discarded():
		return captureDiscarded
	}
	return captureRead
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
		t.looks = b.design.Until.looks(t.Label, t.Rounds)
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
	t.findRangesApart()
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

// pattern is the results of one row.
type pattern struct {
	name    string
	levels  []measure.Level
	place   int // in the order of the plan, of which one place has all pairs of hosts
	results []*measure.Result
}

// has reports whether these are the pattern's levels.
func (p pattern) has(levels []measure.Level) bool { return slices.Equal(levels, p.levels) }

// same reports whether both are one pattern: what identifies it are its levels,
// and its name only in documents that have no levels.
func (p pattern) same(o pattern) bool {
	return p.has(o.levels) && (len(p.levels) > 0 || p.name == o.name)
}

// byPattern groups a test's results into rows. Trials run by hand have no
// pattern: their path and whatever options differ between them make one up.
// order is as in [Input]; the factors unvaried set nothing in this test.
func byPattern(g labelled, varied []Option, order [][]measure.Level, unvaried []string) []pattern {
	var out []pattern
	for _, r := range g.results {
		p := pattern{}
		if r.Trial != nil {
			p.name, p.levels = r.Trial.Pattern, without(r.Trial.Levels, unvaried)
			if g.pair.factor != "" {
				p.levels = append(slices.Clone(p.levels), g.pair.level(r))
			}
			if len(p.levels) != len(r.Trial.Levels) || g.pair.factor != "" {
				p.name = measure.JoinLevels(p.levels)
			}
		} else {
			p.levels = levelsByHand(r, varied)
		}
		if p.name == "" {
			p.name = joinLevels(p.levels, r)
		}
		i := slices.IndexFunc(out, p.same)
		if i < 0 {
			out = append(out, p)
			i = len(out) - 1
		}
		out[i].results = append(out[i].results, r)
	}
	for i := range out {
		planned := pattern{levels: without(out[i].levels, []string{g.pair.factor})}
		out[i].place = slices.IndexFunc(order, func(levels []measure.Level) bool { return planned.has(without(levels, unvaried)) })
		if out[i].place < 0 {
			out[i].place = len(order)
		}
	}
	sorting.Stable(out, func(a, b pattern) int {
		if c := cmp.Compare(a.place, b.place); c != 0 {
			return c
		}
		for i := range min(len(a.levels), len(b.levels)) {
			if c := natural(a.levels[i].Value, b.levels[i].Value); c != 0 {
				return c
			}
		}
		return natural(a.name, b.name)
	})
	return out
}

// nameAbsentLevels gives patterns that lack a factor of others a name with a place for it, so
// that all names have their levels in the same order.
func nameAbsentLevels(patterns []pattern, factors []string) {
	for i, p := range patterns {
		if len(p.levels) == 0 || len(p.levels) == len(factors) {
			continue
		}
		levels := alignLevels(p.levels, factors)
		for j := range levels {
			levels[j].Value = cmp.Or(levels[j].Value, text.Absent)
		}
		patterns[i].name = measure.JoinLevels(levels)
	}
}

// without is levels without those of some factors.
func without(levels []measure.Level, factors []string) []measure.Level {
	if len(factors) == 0 {
		return levels
	}
	return slices.DeleteFunc(slices.Clone(levels), func(l measure.Level) bool { return slices.Contains(factors, l.Factor) })
}

// numberDuplicates numbers patterns that have one name and different levels.
func numberDuplicates(patterns []pattern) {
	seen := map[string]int{}
	for i := range patterns {
		name := patterns[i].name
		if seen[name]++; seen[name] > 1 {
			patterns[i].name = fmt.Sprintf("%s (%d)", name, seen[name])
		}
	}
}

func levelsByHand(r *measure.Result, varied []Option) []measure.Level {
	levels := []measure.Level{{Factor: "path", Value: r.Path.String()}}
	for _, o := range varied {
		levels = append(levels, measure.Level{Factor: o.Key, Value: optionText(r, o.Key)})
	}
	return levels
}

func joinLevels(levels []measure.Level, r *measure.Result) string {
	var parts []string
	for _, l := range levels {
		switch {
		case l.Factor == "path":
			parts = append(parts, l.Value)
		case l.Value != "":
			parts = append(parts, l.Factor+" "+l.Value)
		}
	}
	return cmp.Or(strings.Join(parts, ", "), r.Path.String())
}

// factorsOf is every factor of any row, in the order of the first row that has it.
func factorsOf(patterns []pattern) []string {
	var out []string
	for _, p := range patterns {
		for _, l := range p.levels {
			if !slices.Contains(out, l.Factor) {
				out = append(out, l.Factor)
			}
		}
	}
	return out
}

// roundIndex numbers the rounds of a test from 0 without gaps. Trials run by
// hand are one round: nothing interleaved them, so their order tests nothing.
func roundIndex(g labelled) map[int]int {
	var numbers []int
	for _, r := range g.results {
		if n := roundOf(r); !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	out := map[int]int{}
	for i, n := range numbers {
		out[n] = i
	}
	return out
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

// group is the values of a pattern in each round.
func (t *Test) group(p pattern, rounds map[int]int) stats.Group {
	results := successful(p.results)
	return stats.Group{
		Name: p.name, Rounds: perRound(results, rounds, t.Basis.Metric.Value), Sessions: sessionsPerRound(results, rounds, t.Basis.Metric, runOf),
	}
}

// groups are those of several patterns.
func (t *Test) groups(patterns []pattern, rounds map[int]int) []stats.Group {
	out := make([]stats.Group, len(patterns))
	for i, p := range patterns {
		out[i] = t.group(p, rounds)
	}
	return out
}

// rank fills Ranking and the rows' ranks.
func (t *Test) rank(patterns []pattern, rounds map[int]int) {
	groups := t.groups(patterns, rounds)
	for _, k := range t.looks.Rank(groups, t.Basis.Metric.Better == measure.Higher) {
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

// natural compares texts so that "2" comes before "16".
func natural(a, b string) int {
	for a != "" && b != "" {
		if digit(a[0]) && digit(b[0]) {
			na, ra := number(a)
			nb, rb := number(b)
			if c := cmp.Or(cmp.Compare(len(na), len(nb)), cmp.Compare(na, nb)); c != 0 {
				return c
			}
			a, b = ra, rb
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// number splits leading digits, without leading zeros, from the rest.
func number(s string) (digits, rest string) {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	return strings.TrimLeft(s[:n], "0"), s[n:]
}
