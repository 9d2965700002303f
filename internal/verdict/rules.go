package verdict

import (
	"slices"

	"soku/internal/measure"
)

var (
	tcp     = []measure.Test{measure.TestTCP}
	udp     = []measure.Test{measure.TestUDP}
	connect = []measure.Test{measure.TestConnect}
	tcpUDP  = []measure.Test{measure.TestTCP, measure.TestUDP}
)

// Rules are tried in this order; the first that holds is the verdict. One that excludes what an
// earlier rule names asks for the figures that say so: where they are absent, it does not hold.
// To add one, add it here, with figures in rules_test.go and a case in test/verdicts; the table in
// docs/method.md is written by go test ./internal/verdict -update.
var Rules = slices.Concat(packetRules, copyRules, copyNetworkRules(packetRules), copyLastRules)

// packetRules are those of tests that move bytes from memory to memory, and of connect.
var packetRules = []Rule{
	// Traffic that stopped or never began.
	{
		Name: "mtu_timeouts", Tests: tcp, LimitedBy: measure.BottleneckMTU, Confidence: measure.High,
		When:   All(AtLeast(Timeouts, 2), Any(Below(Acknowledged, 50e3), Below(SegmentRatio, 0.93))),
		Source: "Full segments never arrive, small ones do: the connection opens, and then only time-outs, or smaller segments by packetization-layer discovery (RFC 4821).",
	},
	{
		Name: "fixed_amount", Tests: tcp, LimitedBy: measure.BottleneckNone, Confidence: measure.High,
		When:   All(AtLeast(FixedAmount, 1), Any(Below(DurationNs, 1e9), Below(DurationRTTs, 10)), AtLeast(SlowStart, 1), Below(Retransmits, 1)),
		Source: "It ended in slow start, before anything limited it (T-RAT: the transport itself).",
	},
	{
		Name: "asked_tcp", Tests: tcp, LimitedBy: measure.BottleneckApplication, Confidence: measure.High,
		When:   AtLeast(AskedRatio, 0.975),
		Source: "The rate that was asked for arrives.",
	},
	// Virtual machines.
	{
		Name: "allowance", Tests: []measure.Test{measure.TestTCP, measure.TestUDP, measure.TestConnect}, LimitedBy: measure.BottleneckInstanceAllowance, Confidence: measure.High,
		When:   AtLeast(AllowanceRatio, 0.001),
		Source: "The driver counts what the cloud held back (ENA: bw_in, bw_out, pps, conntrack, linklocal allowance exceeded).",
	},
	// Processors. A quota that is used up is certain; a thread that waits for a processor may be
	// one that other processes make late while the path is the limit.
	{
		Name: "receiver_quota", Tests: tcp, LimitedBy: measure.BottleneckReceiverCPU, Confidence: measure.High,
		When:   AtLeast(ReceiverThrottled, 0.5),
		Source: "The receiver's control group uses up its quota of processor time (cpu.stat: nr_throttled).",
	},
	{
		Name: "sender_quota", Tests: tcpUDP, LimitedBy: measure.BottleneckSenderCPU, Confidence: measure.High,
		When:   AtLeast(SenderThrottled, 0.5),
		Source: "The sender's control group uses up its quota of processor time.",
	},
	{
		Name: "server_shared", Tests: tcp, LimitedBy: measure.BottleneckServerOverload, Confidence: measure.High,
		When:   All(AtLeast(ReceiverShared, 1), receiverBusy),
		Source: "The server's threads have no processor left, and it measures with others at the same time.",
	},
	{
		Name: "receiver_thread_full", Tests: tcp, LimitedBy: measure.BottleneckReceiverCPU, Confidence: measure.High,
		When:   All(receiverBusy, AtLeast(ReceiveBufferUsed, 0.3)),
		Source: "The receiving thread runs or waits for a processor, and its socket fills.",
	},
	{
		Name: "receiver_thread", Tests: tcp, LimitedBy: measure.BottleneckReceiverCPU, Confidence: measure.Medium,
		When:   All(receiverBusy, Any(Not(senderBusy), AtLeast(UnsentTimes, 0.1)), OrLoopback(receiverLimits)),
		Source: "The receiving thread runs or waits for a processor; the sender has time, or bytes wait to be sent. Nothing in the path explains the goodput, or the thread runs for half of the time and more.", NextMeasurement: measure.ProbeSecondStream,
	},
	{
		Name: "sender_thread_starved", Tests: tcp, LimitedBy: measure.BottleneckSenderCPU, Confidence: measure.High,
		When:   All(senderBusy, Below(UnsentTimes, 0.1), Any(AtLeast(SenderRun, 0.5), IfKnown(Not(byChance)))),
		Source: "The sending thread runs or waits for a processor, and nothing waits in its socket.",
	},
	{
		Name: "sender_thread", Tests: tcp, LimitedBy: measure.BottleneckSenderCPU, Confidence: measure.Medium,
		When:   All(senderBusy, OrLoopback(senderLimits)),
		Source: "The sending thread runs or waits for a processor, and nothing in the path explains the goodput, or the thread runs for half of the time and more.", NextMeasurement: measure.ProbeSecondStream,
	},
	// Windows and buffers.
	{
		Name: "window", Tests: tcp, Copies: true, LimitedBy: measure.BottleneckReceiveWindow, Confidence: measure.High,
		When:   All(AtLeast(WindowUsed, 0.85), AtLeast(RwndLimited, 0.08), Below(ReceiveBufferUsed, 0.3)),
		Source: "The flight fills the window, although the receiver reads what arrives (TCP chronographs, Linux 4.10). In flight / window was 0.99 or more where the window limited, 0.48 or less elsewhere.",
	},
	{
		Name: "window_or_receiver", Tests: tcp, Copies: true, LimitedBy: measure.BottleneckReceiveWindow, Alternatives: []measure.Bottleneck{measure.BottleneckReceiverCPU}, Confidence: measure.Medium,
		When:   All(AtLeast(WindowUsed, 0.85), AtLeast(RwndLimited, 0.08), IfKnown(Below(ReceiveBufferUsed, 0.3))),
		Source: "As above, but how full the receiver's socket was is not known: it may read late.", NextMeasurement: measure.ProbeSecondStream,
	},
	{
		Name: "receiver_stalled", Tests: tcp, LimitedBy: measure.BottleneckReceiverCPU, Confidence: measure.Medium,
		When:   All(AtLeast(RwndLimited, 0.5), Below(WindowUsed, 0.5), AtLeast(UnsentTimes, 1)),
		Source: "The window is closed and little is in flight: the receiving program does not read.", NextMeasurement: measure.ProbeSecondStream,
	},
	{
		Name: "receiver_late", Tests: tcp, LimitedBy: measure.BottleneckReceiverCPU, Confidence: measure.Medium,
		When:   AtLeast(ReceiveBufferUsed, 0.5),
		Source: "The receiving program leaves its socket full.", NextMeasurement: measure.ProbeSecondStream,
	},
	{
		Name: "send_buffer", Tests: tcp, Copies: true, LimitedBy: measure.BottleneckSendBuffer, Confidence: measure.High,
		When:   All(Any(AtLeast(SendBufferUsed, 0.95), AtLeast(SndbufLimited, 0.3), All(AtLeast(SendBufferUsed, 0.6), AtLeast(SndbufLimited, 0.01))), Below(UnsentTimes, 0.3), Below(CwndUsed, 0.9), IfKnown(Not(All(AtLeast(BBR, 1), byChance))), IfKnown(Not(queued))),
		Source: "The socket is full of bytes in flight, none wait to be sent, and the congestion window would allow more. A flight that fills a queue of the path is limited there. Under bbr random losses leave the same: what arrived stays in the socket until what was lost before it arrives.",
	},
	// Others on the same interface.
	{
		Name: "other_on_interface", Tests: tcpUDP, Copies: true, LimitedBy: measure.BottleneckCompetingTraffic, Confidence: measure.High,
		When:   All(AtLeast(OtherTraffic, 0.15), IfKnown(Below(AskedRatio, 0.975))),
		Source: "The interface moves more than the test does.",
	},
	// A level that falls.
	{
		Name: "step", Tests: tcp, Copies: true, LimitedBy: measure.BottleneckBurstAllowance, Confidence: measure.High,
		When:   All(stepDown, Not(byChance), AtLeast(StepFit, 0.85)),
		Source: "Two levels, and the step down comes late: a credit was used up (token bucket).",
	},
	{
		Name: "step_noisy", Tests: tcp, LimitedBy: measure.BottleneckBurstAllowance, Confidence: measure.Medium,
		When:   All(stepDown, Not(byChance)),
		Source: "As above, with more noise.", NextMeasurement: measure.ProbeLonger,
	},
	// Several flows, alike or unlike.
	{
		Name: "flows_alike_queued", Tests: tcp, LimitedBy: measure.BottleneckFlowCap, Confidence: measure.High,
		When:   All(AtLeast(Streams, 2), AtLeast(Jain, 0.995), AtLeast(RTTTimes, 1.25), Below(BesideRatio, 0.35), IfKnown(level)),
		Source: "The streams are equal and wait in queues of their own: the control connection does not wait.",
	},
	{
		Name: "flows_alike_policed", Tests: tcp, LimitedBy: measure.BottleneckFlowCap, Confidence: measure.Medium,
		When: All(AtLeast(Streams, 2), AtLeast(Jain, 0.995), Not(queued), AtLeast(LossRatio, 0.003), AtLeast(TogetherTimes, 0.5),
			Any(AtLeast(LossesPerRecovery, 3), AtLeast(Jain, 0.9995))),
		Source: "The streams are equal and lose packets independently of each other.", NextMeasurement: measure.ProbeSecondStream,
	},
	{
		Name: "flows_unlike", Tests: tcp, LimitedBy: measure.BottleneckFlowHashing, Confidence: measure.High,
		When: All(AtLeast(Streams, 2), queued, Not(byChance), Below(Jain, 0.97),
			Any(AtLeast(RTTSpread, 0.2), All(AtLeast(RTTSpread, 0.1), AtLeast(DurationNs, 3e9)), All(AtLeast(RTTSpread, 0.07), AtLeast(DurationNs, 3e9), Below(Streams, 16)), All(Below(RTTAlike, 0.45), Below(Jain, 0.8)))),
		Source: "The streams are unequal and wait in different queues.",
	},
	{
		Name: "one_flow_queued", Tests: tcp, LimitedBy: measure.BottleneckFlowCap, Alternatives: []measure.Bottleneck{measure.BottleneckPathShaper}, Confidence: measure.Medium,
		When:   All(Below(Streams, 2), AtLeast(RTTTimes, 1.3), AtLeast(QueueNs, 3e6), Below(BesideRatio, 0.15), IfKnown(level)),
		Source: "The stream waits in a queue and the control connection does not: a limit of the flow, or a queue for each flow (fair queueing).", NextMeasurement: measure.ProbeSecondStream,
	},
	// Losses without a queue.
	{
		Name: "loss_by_chance", Tests: tcp, Copies: true, LimitedBy: measure.BottleneckPathLoss, Confidence: measure.High,
		When:   All(lossWithoutQueue, Below(LossesPerRecovery, 3)),
		Source: "Single losses and no queue. Random losses were at most 1.85 a recovery, those at a policer 5 to 635.",
	},
	{
		Name: "loss_by_chance_burst", Tests: tcp, Copies: true, LimitedBy: measure.BottleneckPathLoss, Confidence: measure.High,
		When:   All(lossWithoutQueue, byChance, Below(LossVariance, 3.5)),
		Source: "As many losses a recovery as chance gives in a window that large, and their number varies as that of independent ones does: 0.3 to 3 in most trials.",
	},
	{
		Name: "loss_by_chance_few", Tests: tcp, Copies: true, LimitedBy: measure.BottleneckPathLoss, Alternatives: []measure.Bottleneck{measure.BottleneckPathPolicer}, Confidence: measure.Medium,
		When:   All(lossWithoutQueue, byChance),
		Source: "As above, of losses that are too few to know how they vary, or that vary a little more.", NextMeasurement: measure.ProbeHalfRate,
	},
	{
		Name: "loss_under_bbr", Tests: tcp, LimitedBy: measure.BottleneckPathLoss, Alternatives: []measure.Bottleneck{measure.BottleneckPathPolicer}, Confidence: measure.Medium,
		When:   All(lossWithoutQueue, AtLeast(BBR, 1), AtLeast(LossRatio, 0.15), AtLeast(GoodputSpread, 0.45)),
		Source: "bbr sends on at high loss, so that several random losses fall into one recovery, and gives up at times. At a policer it is level.", NextMeasurement: measure.ProbeHalfRate,
	},
	{
		Name: "small_packets_lost", Tests: tcp, Copies: true, LimitedBy: measure.BottleneckPacketRate, Alternatives: []measure.Bottleneck{measure.BottleneckPathPolicer}, Confidence: measure.Medium,
		When:   All(lossWithoutQueue, AtLeast(ControlResent, 3)),
		Source: "Small packets of the control connection are lost, too: a limit of packets.", NextMeasurement: measure.ProbePacketSizes,
	},
	{
		Name: "policer", Tests: tcp, Copies: true, LimitedBy: measure.BottleneckPathPolicer, Alternatives: []measure.Bottleneck{measure.BottleneckPacketRate}, Confidence: measure.Medium,
		When:   All(lossWithoutQueue, AtLeast(LossesPerRecovery, 8)),
		Source: "Many packets are lost at a time and the round trip stays flat (Flach et al. 2016). A limit of packets and a shaper with a very short queue leave the same.", NextMeasurement: measure.ProbePacketSizes,
	},
	{
		Name: "policer_few", Tests: tcp, Copies: true, LimitedBy: measure.BottleneckPathPolicer, Alternatives: []measure.Bottleneck{measure.BottleneckPathLoss}, Confidence: measure.Medium,
		When:   lossWithoutQueue,
		Source: "Several packets are lost at a time and the round trip stays flat.", NextMeasurement: measure.ProbeHalfRate,
	},
	// Interrupts.
	{
		Name: "softirq_receiver", Tests: tcpUDP, LimitedBy: measure.BottleneckReceiverCPU, Confidence: measure.Medium,
		When:   AtLeast(ReceiverSoftirq, 0.85),
		Source: "A processor does nothing but handle packets: one receive queue for all of them.", NextMeasurement: measure.ProbeSecondStream,
	},
	{
		Name: "softirq_sender", Tests: tcpUDP, LimitedBy: measure.BottleneckSenderCPU, Confidence: measure.Medium,
		When:   AtLeast(SenderSoftirq, 0.85),
		Source: "A processor does nothing but handle packets.", NextMeasurement: measure.ProbeSecondStream,
	},
	// A queue.
	{
		Name: "queue_unsteady", Tests: tcp, LimitedBy: measure.BottleneckCompetingTraffic, Alternatives: []measure.Bottleneck{measure.BottleneckPathShaper}, Confidence: measure.Medium,
		When: All(queued, Any(All(AtLeast(GoodputSpread, 0.3), IfKnown(Not(level))),
			All(Below(Streams, 2), Below(RTTGrowth, 0.5), AtLeast(GoodputSpread, 0.15), AtLeast(RTTTimes, 1.3)))),
		Source: "Packets wait in a queue, and what it gives to the test varies (congestion signatures, Sundaresan et al. 2017: a queue that was there before grows less).", NextMeasurement: measure.ProbeAnotherTime,
	},
	{
		Name: "queue_dips", Tests: tcp, LimitedBy: measure.BottleneckPathShaper, Alternatives: []measure.Bottleneck{measure.BottleneckCompetingTraffic}, Confidence: measure.Medium,
		When:   All(queued, AtLeast(GoodputSpread, 0.3), level),
		Source: "Packets wait in a queue, and the goodput falls below a rate at times and never exceeds it: a cap, and a host that was late, or others at these times.", NextMeasurement: measure.ProbeAnotherTime,
	},
	{
		Name: "queue", Tests: tcp, Copies: true, LimitedBy: measure.BottleneckPathShaper, Confidence: measure.High,
		When:   All(queued, Any(AtLeast(BesideRatio, 0.15), Below(Jain, 0.995)), IfKnown(level)),
		Source: "Packets wait in a queue, also those of the control connection, and the goodput is level. A steady competitor that neither host sees leaves the same: only other times tell.",
	},
	{
		Name: "queue_or_flow_cap", Tests: tcp, Copies: true, LimitedBy: measure.BottleneckPathShaper, Alternatives: []measure.Bottleneck{measure.BottleneckFlowCap}, Confidence: measure.Medium,
		When:   All(queued, IfKnown(level)),
		Source: "Packets wait in a queue, and it is not known whether the control connection waits in it.", NextMeasurement: measure.ProbeSecondStream,
	},
	{
		Name: "queue_unreached", Tests: tcp, Copies: true, LimitedBy: measure.BottleneckPathShaper, Alternatives: []measure.Bottleneck{measure.BottleneckCompetingTraffic, measure.BottleneckReceiverCPU}, Confidence: measure.Low,
		When:   queued,
		Source: "Packets wait in a queue, but the goodput has no rate that it reaches and does not exceed.", NextMeasurement: measure.ProbeAnotherTime,
	},
	{
		Name: "few_losses", Tests: tcp, LimitedBy: measure.BottleneckPathLoss, Confidence: measure.Low,
		When:   All(AtLeast(LossRatio, 1e-6), Below(LossesPerRecovery, 3)),
		Source: "A few single losses.", NextMeasurement: measure.ProbeLonger,
	},
	// UDP.
	{
		Name: "udp_socket_shared", Tests: udp, LimitedBy: measure.BottleneckServerOverload, Confidence: measure.High,
		When:   All(AtLeast(SocketDrops, 0.3), AtLeast(ReceiverShared, 1)),
		Source: "The receiver's socket drops, and it measures with others at the same time.",
	},
	{
		Name: "udp_socket", Tests: udp, LimitedBy: measure.BottleneckReceiverCPU, Confidence: measure.High,
		When:   AtLeast(SocketDrops, 0.3),
		Source: "The receiving program is too slow: its socket drops.",
	},
	{
		Name: "udp_mtu", Tests: udp, LimitedBy: measure.BottleneckMTU, Confidence: measure.Medium,
		When:   Any(AtLeast(LossRatio, 0.99), All(AtLeast(DatagramBytes, 1473), AtLeast(LossRatio, 0.05))),
		Source: "Nothing arrives while the control connection works, or fragments are lost.", NextMeasurement: measure.ProbePacketSizes,
	},
	{
		Name: "udp_asked", Tests: udp, LimitedBy: measure.BottleneckApplication, Confidence: measure.High,
		When:   All(AtLeast(AskedRatio, 0.98), Below(LossRatio, 0.005)),
		Source: "The rate that was asked for arrives.",
	},
	{
		Name: "udp_sender_thread", Tests: udp, LimitedBy: measure.BottleneckSenderCPU, Confidence: measure.High,
		When:   All(Below(LossRatio, 0.005), senderBusy),
		Source: "Less is sent than was asked for, nothing is lost, and the sending thread runs or waits for a processor.",
	},
	{
		Name: "udp_own_queue", Tests: udp, LimitedBy: measure.BottleneckPathShaper, Confidence: measure.High,
		When:   All(Below(LossRatio, 0.005), Not(senderBusy), besideQueued),
		Source: "Less is sent than was asked for, nothing is lost, and the sending thread has time: it waits for the queue of its own interface, in which the control connection waits, too.",
	},
	{
		Name: "udp_own_limit", Tests: udp, LimitedBy: measure.BottleneckPathShaper, Alternatives: []measure.Bottleneck{measure.BottleneckSenderCPU}, Confidence: measure.Medium,
		When:   All(Below(LossRatio, 0.005), Not(senderBusy)),
		Source: "As above, but the control connection does not wait: a queue for each flow, or the speed of the interface. A virtual machine that is held up leaves the same.", NextMeasurement: measure.ProbeTCPStream,
	},
	{
		Name: "udp_sender", Tests: udp, LimitedBy: measure.BottleneckSenderCPU, Alternatives: []measure.Bottleneck{measure.BottleneckPathShaper}, Confidence: measure.Low,
		When:   Below(LossRatio, 0.005),
		Source: "Less is sent than was asked for, nothing is lost, and nothing is known of the sending thread.", NextMeasurement: measure.ProbeTCPStream,
	},
	{
		Name: "udp_step", Tests: udp, LimitedBy: measure.BottleneckBurstAllowance, Confidence: measure.Medium,
		When:   stepDown,
		Source: "Two levels of what arrives, and the step down comes late.", NextMeasurement: measure.ProbeLonger,
	},
	{
		Name: "udp_queue_unsteady", Tests: udp, LimitedBy: measure.BottleneckCompetingTraffic, Alternatives: []measure.Bottleneck{measure.BottleneckPathShaper}, Confidence: measure.Low,
		When:   All(besideQueued, AtLeast(GoodputSpread, 0.35)),
		Source: "The control connection waits in a queue, and the goodput varies.", NextMeasurement: measure.ProbeAnotherTime,
	},
	{
		Name: "udp_queue", Tests: udp, LimitedBy: measure.BottleneckPathShaper, Confidence: measure.High,
		When:   besideQueued,
		Source: "The control connection waits in a queue.",
	},
	{
		Name: "udp_small_lost", Tests: udp, LimitedBy: measure.BottleneckPacketRate, Alternatives: []measure.Bottleneck{measure.BottleneckPathPolicer}, Confidence: measure.Medium,
		When:   All(AtLeast(ControlResent, 3), AtLeast(LossRatio, 0.02), Below(ControlQueue, 5e6), Any(AtLeast(ControlRTTs, 8), All(AtLeast(ControlRTTs, 3), AtLeast(LossRatio, 0.2)))),
		Source: "Small packets of the control connection are lost, too, and the others do not wait. In a queue that a fifth more than it passes fills quickly, each of them would.", NextMeasurement: measure.ProbePacketSizes,
	},
	{
		Name: "udp_small_silent", Tests: udp, LimitedBy: measure.BottleneckPathShaper, Alternatives: []measure.Bottleneck{measure.BottleneckPacketRate}, Confidence: measure.Medium,
		When:   All(AtLeast(ControlResent, 3), AtLeast(LossRatio, 0.02)),
		Source: "Small packets of the control connection are lost so often that few or none of their round trips are known: a full queue is the more common reason.", NextMeasurement: measure.ProbePacketSizes,
	},
	{
		Name: "udp_policer", Tests: udp, LimitedBy: measure.BottleneckPathPolicer, Confidence: measure.High,
		When:   All(Below(LossVariance, 0.2), besideFlat),
		Source: "A policer drops a steady share of a steady stream, chance does not: the variance was 0.34 to 1.4 of that of independent losses by chance, 0.001 at most at a policer.",
	},
	{
		Name: "udp_policer_or_shaper", Tests: udp, LimitedBy: measure.BottleneckPathPolicer, Alternatives: []measure.Bottleneck{measure.BottleneckPathShaper}, Confidence: measure.Medium,
		When:   Below(LossVariance, 0.2),
		Source: "As above, but it is not known whether the control connection waits: a shaper whose queue is full drops a steady share, too.", NextMeasurement: measure.ProbeTCPStream,
	},
	{
		Name: "udp_policer_unsteady", Tests: udp, LimitedBy: measure.BottleneckPathPolicer, Alternatives: []measure.Bottleneck{measure.BottleneckPacketRate}, Confidence: measure.Medium,
		When:   All(AtLeast(LossOfMore, 0.2), besideFlat, IfKnown(Below(ControlResent, 1))),
		Source: "Of datagrams that are sent in addition more is lost than of the others, and chance takes the same share of all: it was 0.25 to 0.99 at a limit and 0.01 at most by chance. The stream was not steady, so its variance says nothing.", NextMeasurement: measure.ProbePacketSizes,
	},
	{
		Name: "udp_loss", Tests: udp, LimitedBy: measure.BottleneckPathLoss, Confidence: measure.High,
		When:   All(Below(LossVariance, 4), besideFlat, IfKnown(Below(LossOfMore, 0.2))),
		Source: "Losses vary as independent ones do.",
	},
	{
		Name: "udp_loss_bursts", Tests: udp, LimitedBy: measure.BottleneckPathLoss, Alternatives: []measure.Bottleneck{measure.BottleneckCompetingTraffic, measure.BottleneckPathShaper}, Confidence: measure.Low,
		When:   AtLeast(LossRatio, 0.005),
		Source: "Losses come in bursts, or it is not known whether the control connection waits.", NextMeasurement: measure.ProbeTCPStream,
	},
	// Connections.
	{
		Name: "connect_queue_full", Tests: connect, LimitedBy: measure.BottleneckServerOverload, Confidence: measure.High,
		When:   Any(AtLeast(ListenDrops, 0.01), AtLeast(ListenStall, 0.05)),
		Source: "The server drops connections at its queue. Few drops hold many connectors up: each takes a second.",
	},
	{
		Name: "connect_conntrack", Tests: connect, LimitedBy: measure.BottleneckServerOverload, Confidence: measure.High,
		When:   AtLeast(ConntrackDrops, 0.01),
		Source: "The server drops packets of connections that it cannot track: its table is full.",
	},
	{
		Name: "connect_syn_lost", Tests: connect, LimitedBy: measure.BottleneckConnectionRate, Confidence: measure.High,
		When:   All(AtLeast(SYNsResent, 0.02), Below(ListenDrops, 0.01), Not(receiverBusy)),
		Source: "SYNs are lost, and the server dropped none.",
	},
	{
		Name: "connect_syn_lost_busy", Tests: connect, LimitedBy: measure.BottleneckConnectionRate, Alternatives: []measure.Bottleneck{measure.BottleneckServerOverload}, Confidence: measure.Medium,
		When:   AtLeast(SYNsResent, 0.02),
		Source: "SYNs are lost; the server's processors are busy, or nothing is known of the server.",
	},
	{
		Name: "connect_asked", Tests: connect, LimitedBy: measure.BottleneckApplication, Confidence: measure.High,
		When:   All(AtLeast(AskedRatio, 0.98), Below(FailedConnections, 1)),
		Source: "The rate that was asked for is reached.",
	},
	{
		Name: "connect_server_thread", Tests: connect, LimitedBy: measure.BottleneckServerOverload, Confidence: measure.High,
		When:   All(receiverBusy, Not(AtLeast(ThreadLead, 0.1))),
		Source: "The server's thread runs or waits for a processor.",
	},
	{
		Name: "connect_client_thread", Tests: connect, LimitedBy: measure.BottleneckSenderCPU, Confidence: measure.High,
		When:   senderBusy,
		Source: "The client's thread runs or waits for a processor.",
	},
}
