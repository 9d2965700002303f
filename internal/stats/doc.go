// Package stats turns samples and repeats into reliable figures: the steady part of a
// trial, means and quantiles, confidence intervals over rounds, and rankings that say
// when no difference was shown.
//
// It knows numbers, not tests or units, does no I/O and starts no goroutines. Every
// function is pure: the same input gives the same output on every platform.
// docs/method.md specifies the rules of reports and their sources: [Rank] with [Guarded]
// for one pattern and [ComparePatterns] for many.
//
// Beside those stand decision rules for campaigns, each with its source and what it was
// found to hold in its comment: [ComparePair] for two patterns, [CompareChoices] for pairs
// that may have been measured apart, [LookLevel] and [EValue] for deciding while a campaign
// runs, [ByDeployment] where hosts were redeployed between rounds, [MergedPercentile] for
// percentiles of histograms, [FindLevels] for changes within a trial, [NextOfSweep] for the
// knee of a sweep. [Observations] are the table of a campaign's figures, and [FindEffects]
// what its factors do.
package stats
