package verdict

import (
	"math"

	"soku/internal/measure"
)

// Key names a figure that rules compare.
type Key string

// Units of figures, as in [measure.Evidence].
const (
	unitRatio = "ratio"
	unitTimes = "times"
	unitCount = "count"
	unitNs    = "ns"
	unitBytes = "bytes"
)

// Figures are what rules compare. A figure that the result does not have is absent.
type Figures struct {
	readings  map[Key]reading
	queueless bool // no queue is between the ends
}

// reading is a figure, with where it was read and what it is of.
type reading struct {
	value  float64
	where  measure.Where
	detail string
}

func (f *Figures) set(key Key, v float64) { f.setAt(key, v, "", "") }

// setAt sets a figure of a host; one that is no number stays absent.
func (f *Figures) setAt(key Key, v float64, where measure.Where, detail string) {
	if !math.IsNaN(v) {
		f.readings[key] = reading{v, where, detail}
	}
}

// Value returns a figure. known is false if the figure is absent.
func (f *Figures) Value(key Key) (v float64, known bool) {
	r, known := f.readings[key]
	return r.value, known
}

// FigureInfo describes a figure.
type FigureInfo struct {
	Key     Key
	Unit    string
	Meaning string
}

// Figures of all tests.
const (
	Streams           Key = "streams"
	AskedRatio        Key = "asked_ratio"
	GoodputSpread     Key = "goodput_spread_ratio"
	GoodputPeak       Key = "goodput_peak_ratio"
	StepTimes         Key = "step_times"
	StepFit           Key = "step_fit_ratio"
	StepAt            Key = "step_at_ns"
	StepNoise         Key = "step_noise_ratio"
	SenderThread      Key = "sender_thread_ratio"
	ReceiverThread    Key = "receiver_thread_ratio"
	SenderRun         Key = "sender_run_ratio"
	ReceiverRun       Key = "receiver_run_ratio"
	SenderThrottled   Key = "sender_throttled_ratio"
	ReceiverThrottled Key = "receiver_throttled_ratio"
	SenderSoftirq     Key = "sender_softirq_ratio"
	ReceiverSoftirq   Key = "receiver_softirq_ratio"
	ReceiverShared    Key = "receiver_shared"
	OtherTraffic      Key = "other_traffic_ratio"
	AllowanceRatio    Key = "allowance_exceeded_ratio"
	LossRatio         Key = "loss_ratio"
	ControlRTTTimes   Key = "control_rtt_times"
	ControlQueue      Key = "control_queue_ns"
	ControlRTTs       Key = "control_round_trips"
	ControlResent     Key = "control_retransmits"
)

// Figures of TCP.
const (
	FixedAmount       Key = "fixed_amount"
	DurationNs        Key = "duration_ns"
	DurationRTTs      Key = "duration_rtts"
	SlowStart         Key = "slow_start"
	BBR               Key = "bbr"
	Retransmits       Key = "retransmits"
	Timeouts          Key = "timeouts_per_stream"
	Acknowledged      Key = "acknowledged_bytes"
	SegmentRatio      Key = "segment_ratio"
	WindowUsed        Key = "window_used_ratio"
	RwndLimited       Key = "rwnd_limited_ratio"
	ReceiveBufferUsed Key = "receive_buffer_used_ratio"
	SendBufferUsed    Key = "send_buffer_used_ratio"
	SndbufLimited     Key = "sndbuf_limited_ratio"
	UnsentTimes       Key = "unsent_times"
	CwndUsed          Key = "cwnd_used_ratio"
	RTTTimes          Key = "rtt_times"
	QueueNs           Key = "queue_ns"
	RTTGrowth         Key = "rtt_growth_ratio"
	RTTSpread         Key = "rtt_spread_ratio"
	RTTAlike          Key = "rtt_correlation_ratio"
	BesideRatio       Key = "control_queue_ratio"
	Jain              Key = "jain_ratio"
	TogetherTimes     Key = "together_times"
	Recoveries        Key = "recoveries"
	LossesPerRecovery Key = "losses_per_recovery"
	LossBurst         Key = "loss_burst_times"
)

