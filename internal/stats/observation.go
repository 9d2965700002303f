package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Observation is one figure of one trial.
type Observation struct {
	Test, Metric string
	Value        float64
	// Round is the pass over all patterns, Repeat the trial's number within it, and Session
	// the run of the campaign, from its start or a resumption to its end.
	Round, Repeat, Session int
	// Deployment identifies the hosts as they were started: it changes when a host is
	// started again or replaced. "" if unknown.
	Deployment string
	Levels     []string // one a factor of the table
}

// Observations is a table of figures: one row a figure of a trial.
type Observations struct {
	Factors []Factor
	Rows    []Observation
}

// Factor is what was varied on purpose, and its levels in the order in which they are
// shown. Levels that a table has besides these follow in the order of their first row.
type Factor struct {
	Name   string
	Levels []string
}

// Block is what was measured at about the same time, so that what changes between blocks
// cancels out of comparisons within them: a round, or the part of it that one session
// measured.
type Block struct{ Session, Round int }

// Cells are the round means of a table. A cell is a combination of one level of every
// factor of which there are figures.
type Cells struct {
	Factors []Factor
	// Of has, for each cell, the index of its level of each factor.
	Of     [][]int
	Blocks []Block // by session and round
	// Means has one row a cell and one column a block: the mean of the cell's repeats; NaN
	// without any.
	Means [][]float64
	// Deployments has the deployment of each mean.
	Deployments [][]string
}

// With returns the cells that have a level of a factor (indices). They are shared with c.
func (c Cells) With(factor, level int) Cells {
	out := Cells{Factors: c.Factors, Blocks: c.Blocks}
	for i, of := range c.Of {
		if of[factor] == level {
			out.Of, out.Means, out.Deployments = append(out.Of, of), append(out.Means, c.Means[i]), append(out.Deployments, c.Deployments[i])
		}
	}
	return out
}

// Cells reduces the rows of one metric of one test to round means. Cells are in the order of
// their first row. Values that are not finite are left out, as if their rows were not there.
// Every row must have a level of every factor.
func (o Observations) Cells(test, metric string) Cells {
	rows := slices.DeleteFunc(slices.Clone(o.Rows), func(r Observation) bool {
		return r.Test != test || r.Metric != metric || math.IsNaN(r.Value) || math.IsInf(r.Value, 0)
	})
	out := Cells{Blocks: blocksOf(rows)}
	for _, f := range o.Factors {
		out.Factors = append(out.Factors, Factor{Name: f.Name, Levels: slices.Clone(f.Levels)})
	}
	index := map[string]int{}
	values := map[[2]int][]float64{} // by cell and block
	for _, r := range rows {
		key := fmt.Sprintf("%q", r.Levels)
		cell, known := index[key]
		if !known {
			cell = out.add(r.Levels)
			index[key] = cell
		}
		block, _ := slices.BinarySearchFunc(out.Blocks, r.block(), Block.compare)
		at := [2]int{cell, block}
		values[at] = append(values[at], r.Value)
		out.Means[cell][block] = Mean(values[at])
		out.Deployments[cell][block] = r.Deployment
	}
	return out
}

func (r Observation) block() Block { return Block{Session: r.Session, Round: r.Round} }

func (b Block) compare(o Block) int {
	return cmp.Or(cmp.Compare(b.Session, o.Session), cmp.Compare(b.Round, o.Round))
}

// blocksOf returns the blocks of some rows in order.
func blocksOf(rows []Observation) []Block {
	var out []Block
	for _, r := range rows {
		out = append(out, r.block())
	}
	slices.SortStableFunc(out, Block.compare)
	return slices.Compact(out)
}

// add adds a cell without values.
func (c *Cells) add(levels []string) int {
	of, means := make([]int, len(c.Factors)), make([]float64, len(c.Blocks))
	for f := range c.Factors {
		factor := &c.Factors[f]
		of[f] = slices.Index(factor.Levels, levels[f])
		if of[f] < 0 {
			of[f] = len(factor.Levels)
			factor.Levels = append(factor.Levels, levels[f])
		}
	}
	for i := range means {
		means[i] = math.NaN()
	}
	c.Of, c.Means, c.Deployments = append(c.Of, of), append(c.Means, means), append(c.Deployments, make([]string, len(c.Blocks)))
	return len(c.Of) - 1
}

// Logs returns the logarithms of the means; NaN for one that is missing or not above 0.
func (c Cells) Logs() [][]float64 {
	out := make([][]float64, len(c.Means))
	for i, row := range c.Means {
		out[i] = make([]float64, len(row))
		for j, v := range row {
			out[i][j] = math.NaN()
			if v > 0 {
				out[i][j] = math.Log(v)
			}
		}
	}
	return out
}
