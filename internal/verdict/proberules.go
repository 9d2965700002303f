package verdict

import "soku/internal/measure"

// ProbeRule says what limited a trial by the figures of its probe.
type ProbeRule struct {
	Name       string   // unique; in documents and in docs/method.md
	After      []string // the rules that judged the trial, or "" if none held
	When       Condition
	LimitedBy  measure.Bottleneck
	Confidence measure.Confidence
	Source     string // why these figures mean that
}

// Figures of probes.
const (
	SeveralTimes Key = "several_streams_times"
	SmallTimes   Key = "small_datagrams_times"
	SmallSent    Key = "small_datagrams_sent_ratio"
	SmallLoss    Key = "small_datagrams_loss_ratio"
	LargeLoss    Key = "large_datagrams_loss_ratio"
	HalfLoss     Key = "half_rate_loss_ratio"
	HalfExpected Key = "half_rate_expected_losses"
	AgainSpread  Key = "again_spread_ratio"
)

var probeInfos = []FigureInfo{
	{SeveralTimes, unitTimes, "goodput of several streams together divided by that of one, each the mean of two trials by turns"},
	{SmallTimes, unitTimes, "goodput of small datagrams divided by that of large ones, each the mean of two trials by turns"},
	{SmallSent, unitRatio, "rate at which small datagrams were sent divided by the rate asked for"},
	{SmallLoss, unitRatio, "small datagrams that were lost"},
	{LargeLoss, unitRatio, "large datagrams that were lost"},
	{HalfLoss, unitRatio, "datagrams that were lost at half the goodput"},
	{HalfExpected, unitCount, "how many would be lost there at the loss ratio of the trial"},
	{AgainSpread, unitRatio, "largest less smallest goodput of the trial and of its repetitions, divided by their median"},
}

// Rules of trials whose limit is of packets or of bytes.
var packetsOrBytes = []string{"small_packets_lost", "policer", "udp_small_lost", "udp_policer_unsteady", "udp_small_silent"}

// Rules of trials whose losses are random or those of a policer.
var chanceOrPolicer = []string{"loss_under_bbr", "loss_by_chance_few", "policer_few"}

// Rules of trials whose queue others may use.
var otherTimes = []string{"queue_unsteady", "queue_dips", "queue_unreached", "udp_queue_unsteady"}

// Rules of trials that a processor may limit.
var (
	ofReceiver = []string{"receiver_thread", "receiver_stalled", "receiver_late", "softirq_receiver"}
	ofSender   = []string{"sender_thread", "softirq_sender"}
)

