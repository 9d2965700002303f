package report

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
)

// Pairs is what a test shows of its pairs of hosts, where patterns were measured between
// several.
type Pairs struct {
	Factor string `json:"factor"` // its name among the test's factors
	Pairs  int    `json:"pairs"`  // distinct ones, each direction by itself
	// Maps have the pairs of one combination of the other factors' levels each, in the order
	// of the rows.
	Maps []PairMap `json:"maps"`
	// Contention compares trials of all pairs concurrently with those of one at a time. It is
	// nil unless the campaign has both.
	Contention *Contention `json:"contention,omitempty"`
	// Start is how far apart trials that belong together started; nil without such.
	Start *StartSkew `json:"start_skew,omitempty"`
}

// PairMap is the figure that ranks, of every pair of hosts at the same levels of the other
// factors.
type PairMap struct {
	Levels []measure.Level `json:"levels,omitempty"` // of the factors that vary, without the pair
	Cells  []PairCell      `json:"cells"`            // best first, those without figures last
	// Quartiles and median of the estimates; nil without any.
	Q1     *float64 `json:"q1,omitempty"`
	Median *float64 `json:"median,omitempty"`
	Q3     *float64 `json:"q3,omitempty"`
}

// PairCell is one pair of hosts. Ranks are those within its map.
type PairCell struct {
	From     string   `json:"from"` // the client
	To       string   `json:"to"`   // the server
	Rank     int      `json:"rank"` // 0: no values
	RankLow  int      `json:"rank_low,omitempty"`
	RankHigh int      `json:"rank_high,omitempty"`
	Estimate *float64 `json:"estimate,omitempty"`
	Low      *float64 `json:"low,omitempty"`
	High     *float64 `json:"high,omitempty"`
	Trials   int      `json:"trials"` // that succeeded
	Failed   int      `json:"failed"`
}

// String is the pair as the level of its factor.
func (c PairCell) String() string { return c.From + pairArrow + c.To }

const pairArrow = " → "

// pairing is how the pairs of hosts of a test are named.
type pairing struct {
	// factor is "pair", or "hosts" where the plan has a factor of that name. It is empty if no
	// pattern was measured between several pairs: then the pair, if it varies, is what a level
	// sets.
	factor string
	// unlabelled is set where all pairs of a pattern have the labels that its levels set: the
	// same hosts are one pair with all of them.
	unlabelled bool
}

// hosts are the ends of a result's pair as the plan names them. A client that the plan does
// not name, the machine that ran the campaign, is named as in the path. They are empty where
// the result does not say.
func (p pairing) hosts(r *measure.Result) (from, to string) {
	if r.Trial == nil || r.Trial.Pair == nil {
		return "", ""
	}
	name := func(e, used measure.Endpoint) string {
		switch {
		case e.Name == "":
			return used.String()
		case p.unlabelled:
			return e.Name
		}
		return measure.Endpoint{Name: e.Name, Label: e.Label}.String()
	}
	return name(r.Trial.Pair.Client, r.Path.Client), name(r.Trial.Pair.Server, r.Path.Server)
}

// level is the pair of a result as a level of the factor; its value is empty where the result
// does not say.
func (p pairing) level(r *measure.Result) measure.Level {
	from, to := p.hosts(r)
	if from == "" && to == "" {
		return measure.Level{Factor: p.factor}
	}
	return measure.Level{Factor: p.factor, Value: from + pairArrow + to}
}

// pairingOf returns how to name the pairs of the results of a test.
func pairingOf(results []*measure.Result) pairing {
	name, several := "pair", false
	first := map[string]measure.Level{} // the pair with its labels, by pattern
	sameLabels, ofPattern, labels := true, map[string][2]string{}, map[[2]string]bool{}
	for _, r := range results {
		if r.Trial == nil || r.Trial.Pair == nil {
			continue
		}
		if slices.ContainsFunc(r.Trial.Levels, func(l measure.Level) bool { return l.Factor == "pair" }) {
			name = "hosts"
		}
		key, pair := measure.LevelsKey(r.Trial.Levels), pairing{}.level(r)
		ends := [2]string{r.Trial.Pair.Client.Label, r.Trial.Pair.Server.Label}
		labels[ends] = true
		if known, seen := first[key]; !seen {
			first[key], ofPattern[key] = pair, ends
		} else {
			several = several || known != pair
			sameLabels = sameLabels && ofPattern[key] == ends
		}
	}
	if !several {
		return pairing{}
	}
	return pairing{factor: name, unlabelled: sameLabels && len(labels) > 1}
}

