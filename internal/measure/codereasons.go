package measure

// counted are the figures of a confidence in percentiles: how many values there are.
var counted = []FigureInfo{
	{Key: "round_trips", Meaning: "how many were completed"},
	{Key: "connections", Instead: "round_trips", Meaning: "how many were set up, in the test connect"},
}

// compared are the figures of a comparison with another pattern of a ranking. Where
// the other's estimate is 0 there are no ratios.
var compared = []FigureInfo{
	{Key: "than", Text: true, Meaning: "the other pattern"},
	{Key: "difference_ratio", Meaning: "how much larger it is than the other, geometric mean over the rounds; negative: smaller. Where a round has the value 0: difference of the estimates divided by the other's"},
	{Key: "low_ratio", Meaning: "lower end of the 95 % interval of that, at the level that makes all comparisons of the ranking hold together"},
	{Key: "high_ratio", Meaning: "upper end"},
	{Key: "difference", Instead: "difference_ratio", Meaning: "difference of the estimates in the unit of the ranking's metric"},
	{Key: "low", Instead: "low_ratio", Meaning: "lower end of its interval"},
	{Key: "high", Instead: "high_ratio", Meaning: "upper end"},
	{Key: "rounds", Optional: true, Meaning: "rounds that both have; absent: not paired"},
}

// confidenceCodes are why a figure has its confidence.
var confidenceCodes = []CodeInfo{
	{CodeSteady, SeverityNote, anyFlow, []FigureInfo{
		{Key: "from_ns", Meaning: "start of the steady part, from the first byte"},
	}, "High confidence: the rate was steady from there to the end.", ""},
	{CodeRateNotReached, SeverityNote, anyFlow, nil, "Medium confidence of a goodput, low confidence of round trips and set-up times: the requested rate was not reached. A finding in `findings` has the rates.", "Use a lower rate."},
	{CodeRateShifted, SeverityNote, anyFlow, []FigureInfo{
		{Key: "change_ratio", Meaning: "difference between the halves divided by the larger"},
	}, "Medium confidence: the rate changed between the halves of the trial.", "Use a longer --duration."},
	{CodeRateVaries, SeverityNote, anyFlow, []FigureInfo{
		{Key: "variation_ratio", Meaning: "standard deviation of averages over a tenth of the trial, divided by their mean"},
	}, "Medium confidence: the rate varied throughout the trial.", "Use a longer --duration."},
	{CodeNeverSettled, SeverityNote, anyFlow, []FigureInfo{
		{Key: "tolerance_ratio", Meaning: "how close moving averages must come"},
	}, "Medium confidence: moving averages of the rate never came close to each other.", "Use a longer --duration."},
	{CodeSamplesIncomplete, SeverityNote, anyFlow, []FigureInfo{
		{Key: "covered_ratio", Meaning: "share of the trial"},
	}, "Medium confidence: samples cover only a part of the trial.", ""},
	{CodeFewIntervals, SeverityNote, anyFlow, []FigureInfo{
		{Key: "intervals", Meaning: "intervals with samples"},
		{Key: "needed_intervals", Meaning: "as many are needed"},
	}, "Low confidence: the trial is too short to judge whether the rate was steady.", "Use a longer --duration."},
	{CodeNoSamples, SeverityNote, anyFlow, nil, "Low confidence: there are no samples over time.", ""},
	{CodeNothingArrived, SeverityNote, anyFlow, nil, "Low confidence: nothing arrived at the receiver.", ""},
	{CodeReceiverCountMissing, SeverityNote, anyFlow, nil, "Low confidence: the receiver's count is missing.", ""},
	{CodeReceiverWithoutSamples, SeverityNote, anyFlow, nil,
		"Medium confidence: the receiver reports how much arrived and not when, so the start of the trial is in the figure.", ""},
	{CodeBrokenOff, SeverityNote, anyFlow, []FigureInfo{
		{Key: "counted_ns", Meaning: "length of the part that the receiver reported"},
	}, "Low confidence: the trial broke off, and the figure covers the part that the receiver reported before.", ""},
	{CodeEnoughForTail, SeverityNote, "", counted, "High confidence: enough values for a 99th percentile.", ""},
	{CodeFewForTail, SeverityNote, "", counted,
		"Medium confidence: enough values for a median, too few for a reliable 99th percentile.", "Use a longer --duration or a larger --count."},
	{CodeFewForPercentiles, SeverityNote, "", counted,
		"Low confidence: too few values for percentiles.", "Use a longer --duration or a larger --count."},
	{CodeClipped, SeverityNote, "", counted,
		"Medium confidence: some took longer than 60 s, the most that a histogram holds, and count as 60 s.", ""},
	{CodeNoRoundTrip, SeverityNote, "", nil, "Low confidence: no round trip was completed.", ""},
	{CodeNoConnection, SeverityNote, "", nil, "Low confidence: no connection was set up.", ""},
}

// rankCodes are why a pattern has its place in a ranking.
var rankCodes = []CodeInfo{
	{CodeRankHighest, SeverityNote, "", []FigureInfo{
		{Key: "patterns", Meaning: "in the ranking"}, {Key: "rounds", Meaning: "of this pattern"},
	}, "The pattern has the highest estimate.", ""},
	{CodeRankLowest, SeverityNote, "", []FigureInfo{
		{Key: "patterns", Meaning: "in the ranking"}, {Key: "rounds", Meaning: "of this pattern"},
	}, "The pattern has the lowest estimate.", ""},
	{CodeRankAbove, SeverityNote, "", compared, "The pattern is shown to be above another, where lower is better.", ""},
	{CodeRankBelow, SeverityNote, "", compared, "The pattern is shown to be below another, where higher is better.", ""},
	{CodeRankNoDifference, SeverityNote, "", append(compared[:len(compared):len(compared)],
		FigureInfo{Key: "needed_rounds", Optional: true, Meaning: "about how many rounds would show a difference of this size"}),
		"No difference is shown from the first pattern of this rank.", "Run more rounds."},
	{CodeRankAboveOtherRun, SeverityWarning, "", compared,
		"The pattern is above another that was measured in another run of the campaign, where lower is better. They were not interleaved: a change over time looks like a difference.", "Measure both in one run."},
	{CodeRankBelowOtherRun, SeverityWarning, "", compared,
		"The pattern is below another that was measured in another run of the campaign, where higher is better. They were not interleaved: a change over time looks like a difference.", "Measure both in one run."},
	{CodeRankNoDifferenceOtherRun, SeverityWarning, "", compared,
		"No difference is shown from the first pattern of this rank, which was measured in another run of the campaign. They were not interleaved: a change over time can hide a difference.", "Measure both in one run."},
	{CodeRankUntested, SeverityNote, "", compared[:1], "There are too few rounds to test the difference from the first pattern of this rank.", "Run more rounds."},
	{CodeRankOneRound, SeverityNote, "", nil, "One round ordered the patterns, which tests nothing.", "Run more rounds."},
	{CodeRankOnlyOne, SeverityNote, "", nil, "No other pattern has values.", ""},
	{CodeRankNoValues, SeverityNote, "", nil, "The pattern has no values.", ""},
}
