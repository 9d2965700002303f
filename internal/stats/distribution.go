package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// studentT returns the two-sided critical value: |t| with df degrees of freedom exceeds
// it with probability alpha. That probability is the regularised incomplete beta function
// I_x(df/2, 1/2) at x = df/(df+t²) (Abramowitz and Stegun, 26.7.1).
func studentT(alpha, df float64) float64 {
	x := mathext.InvRegIncBeta(df/2, 0.5, alpha)
	return math.Sqrt(df * (1 - x) / x)
}

// criticalValues returns studentT at one level for many comparisons, which have few different
// degrees of freedom: to find a value takes some 20 µs.
func criticalValues(alpha float64) func(df float64) float64 {
	known := map[float64]float64{}
	return func(df float64) float64 {
		v, found := known[df]
		if !found {
			v = studentT(alpha, df)
			known[df] = v
		}
		return v
	}
}

// studentP returns the probability that |T| with df degrees of freedom is at least |t|.
func studentP(t, df float64) float64 {
	return mathext.RegIncBeta(df/2, 0.5, df/(df+t*t)) // Abramowitz and Stegun, 26.7.1
}

// studentTail returns the probability that T with df degrees of freedom exceeds t.
func studentTail(t, df float64) float64 {
	p := studentP(t, df) / 2
	if t < 0 {
		return 1 - p
	}
	return p
}

// studentised returns an estimate divided by its standard error: infinite if only the
// error is 0, and 0 if both are.
func studentised(estimate, err float64) float64 {
	if estimate == 0 {
		return 0
	}
	return estimate / err
}

// powerOf returns the probability that a two-sided t test at level alpha of n independent
// normal values shows a mean of effect standard deviations.
func powerOf(effect, n, alpha float64) float64 { return powerOfT(effect*math.Sqrt(n), n-1, alpha) }

// powerOfT returns the probability that a two-sided t test at level alpha, with df degrees
// of freedom, shows a difference of this number of standard errors. The square of the statistic then
// has the noncentral F distribution of 1 and df degrees of freedom: incomplete beta functions
// weighted by a Poisson distribution (Abramowitz and Stegun, 26.6.18). It takes O(errors) steps.
func powerOfT(errors, df, alpha float64) float64 {
	const most = 400 // beyond, the statistic varies with its estimated error alone
	critical := studentT(alpha, df)
	if errors = math.Abs(errors); errors > most {
		return mathext.GammaIncReg(df/2, df*square(errors/critical)/2)
	}
	x := square(critical) / (df + square(critical))
	mean := square(errors) / 2
	first := math.Max(0, math.Floor(mean-9*math.Sqrt(mean))) // what is before weighs less than rounding
	missed := 0.0
	for j := first; ; j++ {
		weight := poisson(j, mean)
		missed += weight * mathext.RegIncBeta(j+0.5, df/2, x)
		if j > mean && weight < 1e-17 {
			return 1 - missed
		}
	}
}

// poisson returns the probability of j events where mean are expected.
func poisson(j, mean float64) float64 {
	if mean == 0 {
		return max(0, 1-j)
	}
	factorial, _ := math.Lgamma(j + 1)
	return math.Exp(j*math.Log(mean) - mean - factorial)
}

// chiSquared returns the quantile p of the chi-squared distribution.
func chiSquared(p, df float64) float64 { return 2 * mathext.GammaIncRegInv(df/2, p) }

// trigamma and tetragamma are the first and second derivative of the digamma function.
// They are Hurwitz zeta functions (Abramowitz and Stegun, 6.4.10).
func trigamma(x float64) float64   { return mathext.Zeta(2, x) }
func tetragamma(x float64) float64 { return -2 * mathext.Zeta(3, x) }

// trigammaInverse returns the x with trigamma(x) = y for y above 0, by Newton's method on
// 1/trigamma, which converges from this start for every y (G. K. Smyth, "Linear Models and
// Empirical Bayes Methods for Assessing Differential Expression in Microarray
// Experiments", Statistical Applications in Genetics and Molecular Biology 3, 2004,
// appendix).
func trigammaInverse(y float64) float64 {
	x := 0.5 + 1/y
	for range 50 {
		tri := trigamma(x)
		step := tri * (1 - tri/y) / tetragamma(x)
		x += step
		if -step < 1e-12*x {
			break
		}
	}
	return x
}