// findPairs is what the patterns show of the pairs of hosts, or nil if pairs are no factor.
func (t *Test) findPairs(of pairing, patterns []pattern, rounds map[int]int) *Pairs {
	if of.factor == "" || len(patterns) == 0 {
		return nil
	}
	out := &Pairs{Factor: of.factor}
	known := map[string]bool{}
	var maps []pairPatterns
	for _, p := range patterns {
		known[of.level(p.results[0]).Value] = true
		levels := without(p.levels, []string{of.factor})
		m := findOrAdd(&maps, func(m pairPatterns) bool { return slices.Equal(m.levels, levels) }, pairPatterns{levels: levels})
		m.patterns = append(m.patterns, p)
	}
	out.Pairs = len(known)
	varied := variedFactors(maps)
	for _, m := range maps {
		out.Maps = append(out.Maps, t.pairMap(of, m, varied, rounds))
	}
	out.Contention = t.findContention(of, patterns, rounds)
	out.Start = startSkewOf(patterns)
	return out
}

// pairPatterns are patterns that differ in the pair only.
type pairPatterns struct {
	levels   []measure.Level
	patterns []pattern
}

// variedFactors are the factors of which the maps have several levels.
func variedFactors(maps []pairPatterns) []string {
	level := map[string]string{}
	var out []string
	for i, m := range maps {
		for _, l := range m.levels {
			if first, seen := level[l.Factor]; (seen && first != l.Value || !seen && i > 0) && !slices.Contains(out, l.Factor) {
				out = append(out, l.Factor)
			} else if !seen {
				level[l.Factor] = l.Value
			}
		}
	}
	return out
}

// pairMap ranks the pairs of a map among themselves.
func (t *Test) pairMap(of pairing, m pairPatterns, varied []string, rounds map[int]int) PairMap {
	out := PairMap{Levels: slices.DeleteFunc(slices.Clone(m.levels), func(l measure.Level) bool { return !slices.Contains(varied, l.Factor) })}
	groups := make([]stats.Group, len(m.patterns))
	cells := map[string]PairCell{}
	for i, p := range m.patterns {
		groups[i] = t.group(p, rounds)
		cell := PairCell{Trials: len(successful(p.results))}
		cell.From, cell.To = of.hosts(p.results[0])
		cell.Failed = len(p.results) - cell.Trials
		cells[p.name] = cell
	}
	var estimates []float64
	for _, k := range t.interim.Rank(groups, t.Basis.Metric.Better == metric.Higher, t.Practical) {
		c := cells[k.Name]
		c.Rank, c.RankLow, c.RankHigh = k.Rank, k.Ranks.Low, k.Ranks.High
		c.Estimate, c.Low, c.High = finite(k.Estimate), finite(max(k.Low, 0)), finite(k.High)
		if c.Estimate != nil {
			estimates = append(estimates, *c.Estimate)
		}
		out.Cells = append(out.Cells, c)
	}
	out.Q1, out.Median, out.Q3 = finite(stats.Quantile(estimates, 0.25)), finite(stats.Median(estimates)), finite(stats.Quantile(estimates, 0.75))
	return out
}

// ends are the best and the worst pair that have figures; nil without any.
func (m PairMap) ends() (best, worst *PairCell) {
	for i := range m.Cells {
		if c := &m.Cells[i]; c.Estimate != nil {
			if best == nil {
				best = c
			}
			worst = c
		}
	}
	return best, worst
}

// The factor that says whether pairs were measured one after another or concurrently, and its
// levels, as plans have them.
const (
	contentionFactor = "contention"
	levelIsolated    = "isolated"
	levelTogether    = "together"
)

// Contention is what measuring all pairs concurrently does to the figure that ranks, against
// measuring each by itself.
type Contention struct {
	// Overall is the ratio of concurrent over isolated, averaged over the pairs.
	Overall ContentionEffect `json:"overall"`
	// SideBySide reports that isolated trials of disjoint pairs overlapped, so that none was by itself.
	SideBySide bool `json:"side_by_side,omitempty"`
	// Of is how many pairs, times combinations of the other factors' levels, were measured in either
	// way: more than Pairs has where only a sample of them was measured by itself.
	Of int `json:"of"`
	// Pairs has one element a pair and combination of the other factors' levels, that which
	// loses most first. Their intervals hold together with 95 %; probabilities are adjusted
	// (Holm) for all of them.
	Pairs []PairContention `json:"pairs"`
}

// ContentionEffect is the ratio of the figure with all pairs measured concurrently over that of
// each by itself. Decision is worse if concurrent trials have the worse figure.
type ContentionEffect struct {
	EffectRatio
	Decision stats.Decision `json:"decision"`
	// Seen is as in [LevelEffect].
	Seen stats.Decision `json:"seen,omitempty"`
}

// PairContention is what contention does to one pair.
type PairContention struct {
	Levels   []measure.Level `json:"levels,omitempty"` // of the other factors
	From     string          `json:"from"`
	To       string          `json:"to"`
	Isolated *float64        `json:"isolated,omitempty"` // estimates
	Together *float64        `json:"together,omitempty"`
	ContentionEffect
}

