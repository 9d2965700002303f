package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// prior is the distribution of the true variances of many comparisons: each comparison is taken
// to have this variance, with df degrees of freedom, in addition to its measured one. df is
// infinite if the measured variances differ no more than by chance.
type prior struct{ variance, df float64 }

// fitPrior estimates the prior from variances with their degrees of freedom, by the mean
// and the variance of their logarithms (G. K. Smyth, "Linear Models and Empirical Bayes
// Methods for Assessing Differential Expression in Microarray Experiments", Statistical
// Applications in Genetics and Molecular Biology 3, 2004, section 6.2). Variances below
// 1e-5 of the median count as that: one of values that were rounded alike would otherwise
// decide the fit. false if fewer than two are given or most are 0.
func fitPrior(variances, df []float64) (prior, bool) {
	if len(variances) < 2 {
		return prior{}, false
	}
	least := 1e-5 * Median(variances)
	if least == 0 {
		return prior{}, false
	}
	logs, chance := make([]float64, len(variances)), make([]float64, len(variances))
	// Complete tables have one number of degrees of freedom.
	var last, digamma, tri float64
	for i, v := range variances {
		if half := df[i] / 2; half != last {
			last, digamma, tri = half, mathext.Digamma(half)-math.Log(half), trigamma(half)
		}
		logs[i], chance[i] = math.Log(max(v, least))-digamma, tri
	}
	mean, excess := Mean(logs), square(StdDev(logs))-Mean(chance)
	if excess <= 1e-3 {
		return prior{variance: math.Exp(mean), df: math.Inf(1)}, true
	}
	d0 := 2 * trigammaInverse(excess)
	return prior{variance: math.Exp(mean + mathext.Digamma(d0/2) - math.Log(d0/2)), df: d0}, true
}

// moderate returns a measured variance drawn towards the prior, and its degrees of freedom.
func (p prior) moderate(variance, df float64) (moderated, total float64) {
	if math.IsInf(p.df, 1) {
		return p.variance, p.df
	}
	total = p.df + df
	return (p.df*p.variance + df*variance) / total, total
}

// leastDF is as many degrees of freedom as an allowance for autocorrelation leaves: of five
// rounds. In few rounds a high autocorrelation is often by chance. Then a single degree of
// freedom, of many pairs, hid a difference of a factor of two in one of seven campaigns of five
// rounds; the wider standard error alone makes as few false alarms (simulated in this package).
const leastDF = moderatedRounds - 1

// contrasts are many estimates from the rounds of one campaign: of each its mean over
// rounds, the variance of its values, and how many there are.
type contrasts struct {
	mean, variance []float64
	rounds         []int
	err, df        []float64 // filled in by plain or moderate; err is NaN with fewer than two rounds
}

// plain takes each variance by itself, as in the paired t test.
func (c *contrasts) plain() {
	for i, n := range c.rounds {
		if c.err[i], c.df[i] = math.NaN(), 0; n >= 2 {
			c.err[i], c.df[i] = math.Sqrt(c.variance[i]/float64(n)), float64(n-1)
		}
	}
}

// moderate draws the variances towards their prior and allows for the autocorrelation of
// residuals, of which there are residualDF degrees of freedom. false, with nothing filled
// in, if there is no prior.
func (c *contrasts) moderate(autocorrelation, residualDF float64) (prior, bool) {
	variances, df := make([]float64, 0, len(c.rounds)), make([]float64, 0, len(c.rounds))
	for i, n := range c.rounds {
		if n >= 2 {
			variances, df = append(variances, c.variance[i]), append(df, float64(n-1))
		}
	}
	p, ok := fitPrior(variances, df)
	if !ok {
		return p, false
	}
	for i, n := range c.rounds {
		if c.err[i], c.df[i] = math.NaN(), 0; n < 2 {
			continue
		}
		variance, total := p.moderate(c.variance[i], float64(n-1))
		total = min(total, residualDF)
		widen, effective := adjustment(autocorrelation, total)
		c.err[i], c.df[i] = math.Sqrt(variance/float64(n))*widen, max(effective, min(total, leastDF))
	}
	return p, true
}

// each applies a function to every contrast; NaN where there is no test.
func (c *contrasts) each(of func(estimate) float64) []float64 {
	out := make([]float64, len(c.mean))
	for i, mean := range c.mean {
		if out[i] = math.NaN(); !math.IsNaN(c.err[i]) {
			out[i] = of(estimate{mean, c.err[i], c.df[i], c.rounds[i]})
		}
	}
	return out
}

func newContrasts(n int) contrasts {
	figures := make([]float64, 4*n)
	return contrasts{mean: figures[:n], variance: figures[n : 2*n], err: figures[2*n : 3*n], df: figures[3*n:], rounds: make([]int, n)}
}
