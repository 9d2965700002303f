package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 77)) }

// drift is noise that remembers: each round keeps rho of the one before.
func drift(r *rand.Rand, rounds int, rho, size float64) []float64 {
	out := make([]float64, rounds)
	level := r.NormFloat64() * size
	for i := range out {
		out[i] = level
		level = rho*level + math.Sqrt(1-rho*rho)*size*r.NormFloat64()
	}
	return out
}

// simulated makes a group whose rounds share a drift and have noise of their own.
func simulated(r *rand.Rand, name string, mean, noise float64, repeats int, shared []float64) Group {
	g := Group{Name: name}
	for _, d := range shared {
		own := noise * r.NormFloat64()
		var round []float64
		for range repeats {
			round = append(round, mean+d+own+noise*r.NormFloat64())
		}
		g.Rounds = append(g.Rounds, round)
	}
	return g
}

// exponentials makes factors of additive noise in percent.
func exponentials(g Group) Group {
	for _, round := range g.Rounds {
		for i, v := range round {
			round[i] = math.Exp(v / 100)
		}
	}
	return g
}

func share(n int, event func(seed uint64) bool) float64 {
	hits := 0
	for seed := range uint64(n) {
		if event(seed) {
			hits++
		}
	}
	return float64(hits) / float64(n)
}

// table makes logs of patterns by round: an effect each, a level that rounds share, noise.
func table(seed uint64, effects []float64, rounds int, noise float64) [][]float64 {
	r := source(seed)
	shared := drift(r, rounds, 0.7, 0.3)
	logs := make([][]float64, len(effects))
	for i, effect := range effects {
		for j := range rounds {
			logs[i] = append(logs[i], effect+shared[j]+noise*r.NormFloat64())
		}
	}
	return logs
}

// groupOf is a group with one value a round.
func groupOf(values ...float64) Group {
	var g Group
	for _, v := range values {
		g.Rounds = append(g.Rounds, []float64{v})
	}
	return g
}

// inUnits makes groups of rows of logarithms, in the first session.
func inUnits(logs [][]float64, sign float64) (groups []Group) {
	for i, row := range logs {
		g := Group{Name: fmt.Sprint(i)}
		for _, l := range row {
			var round []float64
			if !math.IsNaN(l) {
				round = []float64{math.Exp(sign * l)}
			}
			g.Rounds = append(g.Rounds, round)
		}
		groups = append(groups, g)
	}
	return groups
}

// compareLogs compares two groups whose round means have these log ratios.
func compareLogs(logRatios []float64, threshold float64) ChoiceComparison {
	groups := inUnits([][]float64{logRatios, make([]float64, len(logRatios))}, 1)
	return CompareChoices([]ChoicePair{{groups[0], groups[1]}}, true, threshold)[0]
}

// inSession says that one session measured all of a group.
func (g Group) inSession(n int) Group {
	for range g.Rounds {
		g.Sessions = append(g.Sessions, []int{n})
	}
	return g
}

// student is the contrast of rounds by Student's t alone.
func student(d []float64) contrast { return contrast{estimate: studentOf(d), series: [][]float64{d}} }

// students takes each variance by itself, as in the paired t test.
func (c *contrasts) students() {
	for i := range c.all {
		e := &c.all[i]
		e.err, e.df = math.Sqrt(c.variance[i]/float64(e.n)), float64(e.n-1)
	}
}
