package stats

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Constants of the search for a knee. They and those of [UsualSweep] were chosen by simulation: 14 to 17 trials
// instead of three of every level, and the knee within one level in 88 to 100 % of sweeps.
const (
	sweepFlat    = 2    // levels in a row without improvement that end the search
	plateauWidth = 0.03 // below the best: levels on the plateau
	kneeShare    = 0.95 // of the best: the knee is the first level with at least this
)

// SweepTrial is a trial of a sweep: the index of its level, from 0 for the lowest, and its
// figure, of which higher is better; NaN if the trial failed.
type SweepTrial struct {
	Level int
	Value float64
}

// Knee is what a sweep of increasing levels, such as numbers of streams, found.
type Knee struct {
	// Level is the index of the first level that gives at least 95 % of the best's mean.
	Level int
	// Best is the index of the level with the highest mean of fresh trials. Both are -1 if
	// every trial of the search or every fresh one failed.
	Best int
	// Plateau is the mean of the fresh trials of the levels within 3 % of the best: those
	// after the search, so that the search's choice of a high value does not raise it. NaN
	// if Best is -1.
	Plateau float64
	// Rising is set if the last level is the best and more than 2 % above the one before
	// it: the knee may lie beyond the sweep.
	Rising bool
}

var noKnee = Knee{Level: -1, Best: -1, Plateau: math.NaN()}

// Sweep is a search for the knee and the plateau of increasing levels.
type Sweep struct {
	Levels int     // how many there are, at least 1; each is usually twice the one before
	Gain   float64 // over the best so far, as a ratio: less is no improvement
	Turns  int     // further trials of the best level and of each of its neighbours
	// Bisect makes it the search for the highest level that holds, where those above one that does
	// not hold are taken not to hold either. A trial in which its level holds has the value 1.
	Bisect bool
}

// UsualSweep returns the sweep of this number of levels, with the gain and the turns that were
// simulated.
func UsualSweep(levels int) Sweep { return Sweep{Levels: levels, Gain: 0.02, Turns: 3} }

// SweepStep is the next step of a sweep: a trial of level Next, or, if Next is -1, the
// result.
type SweepStep struct {
	Next int
	Most int  // trials of the whole sweep; fewer while the search may end earlier
	Knee Knee // if Next is -1
}

// Next returns what the sweep does after the given trials. It visits the levels upwards,
// one trial each, until two in a row do not exceed the best before them by the gain; then the
// best and both its neighbours have further trials, in turns of changing order. A failed
// trial is not repeated: in the search it counts as no improvement. The first trial of a
// level is that of the search, in whatever order the trials are given, and the others are
// those of the turns.
//
// With Bisect it visits the level in the middle of those that are undecided until there are none;
// then, in each turn, the highest that holds: where it fails, the one below it has the next turn.
// Without a level that holds, the lowest has the turns.
func (s Sweep) Next(trials []SweepTrial) SweepStep {
	if s.Bisect {
		return s.bisect(trials)
	}
	p := sweep{Sweep: s, searched: make([]float64, 0, s.Levels), fresh: make([][]float64, s.Levels)}
	visit, best := p.search(trials)
	if visit >= 0 {
		return SweepStep{Next: visit, Most: s.Levels + s.Turns*min(s.Levels, 3)}
	}
	if best < 0 {
		return SweepStep{Next: -1, Most: len(p.searched), Knee: noKnee}
	}
	around := make([]int, 0, 3)
	for level := max(best-1, 0); level <= min(best+1, s.Levels-1); level++ {
		around = append(around, level)
	}
	step := SweepStep{Next: p.turn(around), Most: len(p.searched) + s.Turns*len(around)}
	if step.Next < 0 {
		step.Knee = p.knee(around)
	}
	return step
}

// Trials are the fewest and the most trials that the sweep can take.
func (s Sweep) Trials() (fewest, most int) {
	if s.Bisect {
		return bits.Len(uint(s.Levels+1)) - 1 + s.Turns, bits.Len(uint(s.Levels)) + s.Turns
	}
	return min(s.Levels, 1+sweepFlat) + s.Turns*min(s.Levels, 2), s.Levels + s.Turns*min(s.Levels, 3)
}

// bisect is Next with Bisect.
func (s Sweep) bisect(trials []SweepTrial) SweepStep {
	rest := slices.Clone(trials)
	visit := func(level int) (holds, visited bool) {
		at := slices.IndexFunc(rest, func(t SweepTrial) bool { return t.Level == level })
		if at < 0 {
			return false, false
		}
		holds = rest[at].Value == 1
		rest = slices.Delete(rest, at, at+1)
		return holds, true
	}
	_, most := s.Trials()
	steps, highest, fails := 0, -1, s.Levels // the highest level that holds, and the lowest that does not
	for ; fails-highest > 1; steps++ {
		level := (highest + fails) / 2
		holds, visited := visit(level)
		switch {
		case !visited:
			return SweepStep{Next: level, Most: most}
		case holds:
			highest = level
		default:
			fails = level
		}
	}
	for range s.Turns {
		holds, visited := visit(max(highest, 0))
		if !visited {
			return SweepStep{Next: max(highest, 0), Most: steps + s.Turns}
		}
		if !holds {
			highest = max(highest-1, -1)
		}
	}
	return SweepStep{Next: -1, Most: steps + s.Turns, Knee: noKnee}
}

