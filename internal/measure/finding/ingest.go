package finding

// ingestCodes are about what other programs wrote.
var ingestCodes = []Info{
	{TestUnknown, Warning, "", []Figure{
		{Key: "tool", Text: true, Meaning: "program that wrote the file"},
		{Key: "test", Text: true, Meaning: "taken to be this test"},
	}, "The program failed before it wrote which test it was.", ""},
	{RTTDoubled, Note, "", []Figure{
		{Key: "tool", Text: true, Meaning: "program that wrote the file"},
	}, "The program reports half of each round trip. The figures are doubled.", ""},
	{RetransmitsOfHost, Warning, "", []Figure{
		{Key: "tool", Text: true, Meaning: "program that wrote the file"},
	}, "The program reports the retransmits of the whole sending host.", ""},
	{ConnectionsCarryRequest, Note, "", []Figure{
		{Key: "tool", Text: true, Meaning: "program and test that wrote the file"},
	}, "Each connection carried a request and a reply.", ""},
	{PercentilesRenamed, Note, "", []Figure{
		{Key: "tool", Text: true, Meaning: "program that wrote the file"},
	}, "The program's log has percentiles under the wrong names. They are corrected.", ""},
	{RouterRepliesAreLoss, Note, "", []Figure{
		{Key: "tool", Text: true, Meaning: "program that wrote the file"},
	}, "The program counts a message of a router, such as host unreachable, as a reply. Here it counts as lost.", ""},
	{WholeMilliseconds, Warning, "", []Figure{
		{Key: "tool", Text: true, Meaning: "program that wrote the file"},
	}, "The program wrote whole milliseconds, so every figure is known within 1 ms.", ""},
	{TestsUnmarked, Note, "", []Figure{
		{Key: "tool", Text: true, Meaning: "program that wrote the file"},
	}, "The program's server does not mark where a UDP test begins. Tests of one client with no pause between them are separated where the rate fell below half for a second, or where the size of the datagrams changed; otherwise they are one result.", ""},
	{SumDiffers, Note, "", []Figure{
		{Key: "tool", Text: true, Meaning: "program that wrote the file"},
		{Key: "goodput_bps", Meaning: "sum of its streams"},
		{Key: "sum_bps", Meaning: "sum that it prints"},
	}, "The sum that the program prints of its streams is another than the sum of their rates, by more than rounding. Goodput is the sum of the rates.", ""},
	{RateRounded, Warning, "", []Figure{
		{Key: "tool", Text: true, Meaning: "program that wrote the file"},
		{Key: "slack_bps", Meaning: "how far the goodput may be from the program's"},
	}, "The program printed the rate in so large a unit that less than two digits are left, and bytes and time tell no more.", ""},
	{FiguresAbsent, Warning, "", []Figure{
		{Key: "tool", Text: true, Meaning: "program that wrote the file"},
		{Key: "count", Meaning: "figures"},
		{Key: "line", Meaning: "line of the first one"},
	}, "The program wrote figures that cannot be, such as `-nan` or a negative count. The result does not have them.", ""},
	{LossImpossible, Warning, "", []Figure{
		{Key: "tool", Text: true, Meaning: "program that wrote the file"},
		{Key: "lost", Meaning: "datagrams that were lost, by the program"},
		{Key: "sent", Meaning: "datagrams that were sent, by its own counts"},
	}, "The program reports more lost datagrams than were sent. The result has no loss.", ""},
	{TextAround, Note, "", []Figure{
		{Key: "line", Meaning: "line of the file where it begins"},
		{Key: "lines", Meaning: "number of lines"},
		{Key: "text", Text: true, Meaning: "the first of them"},
	}, "Text of the file is no part of what was read: what stands before, between or after documents, what was written before each line, or messages about no test.", ""},
	{LossCountsReordered, Note, "", []Figure{
		{Key: "tool", Text: true, Meaning: "program that wrote the file, with its version"},
	}, "This version counts a datagram that arrives after a later one as lost. The loss may be lower.", ""},
	{LastLineOpen, Warning, "", nil, "The last line of the file has no end. If the file is cut off there, its last figure is too.", ""},
}

// missingCodes are what a result of another program does not have.
var missingCodes = []Info{
	{NoIntervals, Note, "", nil, "There are no samples over time (`flows[].samples`, `latency.series`).", ""},
	{IntervalsOfSender, Note, "", nil, "Samples over time are those of the sender (`sent_bytes`); charts draw these.", ""},
	{GoodputOfSender, Note, "", nil, "There is no count of the receiver (`received_bytes`); goodput is the figure of the sender.", ""},
	{CounterUnknown, Note, "", nil, "It is unknown which end counted.", ""},
	{NoSenderCount, Note, "", nil, "There is no count of the sender (`sent_bytes`).", ""},
	{RoundedFigures, Note, "", nil, "Figures are rounded as the program prints them.", ""},
	{NoStreams, Note, "", nil, "There are no figures of single streams (`flows[].streams`, `fairness`).", ""},
	{NoRetransmits, Note, "", nil, "There are no retransmits.", ""},
	{NoLoss, Note, "", nil, "There is no loss.", ""},
	{NoHistogram, Note, "", nil, "There is no histogram of round trips (`latency.histogram`, `rtt_ns`), only summary figures.", ""},
	{PercentilesOfBlocks, Note, "", nil, "There is no histogram of round trips: percentiles are those of blocks (`latency.rows`), which cannot be combined.", ""},
	{NoPercentiles, Note, "", nil, "There are no percentiles (`p50` and above in `rtt_reported_ns`).", ""},
	{NoTimes, Note, "", nil, "There are no round-trip times, such as of ping with packets too small to carry a time stamp.", ""},
	{NoDirection, Note, "", nil, "There is no direction of the bytes: forward is the program's default.", ""},
	{NoTarget, Note, "", nil, "The target is not named: the last hop is taken for it, which may be a router that knows no way on.", ""},
	{MeanComputed, Note, "", nil, "The mean is computed: time divided by the number of round trips.", ""},
	{GoodputComputed, Note, "", nil, "The goodput is computed: bytes divided by time.", ""},
	{OnlyRange, Note, "", nil, "Only the smallest and the largest of several trials are published.", ""},
	{TimeOfFile, Note, "", nil, "There is no time of day: `started_at` is the file's modification time, or the mapping's.", ""},
	{NoToolVersion, Note, "", nil, "There is no version of the program.", ""},
	{NoOptions, Note, "", nil, "The program has only the options that the result names.", ""},
	{NoBaseline, Note, "", nil, "There is no loopback baseline of program and host.", ""},
	{NoHostFacts, Note, "", nil, "There are no facts about the hosts.", ""},
}
