package finding

// Codes of the findings about a trial. What each means, and its figures, is in Sections.
const (
	Text Code = "text"

	// Counts of the two ends.
	ReceiverDisagrees      Code = "receiver_disagrees"
	ConnectionCountsDiffer Code = "connection_counts_differ"
	ReceivedNotReported    Code = "received_not_reported"
	ReceivedIsAcknowledged Code = "received_is_acknowledged"
	ReceivedExceedsSent    Code = "received_exceeds_sent"
	ReceiverUnconfirmed    Code = "receiver_unconfirmed"
	ReceiverBeganLate      Code = "receiver_began_late"
	RowsCut                Code = "rows_cut"
	StreamSamplesLeftOut   Code = "stream_samples_left_out"
	NoSokuServer           Code = "no_soku_server"
	ForeignConnections     Code = "foreign_connections"
	FileDescriptorsRanOut  Code = "file_descriptors_ran_out"
	SocketDrops            Code = "socket_drops"
	SegmentsNotSplit       Code = "segments_not_split"
	SegmentsArrivedJoined  Code = "segments_arrived_joined"
	DatagramsJoined        Code = "datagrams_joined"
	MTUReportUnconfirmed   Code = "mtu_report_unconfirmed"
	MTUFlowsDiffer         Code = "mtu_flows_differ"
	MTURouteLocked         Code = "mtu_route_locked"
	TraceAnswersLimited    Code = "trace_answers_limited"
	TraceFlowsUnknown      Code = "trace_flows_unknown"
	TraceDistanceUnknown   Code = "trace_distance_unknown"
	MultipathFellBack      Code = "multipath_fell_back"
	MultipathNotRequested  Code = "multipath_not_requested"
	RateLevels             Code = "rate_levels"
	OtherTraffic           Code = "other_traffic"
	SYNsResent             Code = "syns_resent"
	ListenerDropped        Code = "listener_dropped"
	CopyCached             Code = "copy_cached"
	CopySkipped            Code = "copy_skipped"
	CopyCut                Code = "copy_cut"
	ControlCut             Code = "control_cut"

	// What was asked for and not done.
	ServerLoweredRate        Code = "server_lowered_rate"
	ServerLoweredConnections Code = "server_lowered_connections"
	ServerLoweredRequests    Code = "server_lowered_requests"
	ServerExceedsRate        Code = "server_exceeds_rate"
	RateNotSent              Code = "rate_not_sent"
	RateNotCarried           Code = "rate_not_carried"
	RateNotReceived          Code = "rate_not_received"
	RequestsNotSent          Code = "requests_not_sent"
	RepliesFellBehind        Code = "replies_fell_behind"
	ConnectionsNotOpened     Code = "connections_not_opened"
	NotPinned                Code = "not_pinned"
	NotSpinning              Code = "not_spinning"
	SplitUnsupported         Code = "split_unsupported"
	SplitStampsMissing       Code = "split_stamps_missing"
	SplitFarKernelUnstamped  Code = "split_far_kernel_unstamped"
	SplitIncomplete          Code = "split_incomplete"

	// What this host and program add, or take away.
	GoodputNearBaseline    Code = "goodput_near_baseline"
	PacketRateNearBaseline Code = "packet_rate_near_baseline"
	RTTNearBaseline        Code = "rtt_near_baseline"
	TooFastToMeasure       Code = "too_fast_to_measure"
	BaselineFailed         Code = "baseline_failed"
	BaselineModeFailed     Code = "baseline_mode_failed"
	HostLoaded             Code = "host_loaded"
	HostBusy               Code = "host_busy"
	ProbesLate             Code = "probes_late"
	AcceleratedBypassed    Code = "accelerated_networking_bypassed"
	VirtualFunctionUnused  Code = "virtual_function_unused"

	// Campaigns.
	ReplacesResult Code = "replaces_result"
	ServerAwaited  Code = "server_awaited"
	ReplacesGroup  Code = "replaces_group_result"
	RepeatsLost    Code = "repeats_lost_result"
	ArrivedLate    Code = "arrived_late"
	StartsApart    Code = "starts_apart"

	ConnectionReversed Code = "connection_reversed"
	OtherAddress       Code = "other_address"

	// Results of other programs.
	TestUnknown             Code = "test_unknown"
	RTTDoubled              Code = "rtt_doubled"
	RetransmitsOfHost       Code = "retransmits_of_host"
	ConnectionsCarryRequest Code = "connections_carry_request"
	PercentilesRenamed      Code = "percentiles_renamed"
	RouterRepliesAreLoss    Code = "router_replies_are_loss"
	WholeMilliseconds       Code = "whole_milliseconds"
	TestsUnmarked           Code = "tests_unmarked"
	SumDiffers              Code = "sum_differs"
	LastLineOpen            Code = "last_line_open"
	RateRounded             Code = "rate_rounded"
	FiguresAbsent           Code = "figures_absent"
	LossImpossible          Code = "loss_impossible"
	TextAround              Code = "text_around"
	LossCountsReordered     Code = "loss_counts_reordered"

	// Why a figure has its confidence.
	Steady                 Code = "steady"
	RateNotReached         Code = "rate_not_reached"
	RateShifted            Code = "rate_shifted"
	RateVaries             Code = "rate_varies"
	NeverSettled           Code = "never_settled"
	SamplesIncomplete      Code = "samples_incomplete"
	FewIntervals           Code = "few_intervals"
	NoSamples              Code = "no_samples"
	NothingArrived         Code = "nothing_arrived"
	ReceiverCountMissing   Code = "receiver_count_missing"
	ReceiverWithoutSamples Code = "receiver_without_samples"
	BrokenOff              Code = "broken_off"
	EnoughForTail          Code = "enough_for_tail"
	FewForTail             Code = "few_for_tail"
	FewForPercentiles      Code = "few_for_percentiles"
	Clipped                Code = "clipped"
	NoRoundTrip            Code = "no_round_trip"
	NoConnection           Code = "no_connection"

	// Why a pattern has its place in a ranking.
	RankHighest      Code = "rank_highest"
	RankLowest       Code = "rank_lowest"
	RankAbove        Code = "rank_above"
	RankBelow        Code = "rank_below"
	RankNoDifference Code = "rank_no_difference"

	RankAboveOtherRun        Code = "rank_above_other_run"
	RankBelowOtherRun        Code = "rank_below_other_run"
	RankNoDifferenceOtherRun Code = "rank_no_difference_other_run"

	RankUntested  Code = "rank_untested"
	RankOneRound  Code = "rank_one_round"
	RankTwoRounds Code = "rank_two_rounds"
	RankSmall     Code = "rank_small"
	RankOnlyOne   Code = "rank_only_one"
	RankNoValues  Code = "rank_no_values"

	// A result of another program lacks this.
	NoIntervals         Code = "no_intervals"
	IntervalsOfSender   Code = "intervals_of_sender"
	GoodputOfSender     Code = "goodput_of_sender"
	CounterUnknown      Code = "counter_unknown"
	NoSenderCount       Code = "no_sender_count"
	RoundedFigures      Code = "rounded_figures"
	NoStreams           Code = "no_streams"
	NoRetransmits       Code = "no_retransmits"
	NoLoss              Code = "no_loss"
	NoHistogram         Code = "no_histogram"
	PercentilesOfBlocks Code = "percentiles_of_blocks"
	NoPercentiles       Code = "no_percentiles"
	NoTimes             Code = "no_times"
	NoDirection         Code = "no_direction"
	NoTarget            Code = "no_target"
	MeanComputed        Code = "mean_computed"
	GoodputComputed     Code = "goodput_computed"
	OnlyRange           Code = "only_range"
	TimeOfFile          Code = "time_of_file"
	NoToolVersion       Code = "no_tool_version"
	NoOptions           Code = "no_options"
	NoBaseline          Code = "no_baseline"
	NoHostFacts         Code = "no_host_facts"
)

