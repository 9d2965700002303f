package stats

import (
	"math"
	"sort"
)

// fewestBeyond is how many samples of a round are needed on the smaller side of a percentile.
const fewestBeyond = 10

// Percentile is a percentile of the samples of all rounds together, with its interval, in
// the unit of the histograms' edges. Value is NaN if there are no samples; Low and High are
// NaN with fewer than two rounds.
type Percentile struct {
	Value, Low, High float64
	// Above is the share of each round's samples above Value, NaN for a round without
	// samples.
	Above []float64
	// TooFew is set if a round has so few samples that fewer than 10 of them are expected
	// above the percentile, or below it for p < 0.5. The interval is then not reliable.
	TooFew bool
	// Alike is set if neighbouring rounds are alike in Above, as by [LagOne]. The interval
	// does not allow for that: at an autocorrelation of 0.5 it holds the truth in 77 % of
	// campaigns.
	Alike bool
}

// MergedPercentile returns the p quantile, 0 < p < 1, of the histograms of several rounds
// and its interval at a confidence level such as 0.95. edges has the limits of the bins: at
// least two, increasing, and one more than a histogram has counts. Inside a bin samples
// are spread evenly. A round of several trials is the sum of their histograms.
//
// The interval is that of the share of samples above the percentile: Student's t over the
// rounds on the logit scale, df = rounds-1, read back from the merged histogram (R. S.
// Woodruff, "Confidence Intervals for Medians and Other Position Measures", Journal of the
// American Statistical Association 47, 1952).
func MergedPercentile(edges []float64, rounds [][]int64, p, level float64) Percentile {
	merged := make([]int64, len(edges)-1)
	for _, counts := range rounds {
		for i, n := range counts {
			merged[i] += n
		}
	}
	all := cumulate(edges, merged)
	out := Percentile{Value: all.quantile(p), Low: math.NaN(), High: math.NaN()}
	for _, counts := range rounds {
		round := cumulate(edges, counts)
		out.Above = append(out.Above, round.above(out.Value))
		out.TooFew = out.TooFew || round.total() > 0 && round.total()*min(p, 1-p) < fewestBeyond
	}
	shares := present(out.Above)
	if len(shares) < 2 {
		return out
	}
	n := float64(len(shares))
	mean := Mean(shares)
	half := studentT(1-level, n-1) * StdDev(shares) / math.Sqrt(n) / (mean * (1 - mean)) // of the logit, by the delta method
	logit := math.Log((1 - p) / p)
	out.Low = all.quantile(1 - logistic(logit+half))
	out.High = all.quantile(1 - logistic(logit-half))
	_, out.Alike = LagOne(shares)
	return out
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// cumulated is a histogram as running totals: upTo[i] samples lie below edges[i].
type cumulated struct{ edges, upTo []float64 }

func cumulate(edges []float64, counts []int64) cumulated {
	upTo := make([]float64, len(edges))
	for i, n := range counts {
		upTo[i+1] = upTo[i] + float64(n)
	}
	return cumulated{edges, upTo}
}

func (c cumulated) total() float64 { return c.upTo[len(c.upTo)-1] }

// quantile returns the value below which the share p of the samples lies.
func (c cumulated) quantile(p float64) float64 {
	if !(c.total() > 0) {
		return math.NaN()
	}
	target := p * c.total()
	above := min(max(sort.SearchFloat64s(c.upTo, target), 1), len(c.upTo)-1)
	low, high := c.upTo[above-1], c.upTo[above]
	inside := 0.0
	if high > low {
		inside = min(max((target-low)/(high-low), 0), 1)
	}
	return c.edges[above-1] + inside*(c.edges[above]-c.edges[above-1])
}

// above returns the share of the samples above a value, NaN without samples.
func (c cumulated) above(value float64) float64 {
	if !(c.total() > 0) {
		return math.NaN()
	}
	bin := sort.Search(len(c.edges), func(i int) bool { return c.edges[i] > value }) - 1
	bin = min(max(bin, 0), len(c.edges)-2)
	inside := (value - c.edges[bin]) / (c.edges[bin+1] - c.edges[bin])
	return 1 - (c.upTo[bin]+inside*(c.upTo[bin+1]-c.upTo[bin]))/c.total()
}
