// Package stats turns samples and repeats into reliable figures: the steady part of a
// trial, means and quantiles, confidence intervals over rounds, and rankings that say
// when no difference was shown.
//
// It knows numbers, not tests or units, does no I/O and starts no goroutines. Every
// function is pure: the same input gives the same output on every platform.
// docs/method.md specifies the rules of reports and their sources: [Rank] with [Guarded]
// for one pattern, [ComparePatterns] for many, [CompareChoices] for pairs that may have been
// measured apart, and [FindEffects] for factors, of [Observations].
//
// The package also has decision rules for campaigns. The comment of each names its source and
// its simulated error rates: [SignFlip] and [HodgesLehmann] for two patterns where
// Student's t depends on an outlier, [LookLevel] and [EValue] for deciding while a campaign
// runs, [ByDeployment] where hosts were redeployed between rounds, [MergedPercentile] for
// percentiles of histograms, [FindLevels] for changes within a trial, [Sweep] and
// [KneeOf] for the knee of a sweep, [FindFlowGroups] for flows that are hashed over tunnels.
package stats
