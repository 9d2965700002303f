package measure

// Codes of the findings about a trial. What each means, and its figures, is in CodeSections.
const (
	CodeText Code = "text"

	// Counts of the two ends.
	CodeReceiverDisagrees      Code = "receiver_disagrees"
	CodeConnectionCountsDiffer Code = "connection_counts_differ"
	CodeReceivedNotReported    Code = "received_not_reported"
	CodeReceivedIsAcknowledged Code = "received_is_acknowledged"
	CodeReceivedExceedsSent    Code = "received_exceeds_sent"
	CodeReceiverUnconfirmed    Code = "receiver_unconfirmed"
	CodeRowsCut                Code = "rows_cut"
	CodeStreamSamplesLeftOut   Code = "stream_samples_left_out"
	CodeNoSokuServer           Code = "no_soku_server"
	CodeForeignConnections     Code = "foreign_connections"
	CodeFileDescriptorsRanOut  Code = "file_descriptors_ran_out"
	CodeSocketDrops            Code = "socket_drops"
	CodeSegmentsNotSplit       Code = "segments_not_split"
	CodeSegmentsArrivedJoined  Code = "segments_arrived_joined"
	CodeDatagramsJoined        Code = "datagrams_joined"
	CodeMTUReportUnconfirmed   Code = "mtu_report_unconfirmed"
	CodeMTUFlowsDiffer         Code = "mtu_flows_differ"
	CodeMTURouteLocked         Code = "mtu_route_locked"
	CodeTraceAnswersLimited    Code = "trace_answers_limited"
	CodeTraceFlowsUnknown      Code = "trace_flows_unknown"
	CodeTraceDistanceUnknown   Code = "trace_distance_unknown"
	CodeMultipathFellBack      Code = "multipath_fell_back"
	CodeMultipathNotRequested  Code = "multipath_not_requested"
	CodeRateLevels             Code = "rate_levels"
	CodeOtherTraffic           Code = "other_traffic"
	CodeSYNsResent             Code = "syns_resent"
	CodeListenerDropped        Code = "listener_dropped"
	CodeCopyCached             Code = "copy_cached"
	CodeCopySkipped            Code = "copy_skipped"
	CodeCopyCut                Code = "copy_cut"
	CodeControlCut             Code = "control_cut"

	// What was asked for and not done.
	CodeServerLoweredRate        Code = "server_lowered_rate"
	CodeServerLoweredConnections Code = "server_lowered_connections"
	CodeServerLoweredRequests    Code = "server_lowered_requests"
	CodeServerExceedsRate        Code = "server_exceeds_rate"
	CodeRateNotSent              Code = "rate_not_sent"
	CodeRateNotCarried           Code = "rate_not_carried"
	CodeRateNotReceived          Code = "rate_not_received"
	CodeRequestsNotSent          Code = "requests_not_sent"
	CodeRepliesFellBehind        Code = "replies_fell_behind"
	CodeConnectionsNotOpened     Code = "connections_not_opened"
	CodeNotPinned                Code = "not_pinned"
	CodeNotSpinning              Code = "not_spinning"
	CodeSplitUnsupported         Code = "split_unsupported"
	CodeSplitStampsMissing       Code = "split_stamps_missing"
	CodeSplitFarKernelUnstamped  Code = "split_far_kernel_unstamped"
	CodeSplitIncomplete          Code = "split_incomplete"

	// What this host and program add, or take away.
	CodeGoodputNearBaseline    Code = "goodput_near_baseline"
	CodePacketRateNearBaseline Code = "packet_rate_near_baseline"
	CodeRTTNearBaseline        Code = "rtt_near_baseline"
	CodeBaselineFailed         Code = "baseline_failed"
	CodeBaselineModeFailed     Code = "baseline_mode_failed"
	CodeHostLoaded             Code = "host_loaded"
	CodeProbesLate             Code = "probes_late"
	CodeAcceleratedBypassed    Code = "accelerated_networking_bypassed"
	CodeVirtualFunctionUnused  Code = "virtual_function_unused"

	// Campaigns.
	CodeReplacesResult Code = "replaces_result"
	CodeServerAwaited  Code = "server_awaited"
	CodeReplacesGroup  Code = "replaces_group_result"
	CodeRepeatsLost    Code = "repeats_lost_result"

	// Results of other programs.
	CodeTestUnknown             Code = "test_unknown"
	CodeRTTDoubled              Code = "rtt_doubled"
	CodeRetransmitsOfHost       Code = "retransmits_of_host"
	CodeConnectionsCarryRequest Code = "connections_carry_request"
	CodePercentilesRenamed      Code = "percentiles_renamed"
	CodeRouterRepliesAreLoss    Code = "router_replies_are_loss"
	CodeWholeMilliseconds       Code = "whole_milliseconds"
	CodeTestsUnmarked           Code = "tests_unmarked"
	CodeSumDiffers              Code = "sum_differs"
	CodeLastLineOpen            Code = "last_line_open"

	// Why a figure has its confidence.
	CodeSteady                 Code = "steady"
	CodeRateNotReached         Code = "rate_not_reached"
	CodeRateShifted            Code = "rate_shifted"
	CodeRateVaries             Code = "rate_varies"
	CodeNeverSettled           Code = "never_settled"
	CodeSamplesIncomplete      Code = "samples_incomplete"
	CodeFewIntervals           Code = "few_intervals"
	CodeNoSamples              Code = "no_samples"
	CodeNothingArrived         Code = "nothing_arrived"
	CodeReceiverCountMissing   Code = "receiver_count_missing"
	CodeReceiverWithoutSamples Code = "receiver_without_samples"
	CodeBrokenOff              Code = "broken_off"
	CodeEnoughForTail          Code = "enough_for_tail"
	CodeFewForTail             Code = "few_for_tail"
	CodeFewForPercentiles      Code = "few_for_percentiles"
	CodeClipped                Code = "clipped"
	CodeNoRoundTrip            Code = "no_round_trip"
	CodeNoConnection           Code = "no_connection"

	// Why a pattern has its place in a ranking.
	CodeRankHighest      Code = "rank_highest"
	CodeRankLowest       Code = "rank_lowest"
	CodeRankAbove        Code = "rank_above"
	CodeRankBelow        Code = "rank_below"
	CodeRankNoDifference Code = "rank_no_difference"

	CodeRankAboveOtherRun        Code = "rank_above_other_run"
	CodeRankBelowOtherRun        Code = "rank_below_other_run"
	CodeRankNoDifferenceOtherRun Code = "rank_no_difference_other_run"

	CodeRankUntested Code = "rank_untested"
	CodeRankOneRound Code = "rank_one_round"
	CodeRankOnlyOne  Code = "rank_only_one"
	CodeRankNoValues Code = "rank_no_values"

	// A result of another program lacks this.
	CodeNoIntervals         Code = "no_intervals"
	CodeIntervalsOfSender   Code = "intervals_of_sender"
	CodeGoodputOfSender     Code = "goodput_of_sender"
	CodeCounterUnknown      Code = "counter_unknown"
	CodeNoSenderCount       Code = "no_sender_count"
	CodeRoundedFigures      Code = "rounded_figures"
	CodeNoStreams           Code = "no_streams"
	CodeNoRetransmits       Code = "no_retransmits"
	CodeNoLoss              Code = "no_loss"
	CodeNoHistogram         Code = "no_histogram"
	CodePercentilesOfBlocks Code = "percentiles_of_blocks"
	CodeNoPercentiles       Code = "no_percentiles"
	CodeNoTimes             Code = "no_times"
	CodeNoDirection         Code = "no_direction"
	CodeNoTarget            Code = "no_target"
	CodeMeanComputed        Code = "mean_computed"
	CodeGoodputComputed     Code = "goodput_computed"
	CodeOnlyRange           Code = "only_range"
	CodeTimeOfFile          Code = "time_of_file"
	CodeNoToolVersion       Code = "no_tool_version"
	CodeNoOptions           Code = "no_options"
	CodeNoBaseline          Code = "no_baseline"
	CodeNoHostFacts         Code = "no_host_facts"
)

// CodeInfo documents a code.
type CodeInfo struct {
	Code     Code
	Severity Severity
	Where    string // what the member where may be; empty: absent
	Figures  []FigureInfo
	Meaning  string
	Next     string // what a person can do about it; empty: nothing
}

// FigureInfo documents a figure of a finding. Its unit is in its key.
type FigureInfo struct {
	Key      string
	Text     bool // a text, otherwise a number
	Optional bool
	Instead  string // key of the figure that is absent where this one is there
	Meaning  string
}

// CodeSection is a part of the documentation of codes.
type CodeSection struct {
	Title string
	Text  string // where findings of these codes are
	Codes []CodeInfo
}

// CodeSections are all codes. docs/reference/findings.md is generated from them.
var CodeSections = []CodeSection{
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
func Describe(code Code) (CodeInfo, bool) {
	for _, section := range CodeSections {
		for _, info := range section.Codes {
			if info.Code == code {
				return info, true
			}
		}
	}
	return CodeInfo{}, false
}

// Codes returns every code, in the order of the documentation.
func Codes() (all []CodeInfo) {
	for _, section := range CodeSections {
		all = append(all, section.Codes...)
	}
	return all
}
