package stats

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// grid is a table of logarithms from which contrasts are taken.
type grid struct {
	Cells
	logs        [][]float64
	deployments [][]int // number of each mean's deployment from 1; 0: unknown
	looks       Looks
	interval    func(estimate) (low, high float64)
}

// newGrid makes the grid of a table that is looked at so often.
func newGrid(c Cells, looks Looks) grid {
	g := grid{Cells: c, logs: c.Logs(), looks: looks, interval: looks.intervals(looks.Alpha())}
	numbers := map[string]int{"": 0}
	for _, row := range c.Deployments {
		numbered := make([]int, len(row))
		for i, name := range row {
			if _, known := numbers[name]; !known {
				numbers[name] = len(numbers)
			}
			numbered[i] = numbers[name]
		}
		g.deployments = append(g.deployments, numbered)
	}
	return g
}

func (g grid) notPositive() int {
	n := 0
	for _, row := range g.Means {
		for _, v := range row {
			if v <= 0 {
				n++
			}
		}
	}
	return n
}

// combinations arranges the cells by the levels of some factors: one row a combination of
// levels of all other factors, one column a combination of levels of these, the last one
// changing first. An element is the cell, -1 if there is none.
func (g grid) combinations(factors ...int) [][]int {
	columns := 1
	for _, f := range factors {
		columns *= len(g.Factors[f].Levels)
	}
	var rows [][]int
	index := map[string]int{}
	for cell, of := range g.Of {
		rest, column := slices.Clone(of), 0
		for _, f := range factors {
			column = column*len(g.Factors[f].Levels) + of[f]
			rest[f] = -1
		}
		key := fmt.Sprint(rest)
		row, known := index[key]
		if !known {
			row = len(rows)
			index[key] = row
			rows = append(rows, slices.Repeat([]int{-1}, columns))
		}
		rows[row][column] = cell
	}
	return rows
}

// units returns the independent observations of a contrast of columns: the sum of some
// minus the sum of others, averaged over the rows that have all of them. The blocks are
// the levels of some factors, or the rounds.
func (g grid) units(rows [][]int, plus, minus []int, blocks []int) ([]float64, Unit) {
	var contrasts [][]float64
	var cells []int
	var complete [][]int
	for _, row := range rows {
		all := make([]int, 0, 4)
		for _, column := range slices.Concat(plus, minus) {
			all = append(all, row[column])
		}
		if slices.Contains(all, -1) {
			continue
		}
		contrasts = append(contrasts, g.contrast(all[:len(plus)], all[len(plus):]))
		cells, complete = append(cells, all...), append(complete, all)
	}
	if len(blocks) > 0 {
		return g.byLevels(contrasts, complete, blocks), UnitLevels
	}
	values := marginal(contrasts, len(g.Blocks))
	units, redeployed := ByDeployment(values, g.runs(values, cells))
	if redeployed {
		return units, UnitDeployment
	}
	return units, UnitRound
}

// contrast returns the sum of some cells' logarithms minus that of others, in each block.
func (g grid) contrast(plus, minus []int) []float64 {
	out := make([]float64, len(g.Blocks))
	for block := range out {
		for _, cell := range plus {
			out[block] += g.logs[cell][block]
		}
		for _, cell := range minus {
			out[block] -= g.logs[cell][block]
		}
	}
	return out
}

// marginal returns the mean of each block over several contrasts, of which each is missing
// (NaN) in some blocks. A block that lacks some would shift by what these differ from the
// others; so each is taken as its difference from its own mean.
func marginal(contrasts [][]float64, blocks int) []float64 {
	var means []float64
	counts, out := make([]int, blocks), make([]float64, blocks)
	for _, row := range contrasts {
		mean := Mean(present(row))
		if math.IsNaN(mean) {
			continue
		}
		means = append(means, mean)
		for block, v := range row {
			if !math.IsNaN(v) {
				counts[block]++
				out[block] += v - mean
			}
		}
	}
	overall := Mean(means)
	for block, n := range counts {
		if n == 0 {
			out[block] = math.NaN()
			continue
		}
		out[block] = overall + out[block]/float64(n)
	}
	return out
}

// runs returns, for each block that has a value, the run of blocks that it belongs to:
// those between which none of the cells' hosts was deployed again, as far as is known.
func (g grid) runs(values []float64, cells []int) []string {
	out, run := make([]string, len(values)), 0
	current := make(map[int]int, len(cells)) // the deployment of each cell
	for block, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if g.redeployed(current, cells, block) {
			clear(current)
			run++
		}
		for _, cell := range cells {
			if d := g.deployments[cell][block]; d > 0 {
				current[cell] = d
			}
		}
		out[block] = strconv.Itoa(run)
	}
	return out
}

func (g grid) redeployed(current map[int]int, cells []int, block int) bool {
	return slices.ContainsFunc(cells, func(cell int) bool {
		before, now := current[cell], g.deployments[cell][block]
		return before > 0 && now > 0 && before != now
	})
}

// byLevels returns the means of contrasts over the combinations of levels of some factors
// that their cells have in common.
func (g grid) byLevels(contrasts [][]float64, cells [][]int, factors []int) []float64 {
	means, combinations := make([]float64, len(contrasts)), make([]string, len(contrasts))
	for i, row := range contrasts {
		var levels []int
		for _, f := range factors {
			levels = append(levels, g.Of[cells[i][0]][f])
		}
		means[i], combinations[i] = Mean(present(row)), fmt.Sprint(levels)
	}
	return meansBy(means, combinations)
}
