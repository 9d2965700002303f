package stats

import (
	"math"
	"slices"
)

// Matters is whether a factor makes a difference in practice.
type Matters string

const (
	// MattersYes says that two levels of the factor differ significantly (Holm), by at least the threshold.
	MattersYes Matters = "yes"
	// MattersNo says that any two levels of the factor are equivalent.
	MattersNo Matters = "no"
	// MattersNotShown says that neither a difference nor equivalence is shown.
	MattersNotShown Matters = "not_shown"
)

// Unit is what counts as one independent observation of an effect.
type Unit string

// The units: a round, the rounds of one deployment where hosts were deployed again between
// rounds, and a combination of levels of the factors that are blocks.
const (
	UnitRound      Unit = "round"
	UnitDeployment Unit = "deployment"
	UnitLevels     Unit = "levels"
)

// Effect is a contrast of logarithms with its 95 % interval. A ratio is math.Exp of each.
type Effect struct {
	// Log is the estimate, NaN if nothing can be compared; Low and High are NaN with fewer
	// than two units.
	Log, Low, High float64
	// P is the two-sided probability of an effect of at least this size where there is
	// none, and Holm the same adjusted for the other effects of the same kind, as by
	// [HolmAdjusted]; both are NaN if it could not be tested.
	P, Holm float64
	Unit    Unit
	Units   int
	// Different is set if an effect is shown (Holm at most 5 %) and its estimate is as large
	// as the threshold.
	Different bool
}

// LevelPair is the ratio of level Of over level Over of a factor (indices of its levels).
type LevelPair struct {
	Of, Over int
	Effect
	// Equivalent is set if a difference as large as the threshold is ruled out, as by
	// [equivalence] at 5 %.
	Equivalent bool
}

// FactorEffect is what a factor does, on average over the levels of the others.
type FactorEffect struct {
	Factor
	// Share is the factor's share of the variation of the logarithms within blocks, 0 to 1:
	// what rounds differ by is in no comparison, and so not in the whole.
	Share float64
	Pairs []LevelPair // all pairs of levels
	// Largest is the pair of the largest ratio, to either side; nil with fewer than two
	// levels that can be compared.
	Largest *LevelPair
	Matters Matters
}

// Tetrad is how much the ratio of level A[0] over A[1] of a factor differs between levels
// B[0] and B[1] of another: the logarithm of the ratio of the two ratios.
type Tetrad struct {
	A, B [2]int
	Effect
}

// mostTetrads bounds the tests of two factors: 400 levels in all would have 400 million.
const mostTetrads = 50_000

// Interaction is how much the effect of one factor depends on the level of another (indices
// of the table's factors). A common limit alone makes one: what a faster level could add
// does not show where something else is the limit.
type Interaction struct {
	A, B    int
	Tetrads []Tetrad // nil if there would be more than 50,000
}

// Effects are the effects of all factors on one metric.
type Effects struct {
	Factors      []FactorEffect // of each factor of the table
	Interactions []Interaction  // of each pair of factors; none without at least two blocks
	Variation    Variation
	// NotPositive is how many round means were left out because they have no logarithm.
	NotPositive int
}

// EffectOptions say what effects are held against.
type EffectOptions struct {
	// Threshold is the smallest difference that matters in practice, as a ratio: 0.03.
	Threshold float64
	// Blocks are indices of factors whose levels, together, are the blocks of the main
	// effects: the pair of hosts, say, where hosts differ and rounds are alike. Without
	// any, the blocks are the rounds; in a table of one block only, those without
	// replicates, they are the levels of all other factors.
	Blocks []int
	Looks  Looks // at the effects, before the campaign ended
}

// FindEffects returns the effects of the factors of a table on the logarithms of its round
// means: networks change by factors. Everything is compared within blocks and tested by
// Student's t over the units, df = units-1.
//
// A main effect is the difference of two levels, averaged in each block over those
// combinations of the other factors that both levels have. Where only some of these are
// present in a block, they stand in for the others with what each differs from the mean. If
// hosts were deployed again between the blocks, the means of the deployments are the units.
// Holm's adjustment is over the pairs of a factor.
//
// An interaction is tested by all its 2 x 2 tetrads, averaged over the levels of the other
// factors, with Holm's adjustment over the tetrads of two factors. Tables of at least six
// cells and five rounds are tested like the others; the rule for many patterns, with
// variances moderated over all tetrads as in [ComparePatterns], would show more of them.
//
// The work is proportional to the pairs of levels of two factors times cells times blocks.
func FindEffects(c Cells, o EffectOptions) Effects {
	g := newGrid(c, o.Looks)
	out := Effects{Variation: g.variation(), NotPositive: g.notPositive()}
	for f := range c.Factors {
		effect := g.main(f, o)
		effect.Share = out.Variation.withinBlocks(f)
		out.Factors = append(out.Factors, effect)
	}
	if len(c.Blocks) < 2 {
		return out
	}
	for a := range c.Factors {
		for b := a + 1; b < len(c.Factors); b++ {
			out.Interactions = append(out.Interactions, g.interaction(a, b, o))
		}
	}
	return out
}

