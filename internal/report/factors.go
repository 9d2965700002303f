package report

import (
	"cmp"
	"math"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
)

// FactorEffect is what a factor does to the figure that ranks, on average over the levels of
// the other factors.
type FactorEffect struct {
	Factor string `json:"factor"`
	// Share is the factor's share of the variation of the logarithms within rounds, 0 to 1.
	Share float64 `json:"share"`
	// LargestRatio is the largest ratio of two levels, 1 or more, or nil if no two levels could
	// be compared.
	LargestRatio *float64      `json:"largest_ratio,omitempty"`
	Matters      stats.Matters `json:"matters"`
}

// LevelEffect compares two levels of a factor: the ratio of the figure at A over that at B,
// with its 95 % interval. A is better or worse if a difference is shown and is as large as
// the practical threshold, and the same if a difference as large as that is ruled out.
type LevelEffect struct {
	Factor string `json:"factor"`
	A      string `json:"a"`
	B      string `json:"b"`
	EffectRatio
	Decision stats.Decision `json:"decision"`
	// Seen is better or worse if each of three to five observations has a significant difference of
	// that size: too few for a decision.
	Seen stats.Decision `json:"seen,omitempty"`
}

// EffectRatio is a ratio with its 95 % interval; figures that are not known are nil.
type EffectRatio struct {
	Ratio *float64 `json:"ratio,omitempty"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	// P is the probability of a ratio at least this far from 1 without an effect, adjusted
	// (Holm) for the other comparisons of the factor, or of the pair of factors.
	P      *float64 `json:"p,omitempty"`
	Blocks int      `json:"blocks"` // independent observations
	// SignedRanks is set if the observations have heavy tails, so that they are compared by the
	// signed-rank test.
	SignedRanks bool `json:"signed_ranks,omitempty"`
	// Alike is set if neighbouring rounds are alike in the ratio.
	Alike bool       `json:"rounds_alike,omitempty"`
	Unit  stats.Unit `json:"unit,omitempty"` // what one of these is
}

// Interaction is how much the effect of one factor depends on another: the ratio of level
// A[0] over A[1] of the first at level B[0] of the second, divided by that at B[1]. Of all
// such ratios it is the largest that is shown, or the one with the smallest probability.
type Interaction struct {
	Factors [2]string  `json:"factors"`
	A       *[2]string `json:"a,omitempty"` // nil if nothing could be compared
	B       *[2]string `json:"b,omitempty"`
	EffectRatio
	Tested int `json:"tested"` // ratios that were tested: none if there would be too many
	Shown  int `json:"shown"`  // of these, the ones that are shown and as large as the threshold
	// At is, where one is shown, what the first factor does at level B[0] and at B[1] of the
	// second: level A[0] over A[1].
	At []LevelEffect `json:"at,omitempty"`
}

// findEffects fills Effects, FactorEffects and Interactions. A campaign with one factor has
// none: its ranking compares the levels already. Where levels were searched, the factors
// except the searched one are compared at their plateaus: each search measures levels around
// its own best, so few levels are common to all. There are none where the figure of a round is 0.
func (t *Test) findEffects(patterns []pattern) {
	if t.ByHand {
		return
	}
	least := 2
	if plateaus := t.plateaus(); len(plateaus) > 0 {
		patterns, least, t.PlateauOf = plateaus, 1, t.allCurves()[0].Option
	}
	table := t.observations(patterns)
	if len(table.Factors) < least {
		t.PlateauOf = ""
		return
	}
	cells := table.Cells(t.Label, t.Basis.Metric.Key)
	options := stats.EffectOptions{Threshold: t.Practical, Looks: t.interim.Looks}
	effects := stats.FindEffects(cells, options)
	if effects.NotPositive > 0 {
		// Effects are ratios: without the rounds of 0 they would be of those that went well.
		t.zeros, t.PlateauOf = effects.NotPositive, ""
		return
	}
	for _, f := range effects.Factors {
		out := FactorEffect{Factor: f.Name, Share: f.Share, Matters: f.Matters}
		if f.Largest != nil {
			out.LargestRatio = finite(math.Exp(math.Abs(f.Largest.Log)))
		}
		t.FactorEffects = append(t.FactorEffects, out)
		for _, p := range largestEffects(f.Pairs) {
			t.Effects = append(t.Effects, t.levelEffect(f.Name, f.Levels, p))
		}
	}
	for _, i := range effects.Interactions {
		out := interactionOf(i, cells.Factors)
		if out.Shown > 0 {
			out.At = t.effectsAt(cells, i, out, options)
		}
		t.Interactions = append(t.Interactions, out)
	}
}

// plateaus are the patterns on the plateaus of all searches, without the factor that was
// searched.
func (t *Test) plateaus() (out []pattern) {
	for _, c := range t.allCurves() {
		for _, p := range c.plateau {
			p.levels = without(p.levels, []string{c.Option})
			out = append(out, p)
		}
	}
	return out
}

// mostEffects is how many pairs of levels of a factor a report has.
const mostEffects = 1000

// largestEffects are the pairs that a report has: all, or of more than [mostEffects], which
// the pairs of a mesh of hosts make, those of the largest ratios.
func largestEffects(pairs []stats.LevelPair) []stats.LevelPair {
	if len(pairs) <= mostEffects {
		return pairs
	}
	out := slices.DeleteFunc(slices.Clone(pairs), func(p stats.LevelPair) bool { return math.IsNaN(p.Log) })
	slices.SortStableFunc(out, func(a, b stats.LevelPair) int { return cmp.Compare(math.Abs(b.Log), math.Abs(a.Log)) })
	return out[:min(len(out), mostEffects)]
}

// observations is the table of the figure that ranks, one row a trial, with the factors whose
// effects can be told apart.
func (t *Test) observations(patterns []pattern) stats.Observations {
	out := stats.Observations{}
	var levels [][]string // of the rows
	for _, p := range patterns {
		var all []string
		for _, l := range alignLevels(p.levels, t.Factors) {
			all = append(all, l.Value)
		}
		for _, r := range successful(p.results) {
			if v, ok := t.Basis.Metric.Value(r); ok && plausible(v) {
				out.Rows = append(out.Rows, stats.Observation{
					Test: t.Label, Metric: t.Basis.Metric.Key, Value: v, Round: roundOf(r), Repeat: repeatOf(r), Session: runOf(r), Deployment: deploymentOf(r),
				})
				levels = append(levels, all)
			}
		}
	}
	kept := separable(levels, len(t.Factors))
	for _, f := range kept {
		out.Factors = append(out.Factors, stats.Factor{Name: t.Factors[f]})
	}
	for i := range out.Rows {
		for _, f := range kept {
			out.Rows[i].Levels = append(out.Rows[i].Levels, levels[i][f])
		}
	}
	return out
}

// separable returns the factors that vary and are not only labels of another. If each level
// of one factor occurs with a single level of another, that other is a label of it: whatever
// it does, the first does as well. Of two that are labels of each other the first is kept.
func separable(rows [][]string, factors int) []int {
	labels := func(of, by int) bool { return occursWithOne(rows, of, by) }
	var out []int
	for f := range factors {
		varies := !occursWithOne(rows, -1, f)
		label := false
		for other := range factors {
			label = label || other != f && labels(other, f) && (other < f || !labels(f, other))
		}
		if varies && !label {
			out = append(out, f)
		}
	}
	return out
}

// occursWithOne reports whether each level of a factor (all rows, if it is -1) occurs with a
// single level of another.
func occursWithOne(rows [][]string, factor, other int) bool {
	of := map[string]string{}
	for _, row := range rows {
		key := ""
		if factor >= 0 {
			key = row[factor]
		}
		if level, known := of[key]; known && level != row[other] {
			return false
		}
		of[key] = row[other]
	}
	return true
}

// deploymentOf identifies the hosts of a result as they were started, empty if one of them
// does not say.
func deploymentOf(r *measure.Result) (out string) {
	for _, h := range []*measure.Host{r.Hosts.Client, r.Hosts.Server} {
		if h == nil {
			continue
		}
		if h.Facts.Deployment == nil {
			return ""
		}
		out += h.Facts.Deployment.BootID + " " + h.Facts.Deployment.InstanceID + "\n"
	}
	return out
}

// effectsAt are what the first factor of an interaction does at both levels of the second;
// nil where one of them could not be compared.
func (t *Test) effectsAt(cells stats.Cells, i stats.Interaction, shown Interaction, o stats.EffectOptions) (out []LevelEffect) {
	levels := cells.Factors[i.A].Levels
	for _, at := range shown.B {
		level := slices.Index(cells.Factors[i.B].Levels, at)
		for _, p := range stats.FindEffect(cells.With(i.B, level), i.A, o).Pairs {
			switch e := t.levelEffect(shown.Factors[0], levels, p); {
			case e.Ratio == nil:
			case e.A == shown.A[0] && e.B == shown.A[1]:
				out = append(out, e)
			case e.B == shown.A[0] && e.A == shown.A[1]:
				out = append(out, e.reversed())
			}
		}
	}
	if len(out) != len(shown.B) {
		return nil
	}
	return out
}

// levelEffect is a comparison of two of a factor's levels.
func (t *Test) levelEffect(factor string, levels []string, p stats.LevelPair) LevelEffect {
	return LevelEffect{Factor: factor, A: levels[p.Of], B: levels[p.Over], EffectRatio: ratioOf(p.Effect), Decision: t.decide(p), Seen: t.seen(p)}
}

func (t *Test) decide(p stats.LevelPair) stats.Decision {
	switch {
	case p.Equivalent:
		return stats.Same
	case !p.Different:
		return stats.NotShown
	}
	return t.direction(p)
}

func (t *Test) seen(p stats.LevelPair) stats.Decision {
	if !p.Seen {
		return ""
	}
	return t.direction(p)
}

func (t *Test) direction(p stats.LevelPair) stats.Decision {
	if p.Log > 0 == (t.Basis.Metric.Better == metric.Higher) {
		return stats.Better
	}
	return stats.Worse
}

func ratioOf(e stats.Effect) EffectRatio {
	return EffectRatio{
		Ratio: finite(math.Exp(e.Log)), Low: finite(math.Exp(e.Low)), High: finite(math.Exp(e.High)), P: finite(e.Holm), Blocks: e.Units, Unit: e.Unit, SignedRanks: e.SignedRanks, Alike: e.Alike,
	}
}

// interactionOf keeps of an interaction the comparison of most weight.
func interactionOf(i stats.Interaction, factors []stats.Factor) Interaction {
	of, by := factors[i.A], factors[i.B]
	out := Interaction{Factors: [2]string{of.Name, by.Name}}
	tested := slices.DeleteFunc(slices.Clone(i.Tetrads), func(t stats.Tetrad) bool { return math.IsNaN(t.P) })
	if out.Tested = len(tested); out.Tested == 0 {
		return out
	}
	shown := slices.DeleteFunc(slices.Clone(tested), func(t stats.Tetrad) bool { return !t.Different })
	out.Shown = len(shown)
	most := slices.MinFunc(tested, func(a, b stats.Tetrad) int { return cmp.Compare(a.P, b.P) })
	if len(shown) > 0 {
		most = slices.MaxFunc(shown, func(a, b stats.Tetrad) int { return cmp.Compare(math.Abs(a.Log), math.Abs(b.Log)) })
	}
	out.A = &[2]string{of.Levels[most.A[0]], of.Levels[most.A[1]]}
	out.B = &[2]string{by.Levels[most.B[0]], by.Levels[most.B[1]]}
	out.EffectRatio = ratioOf(most.Effect)
	return out
}
