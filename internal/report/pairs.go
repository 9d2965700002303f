package report

import (
	"slices"

	"soku/internal/measure"
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
	for i, p := range patterns {
		known[of.level(p.results[0]).Value] = true
		levels := without(p.levels, []string{of.factor})
		at := slices.IndexFunc(maps, func(m pairPatterns) bool { return slices.Equal(m.levels, levels) })
		if at < 0 {
			at = len(maps)
			maps = append(maps, pairPatterns{levels: levels})
		}
		maps[at].patterns = append(maps[at].patterns, patterns[i])
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
	for _, k := range t.interim.Rank(groups, t.Basis.Metric.Better == measure.Higher) {
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