// Info documents a code.
type Info struct {
	Code     Code
	Severity Severity
	Where    string // what the member where may be; empty: absent
	Figures  []Figure
	Meaning  string
	Next     string // what a person can do about it; empty: nothing
}

// Figure documents a figure of a finding. Its unit is in its key.
type Figure struct {
	Key      string
	Text     bool // a text, otherwise a number
	Optional bool
	Instead  string // key of the figure that is absent where this one is there
	Meaning  string
}

// Section is a part of the documentation of codes.
type Section struct {
	Title string
	Text  string // where findings of these codes are
	Codes []Info
}

// Sections are all codes. docs/reference/findings.md is generated from them.
var Sections = []Section{
	{"Counts of the two ends", "In `findings` of a result.", countCodes},
	{"Requests that were not met", "In `findings` of a result.", requestCodes},
	{"The host and the program", "In `findings` of a result, and of `soku floor`.", baselineCodes},
	{"Confidence", "In `summary.confidence_finding` of a result and of its flows.", confidenceCodes},
	{"Rankings", "In `tests[].ranking[].reason_finding` of a report.", rankCodes},
	{"Other programs' output", "In `findings` of an ingested result.", ingestCodes},
	{"Missing from other programs' output", "In `origin.missing` of an ingested result.", missingCodes},
	{"Other", "In `findings` of a result.", otherCodes},
}

// Describe returns what is known about a code; a code of a newer soku is not known.
func Describe(code Code) (Info, bool) {
	for _, section := range Sections {
		for _, info := range section.Codes {
			if info.Code == code {
				return info, true
			}
		}
	}
	return Info{}, false
}

// All returns every code, in the order of the documentation.
func All() (all []Info) {
	for _, section := range Sections {
		all = append(all, section.Codes...)
	}
	return all
}