// findContention is nil unless patterns were measured both ways.
func (t *Test) findContention(of pairing, patterns []pattern, rounds map[int]int) *Contention {
	var both [][2]*pattern // isolated, together
	index := map[string]int{}
	for i := range patterns {
		p := &patterns[i]
		way := slices.Index([]string{levelIsolated, levelTogether}, levelOf(p.levels, contentionFactor))
		if way < 0 {
			continue
		}
		key := measure.LevelsKey(without(p.levels, []string{contentionFactor}))
		at, known := index[key]
		if !known {
			at = len(both)
			index[key] = at
			both = append(both, [2]*pattern{})
		}
		both[at][way] = p
	}
	measured := len(both)
	both = slices.DeleteFunc(both, func(b [2]*pattern) bool { return b[0] == nil || b[1] == nil })
	if len(both) == 0 {
		return nil
	}
	out := &Contention{Overall: t.overallContention(), Of: measured}
	var pairs []stats.ChoicePair
	var isolated []*measure.Result
	for _, b := range both {
		isolated = append(isolated, b[0].results...)
		p := PairContention{Levels: without(b[0].levels, []string{contentionFactor, of.factor}), Isolated: t.estimateOf(b[0].name), Together: t.estimateOf(b[1].name)}
		p.From, p.To = of.hosts(b[0].results[0])
		out.Pairs = append(out.Pairs, p)
		pairs = append(pairs, stats.ChoicePair{A: t.group(*b[1], rounds), B: t.group(*b[0], rounds)})
	}
	for i, c := range t.interim.CompareChoices(pairs, t.Basis.Metric.Better == metric.Higher, t.Practical) {
		p := &out.Pairs[i]
		p.Ratio, p.Low, p.High, p.P = finite(c.Ratio), finite(c.Low), finite(c.High), finite(c.Adjusted)
		p.Blocks, p.Unit, p.Decision, p.Seen, p.Alike = c.Rounds, stats.UnitRound, c.Decision, c.Seen, c.Alike
	}
	out.SideBySide = overlapped(isolated)
	slices.SortStableFunc(out.Pairs, func(a, b PairContention) int { return cmp.Compare(t.loss(b.Ratio), t.loss(a.Ratio)) })
	return out
}

// overlapped reports whether trials ran concurrently: whether one that moved bytes for a known time was
// less than half done when another began. The clocks of clients may differ by less.
func overlapped(results []*measure.Result) bool {
	results = slices.Clone(results)
	slices.SortStableFunc(results, func(a, b *measure.Result) int { return a.StartedAt.Compare(b.StartedAt) })
	for i := range results[1:] {
		half := results[i].StartedAt.Add(results[i].Summary.DurationNs.Std() / 2)
		if results[i+1].StartedAt.Before(half) {
			return true
		}
	}
	return false
}

// loss is how much worse a ratio is than 1, as a logarithm; the least of all where there is
// no ratio.
func (t *Test) loss(ratio *float64) float64 {
	switch {
	case ratio == nil:
		return math.Inf(-1)
	case t.Basis.Metric.Better == metric.Higher:
		return -math.Log(*ratio)
	}
	return math.Log(*ratio)
}

// overallContention is the main effect of contention: all pairs concurrently over each by itself.
func (t *Test) overallContention() ContentionEffect {
	for _, e := range t.Effects {
		if e.Factor != contentionFactor {
			continue
		}
		if e.A == levelIsolated {
			e = e.reversed()
		}
		if e.A == levelTogether && e.B == levelIsolated {
			return ContentionEffect{e.EffectRatio, e.Decision, e.Seen}
		}
	}
	return ContentionEffect{Decision: stats.NotShown}
}

// estimateOf is the estimate of a pattern in the ranking.
func (t *Test) estimateOf(pattern string) *float64 {
	return cmp.Or(t.place(pattern), &Place{}).Estimate
}

// StartSkew is how far apart the trials of groups that start at one moment started, on the
// clock of the machine that ran the campaign.
type StartSkew struct {
	Groups    int     `json:"groups"`
	MedianNs  float64 `json:"median_ns"`  // of the groups: from the first of its trials to the last
	LargestNs float64 `json:"largest_ns"` // of the groups, measured in the same way
	// ErrorNs is the largest uncertainty of these times: they are known within ± ErrorNs. It is
	// 0 for trials of one process, and for documents of versions that did not measure it.
	ErrorNs float64 `json:"error_ns,omitempty"`
}

// startSkewOf is nil if no trials started in groups.
func startSkewOf(patterns []pattern) *StartSkew {
	last, uncertainty := map[string]float64{}, 0.0
	for _, p := range patterns {
		for _, r := range p.results {
			if g := r.Trial.Group; g != nil && g.StartSkewNs != nil {
				last[g.ID] = max(last[g.ID], float64(*g.StartSkewNs))
				uncertainty = max(uncertainty, float64(g.StartSkewErrorNs))
			}
		}
	}
	if len(last) == 0 {
		return nil
	}
	all := slices.Sorted(maps.Values(last))
	return &StartSkew{Groups: len(all), MedianNs: stats.Median(all), LargestNs: all[len(all)-1], ErrorNs: uncertainty}
}
