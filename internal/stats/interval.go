package stats

import (
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	confidence = 0.95
	resamples  = 2000
	// bootstrapRounds is the fewest rounds for a bootstrap. With fewer, resampling has
	// too few different sets of rounds for its outer quantiles, and Student's t on the
	// round means is used.
	bootstrapRounds = 8
)

// Group is the repeats of one pattern. Rounds has one element a round of the campaign, by
// number, so that index i is the same round in every group; an element is empty if the
// pattern has no value in that round. Values that are not finite are ignored.
type Group struct {
	Name   string
	Rounds [][]float64
	// Sessions has, for each element of Rounds, the numbers of the sessions that measured
	// its values: the run of a campaign, from its start or a resumption to its end. Only
	// what one session measured was interleaved. nil: all values are of one session.
	Sessions [][]int
}

// oneSession is that of groups that do not name theirs.
var oneSession = []int{0}

// sessions returns the sessions of a round.
func (g Group) sessions(round int) []int {
	if round >= len(g.Sessions) {
		return oneSession
	}
	return g.Sessions[round]
}

// apart reports whether one of two groups has values of a session of which the other
// has none.
func (g Group) apart(o Group) bool {
	of := func(g Group) map[int]bool {
		all := map[int]bool{}
		for i, round := range g.rounds() {
			if len(round) == 0 {
				continue
			}
			for _, s := range g.sessions(i) {
				all[s] = true
			}
		}
		return all
	}
	return !maps.Equal(of(g), of(o))
}

func overlap(a, b []int) bool {
	return slices.ContainsFunc(a, func(s int) bool { return slices.Contains(b, s) })
}

// rounds returns the finite values of every round.
func (g Group) rounds() [][]float64 {
	out := make([][]float64, len(g.Rounds))
	for i, round := range g.Rounds {
		for _, v := range round {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				out[i] = append(out[i], v)
			}
		}
	}
	return out
}

// means returns the mean of every round, NaN for an empty one.
func (g Group) means() []float64 {
	out := make([]float64, len(g.Rounds))
	for i, round := range g.rounds() {
		out[i] = Mean(round)
	}
	return out
}

func present(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), math.IsNaN)
}

// Interval is an estimate with its 95 % confidence interval. Low and High are NaN with
// fewer than two rounds.
type Interval struct {
	Estimate, Low, High float64
	Rounds              int // rounds that have values
}

// Estimate returns the mean of the round means of a group with its interval. With eight
// or more rounds the interval is a hierarchical bootstrap, rounds first and repeats
// within them, with its quantiles moved outwards for the number of rounds (T. Hesterberg,
// "What Teachers Should Know About the Bootstrap", The American Statistician 69, 2015,
// section 4.4); with two to seven it is Student's t on the round means. The seed and the
// group's name determine the resamples.
func Estimate(g Group, seed int64) Interval {
	means := present(g.means())
	out := Interval{Estimate: Mean(means), Low: math.NaN(), High: math.NaN(), Rounds: len(means)}
	switch {
	case out.Rounds < 2:
	case out.Rounds < bootstrapRounds:
		half := studentT(1-confidence, float64(out.Rounds-1)) * StdDev(means) / math.Sqrt(float64(out.Rounds))
		out.Low, out.High = out.Estimate-half, out.Estimate+half
	default:
		low, high := bootstrap(g, seed)
		widen := inflation(means)
		out.Low, out.High = out.Estimate-widen*(out.Estimate-low), out.Estimate+widen*(high-out.Estimate)
	}
	return out
}

// bootstrap returns the outer quantiles of resampled means of round means.
func bootstrap(g Group, seed int64) (low, high float64) {
	rounds := slices.DeleteFunc(g.rounds(), func(r []float64) bool { return len(r) == 0 })
	name := fnv.New64a()
	name.Write([]byte(g.Name))
	random := rand.New(rand.NewPCG(uint64(seed), name.Sum64()))
	means := make([]float64, resamples)
	for i := range means {
		var sum float64
		for range rounds {
			round := rounds[random.IntN(len(rounds))]
			if len(round) == 1 {
				sum += round[0]
				continue
			}
			var inner float64
			for range round {
				inner += round[random.IntN(len(round))]
			}
			sum += inner / float64(len(round))
		}
		means[i] = sum / float64(len(rounds))
	}
	slices.Sort(means)
	n := float64(len(rounds))
	tail := normalCDF(-math.Sqrt(n/(n-1)) * studentT(1-confidence, n-1))
	return quantileSorted(means, tail), quantileSorted(means, 1-tail)
}

// inflation returns the factor on a standard error that was computed as if rounds were
// independent, because neighbouring rounds are correlated: the square root of
// (1+r)/(1-r), where r is the lag-1 autocorrelation corrected for its bias of about
// -(1+3r)/n (M. G. Kendall, "Note on Bias in the Estimation of Autocorrelation",
// Biometrika 41, 1954). Below eight rounds r cannot be distinguished from chance and the
// factor is 1.
func inflation(series []float64) float64 {
	n := float64(len(series))
	if len(series) < bootstrapRounds {
		return 1
	}
	mean, square, product := Mean(series), 0.0, 0.0
	for i, v := range series {
		square += (v - mean) * (v - mean)
		if i > 0 {
			product += (v - mean) * (series[i-1] - mean)
		}
	}
	if square == 0 {
		return 1
	}
	r := min(max((n*product/square+1)/(n-3), 0), 0.9)
	return math.Sqrt((1 + r) / (1 - r))
}
