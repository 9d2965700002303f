package campaign

import (
	"iter"
	"math"

	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/stats"
)

// searching is one search of a campaign: the levels that had their turn, and what was
// measured.
type searching struct {
	patterns []int // of the plan, by level
	trials   []stats.SweepTrial
	blocks   map[int]int // by round
	// waits is set where a block has not all its results: what comes next is unknown.
	waits bool
}

// most is how many blocks the search has in the first round and in each later one; as long as
// it goes on, at most.
func (s *searching) most(p *plan.Plan) (first, later int) {
	first = p.Sweep(len(s.patterns), 1).Next(s.trials).Most
	return first, p.Sweep(len(s.patterns), 2).Next(s.trials).Most - first
}

// search goes through the blocks of the searches in the order in which they run, as far as
// the results show: which level is next follows from those before. visit gets each block,
// may run it, and returns false to end. In the first round each search visits its levels
// upwards; in each later one its best level and that one's neighbours have one more turn.
// The searches take turns step by step, in an order drawn from the seed.
func (c *Campaign) search(visit func(schedule.Block) bool) []searching {
	p := c.Plan
	groups := p.PatternsBySearch()
	all := make([]searching, len(groups))
	for i, patterns := range groups {
		all[i] = searching{patterns: patterns, blocks: map[int]int{}}
	}
	for round := 1; round <= c.Rounds(); round++ {
		r, turn := schedule.NewRound(p, c.ID(), c.Record.Seed, round), 0
		for _, group := range schedule.SearchGroups(p, c.Record.Seed, round) {
			for step, goes := 1, true; goes; step++ {
				goes = false
				for _, k := range schedule.Shuffled(len(group), c.Record.Seed, round+step<<20) {
					at := &all[group[k]]
					level := -1
					if !at.waits {
						level = p.Sweep(len(at.patterns), round).Next(at.trials).Next
					}
					if level < 0 {
						continue
					}
					b := r.Block(turn, at.patterns[level])
					turn++
					at.blocks[round]++
					if !visit(b) {
						return all
					}
					value, complete := c.valueOf(b)
					at.trials, at.waits = append(at.trials, stats.SweepTrial{Level: level, Value: value}), !complete
					if !complete {
						at.trials = at.trials[:len(at.trials)-1]
					}
					goes = goes || complete
				}
			}
		}
	}
	return all
}

// valueOf is the mean of the figures that decide a search in a block, over its repeats and
// pairs; NaN if none of them succeeded. complete is false while a trial has no result.
func (c *Campaign) valueOf(b schedule.Block) (value float64, complete bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var values []float64
	for i := range b.Len {
		j := b.Job(i)
		key := j.Key()
		if _, done := c.outcomes.get(key); !done {
			return math.NaN(), false
		}
		if j.Trial.Label != c.Plan.Find.Test {
			continue
		}
		if v, found := c.figures.value(c.outcomes.compact(key), key); found {
			values = append(values, v)
		}
	}
	return stats.Mean(values), true
}

// Blocks are the campaign's trials in the order in which they are to run: the
// plan's, and then the rounds that were added to them. Rounds that are added
// while the blocks are read are among them. Of a plan with find they are those that the
// results so far ask for: the next one is known when the one before has its results.
func (c *Campaign) Blocks() iter.Seq[schedule.Block] {
	if c.Plan.Searches() {
		return func(yield func(schedule.Block) bool) { c.search(yield) }
	}
	return schedule.GrowingBlocks(c.planOf, c.ID(), c.Record.Seed, c.Rounds)
}