// ProbeRules are tried in this order; the first that holds is the verdict. The trial "longer",
// a stream of TCP and a copy with its stages apart are judged by [Rules] instead.
var ProbeRules = []ProbeRule{
	{
		Name: "several_get_more", After: []string{"one_flow_queued", "flows_alike_policed"}, LimitedBy: measure.BottleneckFlowCap, Confidence: measure.High,
		When:   AtLeast(SeveralTimes, 1.5),
		Source: "Several streams together get more than one, which had a limit of its own.",
	},
	{
		Name: "one_stream", After: []string{"", "queue_or_flow_cap"}, LimitedBy: measure.BottleneckFlowCap, Confidence: measure.High,
		When:   AtLeast(SeveralTimes, 1.5),
		Source: "As above: one stream is the limit, by one queue, one processor or a cap of each flow.",
	},
	{
		Name: "one_stream_receiver", After: ofReceiver, LimitedBy: measure.BottleneckReceiverCPU, Confidence: measure.High,
		When:   AtLeast(SeveralTimes, 1.5),
		Source: "One stream is the limit: several use more processors of the receiver.",
	},
	{
		Name: "one_stream_sender", After: ofSender, LimitedBy: measure.BottleneckSenderCPU, Confidence: measure.High,
		When:   AtLeast(SeveralTimes, 1.5),
		Source: "One stream is the limit: several use more processors of the sender.",
	},
	{
		Name: "window_of_each", After: []string{"window_or_receiver"}, LimitedBy: measure.BottleneckReceiveWindow, Confidence: measure.High,
		When:   AtLeast(SeveralTimes, 1.5),
		Source: "Each of several streams has a window, and the receiver reads them all.",
	},
	{
		Name: "several_get_the_same", After: []string{"one_flow_queued", "queue_or_flow_cap"}, LimitedBy: measure.BottleneckPathShaper, Confidence: measure.High,
		When:   Below(SeveralTimes, 1.2),
		Source: "Several streams share what one gets: a queue for each flow, and one limit for all.",
	},
	{
		Name: "several_share", After: []string{"flows_alike_policed"}, LimitedBy: measure.BottleneckPathPolicer, Confidence: measure.High,
		When:   Below(SeveralTimes, 1.2),
		Source: "One stream gets what several share.",
	},
	{
		Name: "packets_limited", After: packetsOrBytes, LimitedBy: measure.BottleneckPacketRate, Confidence: measure.High,
		When:   All(Below(SmallTimes, 0.7), AtLeast(SmallSent, 0.9), AtLeast(LargeLoss, 0.02)),
		Source: "Datagrams of half the size carry fewer bytes: what arrives is limited in packets.",
	},
	{
		Name: "bytes_limited", After: packetsOrBytes[:4], LimitedBy: measure.BottleneckPathPolicer, Confidence: measure.High,
		When:   All(AtLeast(SmallTimes, 0.85), AtLeast(LargeLoss, 0.02)),
		Source: "Datagrams of half the size carry as many bytes: what arrives is limited in bytes.",
	},
	{
		Name: "bytes_limited_queue", After: packetsOrBytes[4:], LimitedBy: measure.BottleneckPathShaper, Confidence: measure.High,
		When:   All(AtLeast(SmallTimes, 0.85), AtLeast(LargeLoss, 0.02)),
		Source: "As above, and small packets of the control connection were lost in a full queue.",
	},
	{
		Name: "small_pass", After: []string{"udp_mtu"}, LimitedBy: measure.BottleneckMTU, Confidence: measure.High,
		When:   All(AtLeast(LargeLoss, 0.05), Below(SmallLoss, 0.01)),
		Source: "Small datagrams arrive at the rate at which large ones do not.",
	},
	{
		Name: "small_lost_too", After: []string{"udp_mtu"}, LimitedBy: measure.BottleneckPathLoss, Confidence: measure.Medium,
		When:   All(AtLeast(LargeLoss, 0.05), AtLeast(SmallLoss, 0.05)),
		Source: "Small datagrams are lost, too.",
	},
	{
		Name: "half_is_lost_too", After: chanceOrPolicer, LimitedBy: measure.BottleneckPathLoss, Confidence: measure.High,
		When:   AtLeast(HalfLoss, 0.0005),
		Source: "Datagrams are lost at half the rate that the path carried before: by chance.",
	},
	{
		Name: "half_passes", After: chanceOrPolicer, LimitedBy: measure.BottleneckPathPolicer, Confidence: measure.High,
		When:   All(Below(HalfLoss, 0.0001), AtLeast(HalfExpected, 5)),
		Source: "No datagram is lost at half the rate: losses begin at a rate.",
	},
	{
		Name: "times_differ", After: otherTimes, LimitedBy: measure.BottleneckCompetingTraffic, Confidence: measure.High,
		When:   AtLeast(AgainSpread, 0.2),
		Source: "The same trial gets more at one time than at another.",
	},
	{
		Name: "times_agree", After: otherTimes, LimitedBy: measure.BottleneckPathShaper, Confidence: measure.Medium,
		When:   Below(AgainSpread, 0.08),
		Source: "The same trial gets the same at other times. A steady competitor leaves the same.",
	},
}
