package finding

// counted are the figures of a confidence in percentiles: how many values there are.
var counted = []Figure{
	{Key: "round_trips", Meaning: "how many were completed"},
	{Key: "connections", Instead: "round_trips", Meaning: "how many were set up, in the test connect"},
}

// compared are the figures of a comparison with another pattern of a ranking. Where
// the other's estimate is 0 there are no ratios.
var compared = []Figure{
	{Key: "than", Text: true, Meaning: "the other pattern"},
	{Key: "difference_ratio", Meaning: "how much larger it is than the other, geometric mean over the rounds; negative: smaller. Where a round has the value 0: difference of the estimates divided by the other's"},
	{Key: "low_ratio", Meaning: "lower end of the 95 % interval of that, at the level that makes all comparisons of the ranking hold together"},
	{Key: "high_ratio", Meaning: "upper end"},
	{Key: "difference", Instead: "difference_ratio", Meaning: "difference of the estimates in the unit of the ranking's metric"},
	{Key: "low", Instead: "low_ratio", Meaning: "lower end of its interval"},
	{Key: "high", Instead: "high_ratio", Meaning: "upper end"},
	{Key: "rounds", Optional: true, Meaning: "rounds that both have; absent: not paired"},
	{Key: "seen_rounds", Optional: true, Meaning: "rounds that have the difference: all, which are too few to show it"},
	{Key: "signed_ranks", Optional: true, Meaning: "1 if the rounds have heavy tails, so that they are compared by the signed-rank test"},
}

// confidenceCodes are why a figure has its confidence.
var confidenceCodes = []Info{
	{Steady, Note, anyFlow, []Figure{
		{Key: "from_ns", Meaning: "start of the steady part, from the first byte"},
	}, "High confidence: the rate was steady from there to the end.", ""},
	{RateNotReached, Note, anyFlow, nil, "Medium confidence of a goodput, low confidence of round trips and set-up times: the requested rate was not reached. A finding in `findings` has the rates.", "Use a lower rate."},
	{RateShifted, Note, anyFlow, []Figure{
		{Key: "change_ratio", Meaning: "difference between the halves divided by the larger"},
	}, "Medium confidence: the rate changed between the halves of the trial.", "Use a longer --duration."},
	{RateVaries, Note, anyFlow, []Figure{
		{Key: "variation_ratio", Meaning: "standard deviation of averages over a tenth of the trial, divided by their mean"},
	}, "Medium confidence: the rate varied throughout the trial.", "Use a longer --duration."},
	{NeverSettled, Note, anyFlow, []Figure{
		{Key: "tolerance_ratio", Meaning: "how close moving averages must come"},
	}, "Medium confidence: moving averages of the rate never came close to each other.", "Use a longer --duration."},
	{SamplesIncomplete, Note, anyFlow, []Figure{
		{Key: "covered_ratio", Meaning: "share of the trial"},
	}, "Medium confidence: samples cover only a part of the trial.", ""},
	{FewIntervals, Note, anyFlow, []Figure{
		{Key: "intervals", Meaning: "intervals with samples"},
		{Key: "needed_intervals", Meaning: "as many are needed"},
	}, "Low confidence: the trial is too short to judge whether the rate was steady.", "Use a longer --duration."},
	{NoSamples, Note, anyFlow, nil, "Low confidence: there are no samples over time.", ""},
	{NothingArrived, Note, anyFlow, nil, "Low confidence: nothing arrived at the receiver.", ""},
	{ReceiverCountMissing, Note, anyFlow, nil, "Low confidence: the receiver's count is missing.", ""},
	{ReceiverWithoutSamples, Note, anyFlow, nil,
		"Medium confidence: the receiver reports how much arrived and not when, so the start of the trial is in the figure.", ""},
	{BrokenOff, Note, anyFlow, []Figure{
		{Key: "counted_ns", Meaning: "length of the part that the receiver reported"},
	}, "Low confidence: the trial broke off, and the figure covers the part that the receiver reported before.", ""},
	{EnoughForTail, Note, "", counted, "High confidence: enough values for a 99th percentile.", ""},
	{FewForTail, Note, "", counted,
		"Medium confidence: enough values for a median, too few for a reliable 99th percentile.", "Use a longer --duration or a larger --count."},
	{FewForPercentiles, Note, "", counted,
		"Low confidence: too few values for percentiles.", "Use a longer --duration or a larger --count."},
	{Clipped, Note, "", counted,
		"Medium confidence: some took longer than 60 s, the most that a histogram holds, and count as 60 s.", ""},
	{NoRoundTrip, Note, "", nil, "Low confidence: no round trip was completed.", ""},
	{NoConnection, Note, "", nil, "Low confidence: no connection was set up.", ""},
}

// higherFigure names the pattern with the better estimate where another one is first.
var higherFigure = Figure{Key: "than", Text: true, Optional: true, Meaning: "pattern with a better estimate, as of rounds that the first lacks, or of outliers"}

// rankCodes are why a pattern has its place in a ranking.
var rankCodes = []Info{
	{RankHighest, Note, "", []Figure{
		{Key: "patterns", Meaning: "in the ranking"}, {Key: "rounds", Meaning: "of this pattern"}, higherFigure,
	}, "The pattern has the highest estimate, or is shown to be ahead of the one that has it.", ""},
	{RankLowest, Note, "", []Figure{
		{Key: "patterns", Meaning: "in the ranking"}, {Key: "rounds", Meaning: "of this pattern"}, higherFigure,
	}, "The pattern has the lowest estimate, or is shown to be ahead of the one that has it.", ""},
	{RankAbove, Note, "", compared, "The pattern is shown to be above another, where lower is better.", ""},
	{RankBelow, Note, "", compared, "The pattern is shown to be below another, where higher is better.", ""},
	{RankNoDifference, Note, "", append(compared[:len(compared):len(compared)],
		Figure{Key: "needed_rounds", Optional: true, Meaning: "about how many rounds would show a difference of this size"}),
		"No difference is shown from the first pattern of this rank.", "Run more rounds."},
	{RankAboveOtherRun, Warning, "", compared,
		"The pattern is above another that was measured in another run of the campaign, where lower is better. They were not interleaved: a change over time looks like a difference.", "Measure both in one run."},
	{RankBelowOtherRun, Warning, "", compared,
		"The pattern is below another that was measured in another run of the campaign, where higher is better. They were not interleaved: a change over time looks like a difference.", "Measure both in one run."},
	{RankNoDifferenceOtherRun, Warning, "", compared,
		"No difference is shown from the first pattern of this rank, which was measured in another run of the campaign. They were not interleaved: a change over time can hide a difference.", "Measure both in one run."},
	{RankUntested, Note, "", compared[:1], "There are too few rounds to test the difference from the first pattern of this rank.", "Run more rounds."},
	{RankSmall, Note, "", compared, "A difference from the first pattern of this rank is shown, and is smaller than what matters in practice.", ""},
	{RankTwoRounds, Note, "", nil, "Two rounds ordered the patterns, which tests nothing.", "Run more rounds."},
	{RankOneRound, Note, "", nil, "One round ordered the patterns, which tests nothing.", "Run more rounds."},
	{RankOnlyOne, Note, "", nil, "No other pattern has values.", ""},
	{RankNoValues, Note, "", nil, "The pattern has no values.", ""},
}
