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

// contrasts are many estimates from the rounds of one campaign, and the variance of the values
// of each. Their errors are filled in by plain, pool or moderate; NaN where nothing is tested.
type contrasts struct {
	all      []estimate
	variance []float64
}

// plain compares the rows of each pair by itself, as [estimateOf] does.
func (c *contrasts) plain(rows [][]float64, looks Looks) {
	pair := 0
	for i, a := range rows {
		for _, b := range rows[i+1:] {
			if c.all[pair].err = math.NaN(); c.all[pair].n > 0 {
				c.all[pair] = paired(pairwise(Group{}, Group{}, a, b)).tested().at(looks).estimate
			}
			pair++
		}
	}
}

// pool takes the larger of the variance of a pair and of that of all pairs of the table: with few rounds a pair of patterns that have two levels each is often
// alike in all of them, and its own variance then says that they never change. The degrees of
// freedom lie between those of a pair and of the table.
func (c *contrasts) pool(table twoWay, rounds int) {
	common, df := table.pairVariance(), min(table.df, float64(2*(rounds-1)+2))
	for i := range c.all {
		e := &c.all[i]
		if e.err = math.NaN(); e.n >= 2 {
			e.err, e.df, e.pooled = math.Sqrt(max(c.variance[i], common)/float64(e.n)), df, true
		}
	}
}

// moderate draws the variances towards their prior, but not below least, and allows for the
// autocorrelation of residuals, of which there are residualDF degrees of freedom. false, with
// nothing filled in, if there is no prior.
func (c *contrasts) moderate(autocorrelation, residualDF, least float64) (prior, bool) {
	variances, df := make([]float64, 0, len(c.all)), make([]float64, 0, len(c.all))
	for i, e := range c.all {
		if e.n >= 2 {
			variances, df = append(variances, c.variance[i]), append(df, float64(e.n-1))
		}
	}
	p, ok := fitPrior(variances, df)
	if !ok {
		return p, false
	}
	for i := range c.all {
		e := &c.all[i]
		if e.err = math.NaN(); e.n < 2 {
			continue
		}
		variance, total := p.moderate(c.variance[i], float64(e.n-1))
		widen, effective := adjustment(autocorrelation, min(total, max(residualDF, 1)))
		e.err, e.df, e.pooled = math.Sqrt(max(variance, least)/float64(e.n))*widen, effective, true
	}
	return p, true
}

// each applies a function to every contrast; NaN where there is no test.
func (c *contrasts) each(of func(estimate) float64) []float64 {
	out := make([]float64, len(c.all))
	for i, e := range c.all {
		if out[i] = math.NaN(); !math.IsNaN(e.err) {
			out[i] = of(e)
		}
	}
	return out
}

func newContrasts(n int) contrasts { return contrasts{make([]estimate, n), make([]float64, n)} }
