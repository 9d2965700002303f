package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// median of values, NaN if there are none. It does not change values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	v := slices.Sorted(slices.Values(values))
	m := len(v) / 2
	if len(v)%2 == 1 {
		return v[m]
	}
	return (v[m-1] + v[m]) / 2
}

// standing is the outcome of one contender's runs in one contest.
type standing struct {
	label     string
	values    []float64 // of rounds that count, in round order
	ratio     float64   // median of this contender to soku, paired by round; NaN without pairs
	cpu       float64   // median CPU seconds per unit; NaN when unknown
	cpuRatio  float64
	byRound   map[int]float64 // the same as values
	cpuRound  map[int]float64 // CPU seconds per unit
	errors    []string
	leftOut   int // rounds in another placement
	latestErr string
}

// paired is the median of [ratios]; NaN without any.
func paired(of, to map[int]float64) float64 { return median(ratios(of, to)) }

// ratios are the ratios of one contender's figures to another's in the same round.
func ratios(of, to map[int]float64) (out []float64) {
	for round, v := range of {
		if w, ok := to[round]; ok && w != 0 {
			out = append(out, v/w)
		}
	}
	return out
}

// majority is the placement of most runs; near before far if equal.
func majority(runs []Run) string {
	count := map[string]int{}
	for _, r := range runs {
		count[r.Placement]++
	}
	best := ""
	for _, p := range []string{placedNear, placedFar, placedMixed, placedUnknown} {
		if count[p] > count[best] {
			best = p
		}
	}
	return best
}

// perUnit is the CPU time of a run per GB or packet moved.
func perUnit(r Run, per string, seconds int) float64 {
	amount := 0.0
	switch per {
	case perGB:
		amount = r.Figures[goodput.Name] / 8 * float64(seconds)
	case perMillion:
		amount = r.Figures[packetRate.Name] * float64(seconds) / 1e6
	}
	if amount == 0 || r.CPU == 0 {
		return math.NaN()
	}
	return r.CPU / amount
}

// rank makes one standing per contender, in the order of the contest. Only rounds with the
// placement of the majority count, and ratios compare runs of the same round only.
func rank(c Contest, runs []Run, m Metric, seconds int) ([]standing, string) {
	place := majority(runs)
	out := make([]standing, 0, len(c.Entries))
	for _, e := range c.Entries {
		s := standing{label: e.Label, ratio: math.NaN(), cpuRatio: math.NaN(), byRound: map[int]float64{}, cpuRound: map[int]float64{}}
		var spent []float64
		for _, r := range runs {
			v, has := r.Figures[m.Name]
			switch {
			case r.Contender != e.Label:
			case r.Error != "":
				s.errors, s.latestErr = append(s.errors, r.Error), r.Error
			case r.Placement != place:
				s.leftOut++
			case has:
				s.values = append(s.values, v)
				s.byRound[r.Round] = v
				if u := perUnit(r, c.Per, seconds); !math.IsNaN(u) {
					spent = append(spent, u)
					s.cpuRound[r.Round] = u
				}
			}
		}
		s.cpu = median(spent)
		out = append(out, s)
	}
	if own := find(out, sokuLabel); own != nil {
		for i := range out {
			out[i].ratio = paired(out[i].byRound, own.byRound)
			out[i].cpuRatio = paired(out[i].cpuRound, own.cpuRound)
		}
	}
	return out, place
}

// differences are a contender's figures less those of another in the same round.
func differences(of, less map[int]float64) (out []float64) {
	for round, v := range of {
		if w, ok := less[round]; ok {
			out = append(out, v-w)
		}
	}
	return out
}

// meanWithin is the mean of values and the half-width of its 95 % interval by Student's t; NaN
// of less than two.
func meanWithin(values []float64) (mean, half float64) {
	if len(values) < 2 {
		return math.NaN(), math.NaN()
	}
	mean, deviation := stat.MeanStdDev(values, nil)
	n := float64(len(values))
	return mean, distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975) * deviation / math.Sqrt(n)
}
