package report

import (
	"cmp"
	"math"
	"slices"

	"soku/internal/measure"
	"soku/internal/stats"
)

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
	both = slices.DeleteFunc(both, func(b [2]*pattern) bool { return b[0] == nil || b[1] == nil })
	if len(both) == 0 {
		return nil
	}
	out := &Contention{Overall: t.overallContention()}
	var pairs []stats.ChoicePair
	for _, b := range both {
		p := PairContention{Levels: without(b[0].levels, []string{contentionFactor, of.factor}), Isolated: t.estimateOf(b[0].name), Together: t.estimateOf(b[1].name)}
		p.From, p.To = of.hosts(b[0].results[0])
		out.Pairs = append(out.Pairs, p)
		pairs = append(pairs, stats.ChoicePair{A: t.group(*b[1], rounds), B: t.group(*b[0], rounds)})
	}
	for i, c := range t.interim.CompareChoices(pairs, t.Basis.Metric.Better == measure.Higher, t.Practical) {
		p := &out.Pairs[i]
		p.Ratio, p.Low, p.High, p.P = finite(c.Ratio), finite(c.Low), finite(c.High), finite(c.Adjusted)
		p.Blocks, p.Unit, p.Decision = c.Rounds, stats.UnitRound, c.Decision
	}
	slices.SortStableFunc(out.Pairs, func(a, b PairContention) int { return cmp.Compare(t.loss(b.Ratio), t.loss(a.Ratio)) })
	return out
}

// loss is how much worse a ratio is than 1, as a logarithm; the least of all where there is
// no ratio.
func (t *Test) loss(ratio *float64) float64 {
	switch {
	case ratio == nil:
		return math.Inf(-1)
	case t.Basis.Metric.Better == measure.Higher:
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
		out := ContentionEffect{e.EffectRatio, e.Decision}
		switch {
		case e.A == levelTogether && e.B == levelIsolated:
			return out
		case e.A == levelIsolated && e.B == levelTogether:
			out.Ratio, out.Low, out.High = inverse(e.Ratio), inverse(e.High), inverse(e.Low)
			out.Decision = reversed(e.Decision)
			return out
		}
	}
	return ContentionEffect{Decision: stats.NotShown}
}

// estimateOf is the estimate of a pattern in the ranking.
func (t *Test) estimateOf(pattern string) *float64 {
	if p := t.place(pattern); p != nil {
		return p.Estimate
	}
	return nil
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
	var all []float64
	for _, skew := range last {
		all = append(all, skew)
	}
	slices.Sort(all)
	return &StartSkew{Groups: len(all), MedianNs: stats.Median(all), LargestNs: all[len(all)-1], ErrorNs: uncertainty}
}
