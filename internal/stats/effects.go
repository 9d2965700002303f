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
	// as the threshold. Seen is set instead if its units are fewer than six and all have it.
	Different, Seen bool
	// SignedRanks is as in [Comparison].
	SignedRanks bool
	// Alike reports that neighbouring rounds are alike in the effect. See [LagOne].
	Alike bool

	estimate estimate
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
// means: networks change by factors. Everything is compared within blocks and tested over the units.
//
// A main effect is the difference of two levels, averaged in each block over those
// combinations of the other factors that both levels have. Where only some of these are
// present in a block, they stand in for the others with what each differs from the mean. If
// hosts were deployed again between the blocks, the means of the deployments are the units.
// Four levels or more are compared as [ComparePatterns] does, two or three as [Compare] does. Holm's
// adjustment is over the pairs of a factor.
//
// An interaction is tested by all its 2 x 2 tetrads, averaged over the levels of the other
// factors, with Holm's adjustment over the tetrads of two factors. Those of six cells and more
// share what the cells show about noise: its variance, and from eight rounds on its
// autocorrelation.
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
	together, table, unit := g.together(rows, len(out.Levels), blocks)
	for _, p := range levelPairs(len(out.Levels)) {
		pair := LevelPair{Of: p[0], Over: p[1]}
		if together != nil {
			e := together.all[pairIndex(len(out.Levels), p[1], p[0])].negated()
			pair.Effect = g.effect(e, unit)
			pair.Alike = unit == UnitRound && paired(pairwise(Group{}, Group{}, table[p[0]], table[p[1]])).alike()
		} else {
			units, unit := g.units(rows, p[:1], p[1:], blocks)
			pair.Effect = g.effectOf(units, unit)
		}
		pair.Equivalent = !math.IsNaN(pair.P) && pair.Units >= shownRounds && o.Looks.sameP(pair.estimate, o.Threshold) <= o.Looks.Alpha()
		out.Pairs = append(out.Pairs, pair)
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

// together compares all levels of a factor by the rule for many patterns, of their marginal means:
// the mean of a level in each block over the combinations of the other factors. nil where that rule
// does not apply: for fewer than four levels, if a combination lacks a level or all its logarithms, or
// if hosts were deployed again.
func (g grid) together(rows [][]int, levels int, blocks []int) (*contrasts, [][]float64, Unit) {
	table, cells := make([][]float64, levels), slices.Concat(rows...)
	lacks := func(cell int) bool { return cell < 0 || len(finites(g.logs[cell])) == 0 }
	if levels < moderatedPatterns || slices.ContainsFunc(cells, lacks) {
		return nil, nil, ""
	}
	for level := range table {
		var of [][]float64
		var at [][]int
		for _, row := range rows {
			of, at = append(of, g.logs[row[level]]), append(at, row[level:level+1])
		}
		if len(blocks) > 0 {
			table[level] = g.byLevels(of, at, blocks)
		} else {
			table[level] = marginal(of, len(g.Blocks))
		}
	}
	c, out, residuals := PatternComparison{looks: g.looks}, pairContrasts(table), residualsOf(table)
	if len(blocks) > 0 {
		c.errors(&out, table, residuals, 0)
		return &out, table, UnitLevels
	}
	all := make([]float64, len(g.Blocks))
	for block := range all {
		for _, row := range table {
			all[block] += row[block]
		}
	}
	if _, redeployed := ByDeployment(all, g.runs(all, cells)); redeployed {
		return nil, nil, ""
	}
	c.errors(&out, table, residuals, residuals.autocorrelation())
	return &out, table, UnitRound
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
	noise := g.tetradNoise(rows, len(g.Factors[a].Levels), width)
	for _, p := range of {
		for _, q := range by {
			units, unit := g.units(rows, []int{p[0]*width + q[0], p[1]*width + q[1]}, []int{p[0]*width + q[1], p[1]*width + q[0]}, nil)
			out.Tetrads = append(out.Tetrads, Tetrad{A: p, B: q, Effect: g.tetrad(units, unit, noise)})
		}
	}
	adjustEffects(out.Tetrads, o, func(t *Tetrad) *Effect { return &t.Effect })
	return out
}

// fewestCells is how many cells two factors need so that their tetrads share what they show about
// noise.
const fewestCells = 6

// tetradNoise is what is left of the cells of two factors, averaged over the other factors, without
// what depends on one of them and the round: a table of cells by rounds. It has no degrees of
// freedom unless all cells are there and are six or more.
func (g grid) tetradNoise(rows [][]int, height, width int) (out twoWay) {
	if height*width < fewestCells || len(rows) == 0 || slices.Contains(slices.Concat(rows...), -1) {
		return twoWay{}
	}
	cells := make([][]float64, height*width)
	for cell := range cells {
		var of [][]float64
		for _, row := range rows {
			of = append(of, g.logs[row[cell]])
		}
		cells[cell] = marginal(of, len(g.Blocks))
	}
	if slices.ContainsFunc(cells, func(row []float64) bool { return slices.ContainsFunc(row, math.IsNaN) }) {
		return twoWay{}
	}
	// What depends on a level of either factor and the round is in no tetrad.
	sweepMeans(cells, make([]float64, height*len(g.Blocks)), func(cell, block int) int { return cell/width*len(g.Blocks) + block })
	sweepMeans(cells, make([]float64, width*len(g.Blocks)), func(cell, block int) int { return cell%width*len(g.Blocks) + block })
	out = residualsOf(cells)
	out.df = float64((height - 1) * (width - 1) * (len(g.Blocks) - 1))
	return out
}

// tetrad is a contrast of four cells: its variance is at least four times that of the noise in fewer
// than eight rounds, and its error allows for the autocorrelation of the noise in more.
func (g grid) tetrad(units []float64, unit Unit, noise twoWay) Effect {
	if noise.df < 1 || unit != UnitRound || len(units) < testedRounds || g.looks.anytime {
		return g.effectOf(units, unit)
	}
	e, n := studentOf(units), float64(len(units))
	_, alike := LagOne(units)
	if e.pooled = true; e.n < minAdjustedRounds {
		e.err = math.Sqrt(max(square(StdDev(units)), 2*noise.pairVariance()) / n)
		e.df = min(noise.df, 2*(n-1)+2)
	} else {
		widen, df := adjustment(noise.autocorrelation(), e.df)
		e.err, e.df = e.err*widen, df
	}
	out := g.effect(e, unit)
	out.Alike = alike
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
	if len(units) == 0 {
		return g.effect(estimate{mean: math.NaN(), err: math.NaN()}, unit)
	}
	d := paired(units)
	if unit == UnitLevels { // in no order of time
		d = contrast{estimate: studentOf(units)}
	}
	out := g.effect(d.tested().at(g.looks).estimate, unit)
	out.Alike = unit == UnitRound && d.alike()
	return out
}

// effect returns an estimate as an effect with its interval.
func (g grid) effect(e estimate, unit Unit) Effect {
	e = e.forLevel(g.looks.Alpha())
	out := Effect{Log: e.value(), Low: math.NaN(), High: math.NaN(), P: math.NaN(), Unit: unit, Units: e.n, SignedRanks: e.ranks != nil, estimate: e}
	if !math.IsNaN(e.err) {
		out.Low, out.High = g.interval(e)
		out.P = g.looks.p(e)
	}
	return out
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
		large := adjusted <= o.Looks.Alpha() && math.Abs(e.Log) >= math.Log1p(o.Threshold)
		e.Different, e.Seen = large && e.estimate.shows(), large && e.estimate.seen()
	}
}