// sweep is the trials of a sweep: one value a level of the search, and the later ones of
// each level.
type sweep struct {
	Sweep
	searched []float64
	fresh    [][]float64
}

// search assigns the trials and returns the level to visit next; -1 once the search has
// ended, and then the best level, -1 if every trial failed.
func (s *sweep) search(trials []SweepTrial) (visit, best int) {
	rest := slices.Clone(trials)
	best = -1
	for level, flat := 0, 0; level < s.Levels && flat < sweepFlat; level++ {
		at := slices.IndexFunc(rest, func(t SweepTrial) bool { return t.Level == level })
		if at < 0 {
			return level, best
		}
		value := rest[at].Value
		rest = slices.Delete(rest, at, at+1)
		s.searched = append(s.searched, value)
		if flat++; best < 0 && !math.IsNaN(value) || best >= 0 && value > s.searched[best]*(1+s.Gain) {
			flat = 0
		}
		if best < 0 && !math.IsNaN(value) || best >= 0 && value > s.searched[best] {
			best = level
		}
	}
	for _, t := range rest {
		s.fresh[t.Level] = append(s.fresh[t.Level], t.Value)
	}
	return -1, best
}

// turn returns which of some levels has the next fresh trial, -1 if all had theirs. The
// order within a turn changes from turn to turn, so that drift favours none of them.
func (s *sweep) turn(levels []int) int {
	for turn := range s.Turns {
		for i := range levels {
			if level := levels[(turn+i)%len(levels)]; len(s.fresh[level]) <= turn {
				return level
			}
		}
	}
	return -1
}

// mean is that of the fresh trials of a level, or of the search's where it had none.
func (s *sweep) mean(level int) float64 {
	if fresh := present(s.fresh[level]); len(fresh) > 0 {
		return Mean(fresh)
	}
	if level < len(s.searched) && len(s.fresh[level]) == 0 {
		return s.searched[level]
	}
	return math.NaN()
}

// knee is the result, from the best of the search and its neighbours.
func (s *sweep) knee(around []int) Knee {
	around = slices.DeleteFunc(around, func(level int) bool { return math.IsNaN(s.mean(level)) })
	if len(around) == 0 {
		return noKnee
	}
	k := noKnee
	k.Best = slices.MaxFunc(around, func(a, b int) int { return cmp.Compare(s.mean(a), s.mean(b)) })
	best := s.mean(k.Best)
	var plateau []float64
	for _, level := range around {
		if s.mean(level) >= best*(1-plateauWidth) {
			plateau = append(plateau, present(s.fresh[level])...)
		}
	}
	k.Plateau = Mean(plateau)
	k.shape(s.Levels, s.Gain, s.mean)
	return k
}

// shape finds the knee, and whether the last level still rises, from the means of the levels and
// the best of them. The mean of a level without values is NaN.
func (k *Knee) shape(levels int, gain float64, mean func(level int) float64) {
	best, last := mean(k.Best), levels-1
	k.Level = 0
	for !(mean(k.Level) >= best*kneeShare) {
		k.Level++
	}
	k.Rising = k.Best == last && (last == 0 || !(best <= mean(last-1)*(1+gain)))
}

// Plateau is the mean of the levels within 3 % of the best, and which these are, by their
// indices.
type Plateau struct {
	Interval
	Levels []int
}

// KneeOf returns the knee and the plateau of increasing levels that were all measured, by the
// rule of a sweep: rounds has one row a level and one column a round, the mean of the level's
// trials in it, of which higher is better; NaN for none. The plateau is over the levels within
// 3 % of the best, estimated as by [Estimates]. All trials choose the
// best level here and make up the plateau, so noise raises it a little: by less than its
// interval where there are several rounds. Without any value Level and Best are -1.
func KneeOf(rounds [][]float64) (k Knee, plateau Plateau) {
	means := make([]float64, len(rounds))
	columns := 0
	k = noKnee
	for i, row := range rounds {
		means[i], columns = EstimateOfRounds(row).Estimate, max(columns, len(row))
		if k.Best < 0 && !math.IsNaN(means[i]) || k.Best >= 0 && means[i] > means[k.Best] {
			k.Best = i
		}
	}
	if k.Best < 0 {
		return k, Plateau{Interval: Interval{Estimate: math.NaN(), Low: math.NaN(), High: math.NaN()}}
	}
	for i, mean := range means {
		if mean >= means[k.Best]*(1-plateauWidth) {
			plateau.Levels = append(plateau.Levels, i)
		}
	}
	flat := make([]float64, columns)
	for j := range flat {
		var values []float64
		for _, i := range plateau.Levels {
			if row := rounds[i]; j < len(row) {
				values = append(values, row[j])
			}
		}
		flat[j] = Mean(finites(values))
	}
	plateau.Interval = EstimateOfRounds(flat)
	k.Plateau = plateau.Estimate
	k.shape(len(means), UsualSweep(len(means)).Gain, func(level int) float64 { return means[level] })
	return k, plateau
}