// Figures of UDP and of connect.
const (
	DatagramBytes     Key = "datagram_bytes"
	SocketDrops       Key = "socket_drops_ratio"
	LossVariance      Key = "loss_variance_times"
	LossOfMore        Key = "loss_of_more_ratio"
	ListenDrops       Key = "listen_drops_ratio"
	ListenStall       Key = "listen_stall_ratio"
	ConntrackDrops    Key = "conntrack_drops_ratio"
	SYNsResent        Key = "syn_retransmits_ratio"
	FailedConnections Key = "failed_connections"
	ThreadLead        Key = "sender_thread_lead_ratio"
)

// Infos describes every figure, in the order of docs/method.md.
var Infos = append([]FigureInfo{
	{Streams, unitCount, "streams that moved bytes"},
	{AskedRatio, unitRatio, "goodput, or connections per second, divided by the rate asked for; absent without one"},
	{FixedAmount, unitCount, "1 if an amount of bytes was asked for instead of a time"},
	{DurationNs, unitNs, "length of the trial"},
	{DurationRTTs, unitTimes, "length of the trial divided by the smallest round trip"},
	{SlowStart, unitCount, "1 if no stream ever left slow start; absent where the kernel's congestion window is not known"},
	{BBR, unitCount, "1 if the congestion control is bbr"},
	{Retransmits, unitCount, "segments that were sent again"},
	{Timeouts, unitCount, "retransmission time-outs divided by streams; of all connections of the sender's network namespace if those are more"},
	{Acknowledged, unitBytes, "payload that the receiver acknowledged"},
	{SegmentRatio, unitRatio, "smallest segment size of a stream divided by its largest, or by what the path MTU allows (the MTU less 52 bytes) if that is smaller"},
	{SenderThread, unitRatio, "median over the intervals of the time that the busiest thread of the sender ran or waited for a processor"},
	{ReceiverThread, unitRatio, "the same of the receiver"},
	{SenderRun, unitRatio, "median of the time that this thread ran, without its waits"},
	{ReceiverRun, unitRatio, "the same of the receiver"},
	{SenderThrottled, unitRatio, "periods in which the sender's control group used up its quota of processor time, or 0 if no quota is known"},
	{ReceiverThrottled, unitRatio, "the same of the receiver"},
	{ThreadLead, unitRatio, "the sender's figure less the receiver's"},
	{SenderSoftirq, unitRatio, "time that the busiest processor of the sender spent in interrupts, median over the intervals"},
	{ReceiverSoftirq, unitRatio, "the same of the receiver"},
	{ReceiverShared, unitCount, "1 if the server measured with other clients at the same time"},
	{WindowUsed, unitRatio, "bytes in flight divided by the receiver's window, median"},
	{RwndLimited, unitRatio, "time that the sender's kernel counts as limited by the receiver's window"},
	{ReceiveBufferUsed, unitRatio, "how full the receiver's socket was, median"},
	{SendBufferUsed, unitRatio, "how full the sender's socket was, median"},
	{SndbufLimited, unitRatio, "time that the sender's kernel counts as limited by its send buffer"},
	{UnsentTimes, unitTimes, "bytes that wait in the sender's socket divided by those in flight, median"},
	{CwndUsed, unitRatio, "segments in flight divided by the congestion window, median"},
	{OtherTraffic, unitRatio, "share of the bytes on the sender's or the receiver's interface that is not the test's; the larger. Absent on loopback"},
	{AllowanceRatio, unitRatio, "packets that a cloud's limit held back, by the driver's counters (ENA: *_allowance_exceeded), divided by packets"},
	{StepTimes, unitTimes, "goodput before the best split into two levels divided by that after it"},
	{StepFit, unitRatio, "share of the variance of the goodput that this split explains"},
	{StepAt, unitNs, "moment of the split"},
	{StepNoise, unitRatio, "standard deviation of the goodput before the split divided by its mean"},
	{RTTTimes, unitTimes, "median of the smoothed round trip times divided by the smallest round trip"},
	{QueueNs, unitNs, "their difference"},
	{RTTGrowth, unitRatio, "how much of the largest round trip of the first second is not in the smallest"},
	{RTTSpread, unitRatio, "difference of the largest and the smallest median round trip of a stream divided by their mean, of streams with windows of 8 segments and more"},
	{RTTAlike, unitRatio, "correlation of the round trips of two streams over time: of all pairs the one that a tenth is below; absent if round trips are level. Streams in one queue wait the same"},
	{ControlRTTTimes, unitTimes, "first quartile of the round trips of the control connection under load divided by the smallest; recovered from the smoothed one, which moves by an eighth of each difference (RFC 6298), and in trials of more than two minutes the smoothed one itself"},
	{ControlQueue, unitNs, "their difference"},
	{BesideRatio, unitRatio, "`control_queue_ns` divided by `queue_ns`: 0 if packets of the control connection do not wait in the queue of the streams"},
	{ControlRTTs, unitCount, "how many round trips of the control connection these figures rest on"},
	{ControlResent, unitCount, "segments of the control connection that were sent again"},
	{Jain, unitRatio, "Jain's index of what the streams moved"},
	{TogetherTimes, unitTimes, "variance of the sum of the streams divided by the sum of their variances: below 1 if one gains what others lose"},
	{LossRatio, unitRatio, "segments that had to be sent again (without those that had arrived), or datagrams that were lost, divided by all"},
	{Recoveries, unitCount, "times that the sender's kernel began to recover from losses, on all connections of its network namespace"},
	{LossesPerRecovery, unitCount, "segments of all streams that had to be sent again divided by that"},
	{LossBurst, unitTimes, "`losses_per_recovery` divided by what chance gives in the window of a stream: 1 + `loss_ratio` x segments that are acknowledged in a round trip"},
	{GoodputSpread, unitRatio, "90th less 10th percentile of the goodput over three samples (300 ms), divided by the median"},
	{GoodputPeak, unitRatio, "90th percentile of that goodput less the median, divided by the median: 0 if the path carries no more at any time"},
	{DatagramBytes, unitBytes, "payload of a datagram"},
	{SocketDrops, unitRatio, "share of the lost datagrams that the receiver's socket dropped"},
	{LossVariance, unitTimes, "variance of the share of lost datagrams, or of segments that had to be sent again over three samples (300 ms), divided by what independent losses would have"},
	{LossOfMore, unitRatio, "of the datagrams that some samples sent more than others, the share that was lost beyond `loss_ratio`, of what is not lost otherwise (slope of a regression): 0 by chance, 1 where a limit drops all of them; absent if the samples sent alike"},
	{ListenDrops, unitRatio, "connections that the server's queues dropped divided by connections that the client tried"},
	{ListenStall, unitRatio, "share of the connectors' time that these drops took: a dropped SYN is sent again after a second (RFC 6298). Absent with a rate"},
	{ConntrackDrops, unitRatio, "packets that the server dropped because it could not track their connection (a full table), divided by connections that the client tried"},
	{SYNsResent, unitRatio, "SYNs that the client sent again divided by connections that it tried"},
	{FailedConnections, unitCount, "connections that failed"},
	{CopyRead, unitRatio, "time that the source of a copy spent in calls that read, divided by the length of the copy; mean of the streams while they were there"},
	{CopyWrite, unitRatio, "the same of calls of the sink that write and flush"},
	{CopyFile, unitRatio, "the same of opening, creating and closing files, at the end where it is more"},
	{CopySourceHash, unitRatio, "time of checksums at the source, divided by the length of the copy and its streams"},
	{CopySinkHash, unitRatio, "the same of checksums at the sink"},
	{CopySendWait, unitRatio, "the same of the source's calls that send"},
	{CopyReceiveWait, unitRatio, "the same of the sink's calls that receive"},
	{CopyReadLead, unitRatio, "`copy_read_ratio` less `copy_send_wait_ratio`"},
	{CopyWriteLead, unitRatio, "`copy_write_ratio` less `copy_receive_wait_ratio`"},
	{CopyDiskLead, unitRatio, "`copy_write_ratio` less `copy_read_ratio`; absent for a local copy, where one disk may do both"},
	{CopyCut, unitRatio, "time in which at least one connection of a copy was cut, divided by the length of the copy; the other shares exclude this time"},
	{CopyWriteTimes, unitTimes, "length of the stage write divided by that of the stage read, where they were measured alone"},
}, probeInfos...)

var units = func() map[Key]string {
	out := map[Key]string{}
	for _, i := range Infos {
		out[i.Key] = i.Unit
	}
	return out
}()

func unitOf(key Key) string { return units[key] }
