package stats

import "math"

// Variation is what the variation of a table's logarithms comes from: shares of the sum of
// squared deviations from their mean. They add up to 1 where every cell has every block;
// where some are missing they are those of the least-squares fit of all main effects, and
// add up to about 1.
type Variation struct {
	Factors []float64 // each factor's main effect
	Blocks  float64   // rounds
	// Interactions is what depends on the cell beyond the main effects; 0 with one block,
	// where it cannot be told from the rest.
	Interactions float64
	Rest         float64
}

// withinBlocks returns a factor's share of the variation within blocks, or 0 if only rounding
// errors are left within them.
func (v Variation) withinBlocks(factor int) float64 {
	const rounding = 1e-12
	if left := 1 - v.Blocks; left > rounding {
		return v.Factors[factor] / left
	}
	return 0
}

// fitSteps bounds the least-squares fit. A table with nothing missing takes two.
const fitSteps = 100

// variation fits the main effects and the blocks by backfitting and returns the
// shares. For a complete table they are those of an analysis of variance.
func (g grid) variation() Variation {
	rest, total := g.centred()
	out := Variation{Factors: make([]float64, len(g.Factors))}
	if total == 0 {
		return out
	}
	blocks := make([]float64, len(g.Blocks))
	factors := make([][]float64, len(g.Factors))
	for f := range factors {
		factors[f] = make([]float64, len(g.Factors[f].Levels))
	}
	for range fitSteps {
		moved := sweepMeans(rest, blocks, func(_, block int) int { return block })
		for f := range factors {
			moved = max(moved, sweepMeans(rest, factors[f], func(cell, _ int) int { return g.Of[cell][f] }))
		}
		if moved < 1e-12 {
			break
		}
	}
	for cell, row := range rest {
		for block, v := range row {
			if math.IsNaN(v) {
				continue
			}
			out.Blocks += square(blocks[block]) / total
			for f := range factors {
				out.Factors[f] += square(factors[f][g.Of[cell][f]]) / total
			}
		}
	}
	if len(blocks) > 1 {
		cells := make([]float64, len(rest))
		sweepMeans(rest, cells, func(cell, _ int) int { return cell })
		for cell, row := range rest {
			out.Interactions += square(cells[cell]) * float64(len(present(row))) / total
		}
	}
	out.Rest = sumSquares(rest) / total
	return out
}

// centred returns the logarithms minus their mean, and their sum of squares.
func (g grid) centred() (out [][]float64, total float64) {
	var all []float64
	for _, row := range g.logs {
		all = append(all, present(row)...)
	}
	mean := Mean(all)
	for _, row := range g.logs {
		centred := make([]float64, len(row))
		for i, v := range row {
			centred[i] = v - mean
		}
		out = append(out, centred)
	}
	return out, sumSquares(out)
}