// FindEffect returns the effect of one factor (its index) of a table, as [FindEffects] does.
func FindEffect(c Cells, factor int, o EffectOptions) FactorEffect {
	return newGrid(c, o.Looks).main(factor, o)
}

// main returns the main effect of a factor.
func (g grid) main(f int, o EffectOptions) FactorEffect {
	out := FactorEffect{Factor: g.Factors[f], Matters: MattersNotShown}
	blocks := g.blockFactors(f, o.Blocks)
	rows := g.combinations(f)
	for _, p := range levelPairs(len(out.Levels)) {
		units, unit := g.units(rows, p[:1], p[1:], blocks)
		out.Pairs = append(out.Pairs, LevelPair{
			Of: p[0], Over: p[1], Effect: g.effectOf(units, unit),
			Equivalent: len(units) >= 2 && o.Looks.sameP(estimateOf(units), o.Threshold) <= o.Looks.Alpha(),
		})
	}
	adjustEffects(out.Pairs, o, func(p *LevelPair) *Effect { return &p.Effect })
	for i, p := range out.Pairs {
		if out.Largest == nil && !math.IsNaN(p.Log) || out.Largest != nil && math.Abs(p.Log) > math.Abs(out.Largest.Log) {
			out.Largest = &out.Pairs[i]
		}
	}
	open := func(p LevelPair) bool { return !p.Equivalent }
	switch {
	case slices.ContainsFunc(out.Pairs, func(p LevelPair) bool { return p.Different }):
		out.Matters = MattersYes
	case len(out.Pairs) > 0 && !slices.ContainsFunc(out.Pairs, open):
		out.Matters = MattersNo
	}
	return out
}

// blockFactors returns the factors that are the blocks of a main effect; none if they are
// the rounds.
func (g grid) blockFactors(f int, wanted []int) []int {
	blocks := slices.DeleteFunc(slices.Clone(wanted), func(b int) bool { return b == f })
	if len(blocks) == 0 && len(g.Blocks) < 2 {
		for other := range g.Factors {
			if other != f {
				blocks = append(blocks, other)
			}
		}
	}
	return blocks
}

// interaction tests all tetrads of two factors.
func (g grid) interaction(a, b int, o EffectOptions) Interaction {
	out := Interaction{A: a, B: b}
	width := len(g.Factors[b].Levels)
	of, by := levelPairs(len(g.Factors[a].Levels)), levelPairs(width)
	if len(of)*len(by) > mostTetrads {
		return out
	}
	rows := g.combinations(a, b)
	for _, p := range of {
		for _, q := range by {
			units, unit := g.units(rows, []int{p[0]*width + q[0], p[1]*width + q[1]}, []int{p[0]*width + q[1], p[1]*width + q[0]}, nil)
			out.Tetrads = append(out.Tetrads, Tetrad{A: p, B: q, Effect: g.effectOf(units, unit)})
		}
	}
	adjustEffects(out.Tetrads, o, func(t *Tetrad) *Effect { return &t.Effect })
	return out
}

// levelPairs are all pairs of n levels, the later one first.
func levelPairs(n int) [][2]int {
	out := make([][2]int, 0, n*(n-1)/2)
	for i := range n {
		for j := range i {
			out = append(out, [2]int{i, j})
		}
	}
	return out
}

// effectOf returns the mean of the units with its interval.
func (g grid) effectOf(units []float64, unit Unit) Effect {
	out := Effect{Log: Mean(units), Low: math.NaN(), High: math.NaN(), P: math.NaN(), Unit: unit, Units: len(units)}
	if len(units) >= 2 {
		e := estimateOf(units)
		half := g.half(e)
		out.Low, out.High, out.P = e.mean-half, e.mean+half, g.looks.p(e)
	}
	return out
}

// estimateOf is the mean of two or more finite values.
func estimateOf(units []float64) estimate {
	n := float64(len(units))
	return estimate{Mean(units), StdDev(units) / math.Sqrt(n), n - 1, len(units)}
}

// adjustEffects sets the adjusted probabilities of effects of one kind, and which of them are
// shown to be as large as the threshold.
func adjustEffects[T any](all []T, o EffectOptions, effect func(*T) *Effect) {
	p := make([]float64, len(all))
	for i := range all {
		p[i] = effect(&all[i]).P
	}
	for i, adjusted := range HolmAdjusted(p) {
		e := effect(&all[i])
		e.Holm = adjusted
		e.Different = adjusted <= o.Looks.Alpha() && math.Abs(e.Log) >= math.Log1p(o.Threshold)
	}
}
