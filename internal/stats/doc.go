// Package stats turns samples and repeats into reliable figures: the steady part of a
// trial, means and quantiles, confidence intervals over rounds, and rankings that say
// when no difference was shown.
//
// It knows numbers, not tests or units, does no I/O and starts no goroutines. Every
// function is pure: the same input gives the same output on every platform.
// docs/method.md specifies the rules of reports and their sources: [Rank] with
// [AutocorrelationAdjusted] for one pattern, [ComparePatterns] for many, [CompareChoices] for
// pairs that may have been measured apart, and [FindEffects] for factors, of [Observations].
//
// The package also has decision rules for campaigns. The comment of each names its source and
// its simulated error rates: [LooksUpTo] for deciding while a campaign runs,
// [ByDeployment] where hosts were redeployed between rounds, [MergedPercentile] for
// percentiles of histograms, [FindLevels] for changes within a trial, [Sweep] and
// [KneeOf] for the knee of a sweep, [FindFlowGroups] for flows that are hashed over tunnels.
//
// Use: reduce each trial to one figure, collect the figures of a pattern by round, and
// compare the patterns.
//
//	steady := stats.SteadyState(samples, endNs) // where a trial's steady part begins
//	groups := []stats.Group{{Name: "1 stream", Rounds: [][]float64{{9.1e9}, {9.3e9}}}, ...}
//	ranked := stats.Rank(groups, true, 0.02)    // true: a higher figure is better; differences below 2 % do not matter
//	for _, r := range ranked {
//		// Patterns of equal r.Rank have no difference that is shown; r.Reason says why.
//		fmt.Println(r.Rank, r.Name, r.Estimate, r.Low, r.High)
//	}
package stats
