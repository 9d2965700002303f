package verdict

import (
	"math"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
)

// example are figures that only one rule is meant for.
type example map[Key]float64

func (e example) figures() *Figures {
	f := &Figures{readings: map[Key]reading{}}
	for key, v := range e {
		f.set(key, v)
	}
	return f
}

// with is e with other figures.
func (e example) with(other example) example {
	out := example{}
	for key, v := range e {
		out[key] = v
	}
	for key, v := range other {
		out[key] = v
	}
	return out
}

// without is e without some figures.
func (e example) without(keys ...Key) example {
	out := e.with(nil)
	for _, key := range keys {
		delete(out, key)
	}
	return out
}

// idle is a TCP trial of one stream in which nothing limits.
var idle = example{
	Streams: 1, FixedAmount: 0, DurationNs: 4e9, DurationRTTs: 400, SlowStart: 0, Retransmits: 0, BBR: 0, Timeouts: 0, Acknowledged: 5e7, SegmentRatio: 1,
	SenderThread: 0.1, ReceiverThread: 0.1, SenderThrottled: 0, ReceiverThrottled: 0, SenderSoftirq: 0.1, ReceiverSoftirq: 0.1, ReceiverShared: 0,
	WindowUsed: 0.2, RwndLimited: 0, ReceiveBufferUsed: 0, SendBufferUsed: 0.3, SndbufLimited: 0, UnsentTimes: 1, CwndUsed: 0.9, OtherTraffic: 0.01,
	RTTTimes: 1.02, QueueNs: 2e5, RTTGrowth: 0.1, Jain: 1, LossRatio: 0, Recoveries: 0, LossesPerRecovery: 0, GoodputSpread: 0.05, GoodputPeak: 0.02, SenderRun: 0.05, ReceiverRun: 0.05,
	ControlRTTTimes: 1, ControlQueue: 1e5, ControlRTTs: 15, ControlResent: 0, StepTimes: 1, StepFit: 0.1, StepAt: 1e9, StepNoise: 0.05,
}

// behind is one that waits in a queue of the path.
var behind = idle.with(example{RTTTimes: 2.4, QueueNs: 2e7, RTTGrowth: 0.6, BesideRatio: 0.9, LossRatio: 0.001, Recoveries: 4, LossesPerRecovery: 20})

// lossy is one that loses packets without a queue.
var lossy = idle.with(example{LossRatio: 0.01, Recoveries: 30, LossesPerRecovery: 1.2})

// burstLossy are losses of 1 % under bbr at a round trip of 40 ms, in a window of 1000 segments.
var burstLossy = example{LossRatio: 0.0097, Recoveries: 48, LossesPerRecovery: 22, LossBurst: 1.85, LossVariance: 3, BBR: 1}

var several = example{Streams: 4, Jain: 0.985, TogetherTimes: 0.3, RTTSpread: 0.02, RTTAlike: 0.8}

var datagrams = example{
	DatagramBytes: 1400, LossRatio: 0.2, SocketDrops: 0, AskedRatio: 0.5, SenderThread: 0.3, ReceiverThread: 0.3, SenderThrottled: 0, ReceiverThrottled: 0,
	ReceiverShared: 0, ControlRTTTimes: 1.05, ControlQueue: 1e5, ControlRTTs: 15, ControlResent: 0, LossVariance: 1, GoodputSpread: 0.05, OtherTraffic: 0,
	StepTimes: 1, StepFit: 0.1, StepAt: 1e9, StepNoise: 0.05,
}

var opening = example{SenderThread: 0.3, ReceiverThread: 0.3, SenderThrottled: 0, ReceiverThrottled: 0, ThreadLead: 0, FailedConnections: 0, ListenDrops: 0, SYNsResent: 0}

var stepped = example{StepTimes: 4, StepFit: 0.97, StepAt: 1.5e9, StepNoise: 0.05}

var copying = example{CopyRead: 0.1, CopyWrite: 0.1, CopyFile: 0.1, CopySourceHash: 0.1, CopySinkHash: 0.1, CopySendWait: 0.1, CopyReceiveWait: 0.1}

// examples has figures for each rule.
var examples = map[string]example{
	"mtu_timeouts":          idle.with(example{Timeouts: 4, Acknowledged: 3000}),
	"fixed_amount":          idle.with(example{FixedAmount: 1, DurationNs: 3e8, DurationRTTs: 8, SlowStart: 1}),
	"asked_tcp":             idle.with(example{AskedRatio: 0.999}),
	"allowance":             idle.with(example{AllowanceRatio: 0.02}),
	"server_shared":         idle.with(example{ReceiverShared: 1, ReceiverThread: 0.9}),
	"receiver_quota":        idle.with(example{ReceiverThrottled: 0.9}),
	"sender_quota":          idle.with(example{SenderThrottled: 0.9}),
	"receiver_thread_full":  idle.with(example{ReceiverThread: 0.9, ReceiveBufferUsed: 0.8}),
	"receiver_thread":       idle.with(example{ReceiverThread: 0.9}),
	"sender_thread_starved": idle.with(example{SenderThread: 0.9, UnsentTimes: 0}),
	"sender_thread":         idle.with(example{SenderThread: 0.9}),
	"window":                idle.with(example{WindowUsed: 0.99, RwndLimited: 0.7}),
	"window_or_receiver":    idle.with(example{WindowUsed: 0.99, RwndLimited: 0.7}).without(ReceiveBufferUsed),
	"receiver_stalled":      idle.with(example{RwndLimited: 0.9, WindowUsed: 0, UnsentTimes: 100}),
	"receiver_late":         idle.with(example{ReceiveBufferUsed: 0.9}),
	"send_buffer":           idle.with(example{SendBufferUsed: 0.9, SndbufLimited: 0.6, UnsentTimes: 0.1, CwndUsed: 0.5}),
	"other_on_interface":    behind.with(example{OtherTraffic: 0.4}),
	"step":                  behind.with(stepped),
	"step_noisy":            behind.with(stepped).with(example{StepFit: 0.7}),
	"flows_alike_queued":    behind.with(several).with(example{Jain: 0.9999, BesideRatio: 0.02}),
	"flows_alike_policed":   lossy.with(several).with(example{Jain: 0.9999, LossesPerRecovery: 20, TogetherTimes: 1}),
	"flows_unlike":          behind.with(several).with(example{Jain: 0.8, RTTSpread: 0.4}),
	"one_flow_queued":       behind.with(example{BesideRatio: 0.02}),
	"loss_by_chance":        lossy,
	"loss_by_chance_burst":  lossy.with(burstLossy),
	"loss_by_chance_few":    lossy.with(burstLossy).without(LossVariance),
	"small_packets_lost":    lossy.with(example{LossesPerRecovery: 20, ControlResent: 8}),
	"loss_under_bbr":        lossy.with(example{LossRatio: 0.25, BBR: 1, LossesPerRecovery: 7, GoodputSpread: 0.6}),
	"policer":               lossy.with(example{LossesPerRecovery: 40}),
	"policer_few":           lossy.with(example{LossesPerRecovery: 5}),
	"queue_unsteady":        behind.with(example{GoodputSpread: 0.5, GoodputPeak: 0.4}),
	"queue_dips":            behind.with(example{GoodputSpread: 0.5}),
	"queue_unreached":       behind.with(example{GoodputSpread: 0.2, GoodputPeak: 0.15}),
	"queue":                 behind,
	"queue_or_flow_cap":     behind.without(BesideRatio),
	"softirq_receiver":      idle.with(example{ReceiverSoftirq: 0.97}),
	"softirq_sender":        idle.with(example{SenderSoftirq: 0.97}),
	"few_losses":            idle.with(example{LossRatio: 0.0001, Recoveries: 3, LossesPerRecovery: 1}),

	"udp_socket_shared":     datagrams.with(example{SocketDrops: 0.9, ReceiverShared: 1}),
	"udp_socket":            datagrams.with(example{SocketDrops: 0.9}),
	"udp_mtu":               datagrams.with(example{LossRatio: 1}),
	"udp_asked":             datagrams.with(example{LossRatio: 0, AskedRatio: 1}),
	"udp_sender_thread":     datagrams.with(example{LossRatio: 0, SenderThread: 0.9}),
	"udp_own_queue":         datagrams.with(example{LossRatio: 0, SenderThread: 0.11, ControlRTTTimes: 3, ControlQueue: 2e7}),
	"udp_own_limit":         datagrams.with(example{LossRatio: 0, SenderThread: 0.11}),
	"udp_sender":            datagrams.with(example{LossRatio: 0}).without(SenderThread, SenderThrottled),
	"udp_step":              datagrams.with(stepped),
	"udp_small_lost":        datagrams.with(example{ControlResent: 8}),
	"udp_small_silent":      datagrams.without(ControlQueue, ControlRTTTimes).with(example{ControlResent: 8}),
	"udp_queue_unsteady":    datagrams.with(example{ControlRTTTimes: 3, ControlQueue: 2e7, GoodputSpread: 0.6}),
	"udp_queue":             datagrams.with(example{ControlRTTTimes: 3, ControlQueue: 2e7}),
	"udp_policer":           datagrams.with(example{LossVariance: 0.001}),
	"udp_policer_or_shaper": datagrams.with(example{LossVariance: 0.001}).without(ControlRTTTimes, ControlQueue),
	"udp_policer_unsteady":  datagrams.with(example{LossOfMore: 0.6}),
	"udp_loss":              datagrams,
	"udp_loss_bursts":       datagrams.with(example{LossVariance: 40}),

	"connect_queue_full":    opening.with(example{ListenDrops: 0.2, SYNsResent: 0.2}),
	"connect_conntrack":     opening.with(example{ConntrackDrops: 0.4, SYNsResent: 0.4}),
	"connect_syn_lost":      opening.with(example{SYNsResent: 0.2}),
	"connect_syn_lost_busy": opening.with(example{SYNsResent: 0.2, ReceiverThread: 0.9}),
	"connect_asked":         opening.with(example{AskedRatio: 1}),
	"connect_server_thread": opening.with(example{ReceiverThread: 0.9, SenderThread: 0.8, ThreadLead: -0.1}),
	"connect_client_thread": opening.with(example{SenderThread: 0.9, ThreadLead: 0.6}),

	"copy_cut":             copying.with(example{CopyCut: 0.5, CopySendWait: 0.9, CopyReceiveWait: 0.9}),
	"copy_asked":           copying.with(example{AskedRatio: 0.99}),
	"copy_receiver_quota":  copying.with(example{ReceiverThrottled: 0.9}),
	"copy_sender_quota":    copying.with(example{SenderThrottled: 0.9, ReceiverThrottled: 0}),
	"copy_files":           copying.with(example{CopyFile: 0.8}),
	"copy_receiver_thread": copying.with(example{CopyWrite: 0.9, ReceiverThread: 0.9}),
	"copy_sender_thread":   copying.with(example{CopyRead: 0.9, SenderThread: 0.9}),
	"copy_receiver_busy":   copying.with(example{ReceiverThread: 0.9, SenderThread: 0.8, ThreadLead: -0.1}),
	"copy_sender_busy":     copying.with(example{SenderThread: 0.9, ReceiverThread: 0.8, ThreadLead: 0.1}),
	"copy_write":           copying.with(example{CopyWrite: 0.9}),
	"copy_read":            copying.with(example{CopyRead: 0.9}),
	"copy_both_disks":      copying.with(example{CopyRead: 0.9, CopyWrite: 0.9}),
	"copy_write_longer":    copying.with(example{CopyRead: 0.9, CopyWrite: 0.9, CopyWriteTimes: 3}),
	"copy_read_longer":     copying.with(example{CopyRead: 0.9, CopyWrite: 0.9, CopyWriteTimes: 0.4}),
	"copy_sender":          copying.with(example{CopySourceHash: 0.9}),
	"copy_receiver":        copying.with(example{CopySinkHash: 0.9}),
	"copy_network":         copying.with(example{CopySendWait: 0.9, CopyReceiveWait: 0.9}),
	"copy_files_some":      copying.with(example{CopyFile: 0.35}),
}

// A copy that waits for the network has the figures of its connections in addition to its own.
func init() {
	for _, r := range copyNetworkRules(packetRules) {
		examples[r.Name] = copying.with(examples[strings.TrimPrefix(r.Name, "copy_")]).with(example{CopySendWait: 0.9, CopyReceiveWait: 0.9})
	}
}

func TestEachRuleIsTheFirstThatHoldsForItsFigures(t *testing.T) {
	for _, rule := range Rules {
		figures, there := examples[rule.Name]
		if !there {
			t.Errorf("%s has no example", rule.Name)
			continue
		}
		v := judge(figures.figures(), rule.Tests[0])
		if v.Rule != rule.Name || v.LimitedBy != rule.LimitedBy || v.Confidence != rule.Confidence || v.NextMeasurement != rule.NextMeasurement {
			t.Errorf("%s: the verdict is %+v", rule.Name, v)
		}
		if len(v.Evidence) == 0 {
			t.Errorf("%s gives no evidence", rule.Name)
		}
	}
	if len(examples) != len(Rules) {
		t.Errorf("%d examples of %d rules", len(examples), len(Rules))
	}
}

// A figure at its threshold is on the side of "or more". On the other side the rule does not
// hold, or rests on another figure.
func TestEveryThresholdDecides(t *testing.T) {
	for _, rule := range Rules {
		whole := examples[rule.Name]
		for _, e := range judge(whole.figures(), rule.Tests[0]).Evidence {
			key := Key(e.Figure)
			for _, at := range []struct {
				value float64
				same  bool
			}{{e.Threshold, e.Comparison == ">="}, {math.Nextafter(e.Threshold, -1), e.Comparison == "<"}} {
				held, evidence := rule.When.holds(whole.with(example{key: at.value}).figures())
				same := held == yes && slices.ContainsFunc(evidence, func(o measure.Evidence) bool {
					return o.Figure == e.Figure && o.Threshold == e.Threshold && o.Comparison == e.Comparison
				})
				if same != at.same {
					t.Errorf("%s: with %s at %v it rests on \"%s %s %v\" %v, want %v", rule.Name, key, at.value, key, e.Comparison, e.Threshold, same, at.same)
				}
			}
		}
	}
}

// bbr loses several packets of a window by chance. What that does to sockets, threads and streams is
// no evidence of another limit.
func TestLossesThatChanceGivesAreNoOtherLimit(t *testing.T) {
	loss := idle.with(burstLossy)
	for name, figures := range map[string]example{
		"alone":                         loss,
		"in a window that varies":       loss.with(example{LossBurst: 3.05, LossVariance: 1.5, GoodputSpread: 1.7, GoodputPeak: 1}),
		"what arrived fills the socket": loss.with(example{SendBufferUsed: 0.93, SndbufLimited: 0.52, UnsentTimes: 0, CwndUsed: 0.35}),
		"busy threads":                  loss.with(example{SenderThread: 0.7, ReceiverThread: 0.8}),
		"a sender that waits":           loss.with(example{SenderThread: 0.62, UnsentTimes: 0}),
		"unequal streams":               loss.with(example{Streams: 4, Jain: 0.86, RTTSpread: 0.12, RTTTimes: 1.16, QueueNs: 6e6}),
		"small packets are lost, too":   loss.with(example{ControlResent: 3}),
	} {
		if v := judge(figures.figures(), measure.TestTCP); v.LimitedBy != measure.BottleneckPathLoss || v.Confidence != measure.High {
			t.Errorf("%s: the verdict is %s (%s) by %s", name, v.LimitedBy, v.Confidence, v.Rule)
		}
	}
	// At a policer bbr loses more at a time, and by turns much and little.
	for _, at := range []example{{LossRatio: 0.12, LossesPerRecovery: 140, LossBurst: 6.8, LossVariance: 90}, {LossesPerRecovery: 20, LossVariance: 76}, {LossesPerRecovery: 20, LossBurst: 4}, {BBR: 0, LossesPerRecovery: 4.75, LossBurst: 3.1}} {
		if v := judge(loss.with(at).figures(), measure.TestTCP); v.LimitedBy != measure.BottleneckPathPolicer {
			t.Errorf("with %v the verdict is %s by %s", at, v.LimitedBy, v.Rule)
		}
	}
}

// On a busy host the datagrams come in bursts, and their losses at a policer vary as those of chance.
func TestAnUnsteadyStreamAtAPolicerLosesNotByChance(t *testing.T) {
	for more, want := range map[float64]measure.Bottleneck{0.4: measure.BottleneckPathPolicer, 0.01: measure.BottleneckPathLoss} {
		if v := judge(datagrams.with(example{LossRatio: 0.51, LossVariance: 0.93, LossOfMore: more}).figures(), measure.TestUDP); v.LimitedBy != want {
			t.Errorf("with %v of more datagrams lost the verdict is %s by %s", more, v.LimitedBy, v.Rule)
		}
	}
}

// Packets that wait only until a processor takes them are no queue of a shaper: the goodput has no rate that
// it reaches and does not exceed, or the thread that takes them runs most of the time.
func TestAQueueOfAHostIsNoShaper(t *testing.T) {
	veth := behind.with(example{RTTTimes: 450, QueueNs: 3.6e6, LossRatio: 0, SenderThread: 0.47, ReceiverThread: 0.78, ReceiverRun: 0.2, GoodputSpread: 0.36, GoodputPeak: 0.2})
	for name, c := range map[string]struct {
		figures    example
		want       measure.Bottleneck
		confidence measure.Confidence
	}{
		"its goodput rises at times":                     {veth, measure.BottleneckReceiverCPU, measure.Medium},
		"the receiver runs most of the time":             {veth.with(example{ReceiverRun: 0.7, GoodputSpread: 0.05, GoodputPeak: 0.02}), measure.BottleneckReceiverCPU, measure.Medium},
		"a processor does nothing but interrupts":        {veth.with(example{ReceiverThread: 0.5, ReceiverSoftirq: 0.9}), measure.BottleneckReceiverCPU, measure.Medium},
		"several streams, alike":                         {veth.with(several).with(example{Jain: 0.9996, BesideRatio: 0.001, ReceiverThread: 0.5}), measure.BottleneckCompetingTraffic, measure.Medium},
		"a shaper, and a receiver on a busy host":        {veth.with(example{ReceiverRun: 0.03, GoodputSpread: 0.1, GoodputPeak: 0.02}), measure.BottleneckPathShaper, measure.High},
		"a policer, and a receiver on a busy host":       {lossy.with(example{LossesPerRecovery: 40, ReceiverThread: 0.9, ReceiverRun: 0.03}), measure.BottleneckPathPolicer, measure.Medium},
		"a shaper of which the host reads late at times": {behind.with(example{GoodputSpread: 0.4}), measure.BottleneckPathShaper, measure.Medium},
	} {
		if v := judge(c.figures.figures(), measure.TestTCP); v.LimitedBy != c.want || v.Confidence != c.confidence {
			t.Errorf("%s: the verdict is %s (%s) by %s, want %s (%s)", name, v.LimitedBy, v.Confidence, v.Rule, c.want, c.confidence)
		}
	}
}

// Small packets that are lost are no limit of packets unless enough others show that they do not wait.
func TestFewRoundTripsDoNotExcludeAQueue(t *testing.T) {
	for _, c := range []struct {
		loss, trips float64
		want        measure.Bottleneck
	}{
		{0.1, 7, measure.BottleneckPathShaper}, // the queue fills slowly
		{0.1, 8, measure.BottleneckPacketRate},
		{0.7, 2, measure.BottleneckPathShaper},
		{0.7, 3, measure.BottleneckPacketRate},
	} {
		if v := judge(datagrams.with(example{LossRatio: c.loss, ControlResent: 7, ControlRTTs: c.trips}).figures(), measure.TestUDP); v.LimitedBy != c.want || v.NextMeasurement == "" {
			t.Errorf("of %v round trips at a loss of %v the verdict is %+v", c.trips, c.loss, v)
		}
	}
	for variance := range map[float64]bool{0.001: true, 1: true} {
		if v := judge(datagrams.with(example{LossVariance: variance, ControlRTTs: 3}).figures(), measure.TestUDP); v.Confidence == measure.High || !slices.Contains(v.Alternatives, measure.BottleneckPathShaper) {
			t.Errorf("of 3 round trips the verdict is %+v", v)
		}
	}
}

// Eight streams at a policer of 22 Mbit/s lose a few packets at a time, each.
func TestSeveralStreamsAtAPolicerLoseMoreAtATimeThanByChance(t *testing.T) {
	policed := lossy.with(example{Streams: 8, LossRatio: 0.11, Recoveries: 251, LossesPerRecovery: 3.34, LossBurst: 2.33, LossVariance: 0.37, BBR: 0, Jain: 0.978})
	if v := judge(policed.figures(), measure.TestTCP); v.LimitedBy != measure.BottleneckPathPolicer {
		t.Errorf("the verdict is %s (%s) by %s", v.LimitedBy, v.Confidence, v.Rule)
	}
	if v := judge(policed.with(example{LossBurst: 1.3}).figures(), measure.TestTCP); v.LimitedBy != measure.BottleneckPathLoss {
		t.Errorf("by chance the verdict is %s (%s) by %s", v.LimitedBy, v.Confidence, v.Rule)
	}
	// Eight streams of bbr lose at a policer as by chance, but are level.
	bbr := policed.with(example{LossRatio: 0.187, Recoveries: 940, LossesPerRecovery: 7.3, LossBurst: 2.25, LossVariance: 3.2, BBR: 1, Jain: 0.79, GoodputSpread: 0.03})
	if v := judge(bbr.figures(), measure.TestTCP); v.LimitedBy != measure.BottleneckPathPolicer {
		t.Errorf("with bbr the verdict is %s (%s) by %s", v.LimitedBy, v.Confidence, v.Rule)
	}
	for name, chance := range map[string]example{"varying": {GoodputSpread: 0.1}, "of few": {LossRatio: 0.09}, "with cubic": {BBR: 0, LossBurst: 1.3}} {
		if v := judge(bbr.with(chance).figures(), measure.TestTCP); v.LimitedBy != measure.BottleneckPathLoss {
			t.Errorf("by chance, %s, the verdict is %s (%s) by %s", name, v.LimitedBy, v.Confidence, v.Rule)
		}
	}
}

// The round trips of bbr grow without a queue where packets are lost, those of the control connection do not.
func TestLossesUnderBBRAreNoOtherTraffic(t *testing.T) {
	bbr := lossy.with(example{
		LossRatio: 0.002, Recoveries: 59, LossesPerRecovery: 5.6, LossBurst: 1.36, LossVariance: 1.28, BBR: 1, RTTTimes: 1.37, QueueNs: 1e7, RTTGrowth: 0.34,
		GoodputSpread: 0.25, GoodputPeak: 0.13, ControlRTTTimes: 1.005, ControlQueue: 1.5e5, ControlRTTs: 15, BesideRatio: 0.014, SendBufferUsed: 0.96,
	})
	if v := judge(bbr.figures(), measure.TestTCP); v.LimitedBy != measure.BottleneckPathLoss {
		t.Errorf("the verdict is %s (%s) by %s", v.LimitedBy, v.Confidence, v.Rule)
	}
	for name, queue := range map[string]example{"the control connection waits, too": {ControlRTTTimes: 1.03}, "too few of its round trips are known": {ControlRTTs: 7}, "they grow much": {RTTTimes: 1.6}, "with cubic": {BBR: 0, LossesPerRecovery: 4}} {
		if v := judge(bbr.with(queue).figures(), measure.TestTCP); v.LimitedBy == measure.BottleneckPathLoss {
			t.Errorf("%s: the verdict is %s (%s) by %s", name, v.LimitedBy, v.Confidence, v.Rule)
		}
	}
}

// On a busy host the flight may be short of the window of the kernel; it waits in the queue all the same.
func TestAFlightThatFillsAQueueIsNotLimitedByTheSendBuffer(t *testing.T) {
	v := judge(behind.with(example{SendBufferUsed: 0.93, SndbufLimited: 0.014, UnsentTimes: 0, CwndUsed: 0.47}).figures(), measure.TestTCP)
	if v.LimitedBy != measure.BottleneckPathShaper {
		t.Errorf("the verdict is %s by %s", v.LimitedBy, v.Rule)
	}
}

func TestARuleNeedsItsFigures(t *testing.T) {
	for _, rule := range Rules {
		whole := examples[rule.Name]
		for _, e := range judge(whole.figures(), rule.Tests[0]).Evidence {
			_, evidence := rule.When.holds(whole.without(Key(e.Figure)).figures())
			if slices.ContainsFunc(evidence, func(o measure.Evidence) bool { return o.Figure == e.Figure }) {
				t.Errorf("%s gives evidence of %s, which is absent", rule.Name, e.Figure)
			}
		}
	}
	if v := judge(example{}.figures(), measure.TestTCP); v.LimitedBy != measure.BottleneckNone || v.Confidence != measure.Low || v.NextMeasurement == "" {
		t.Errorf("without figures the verdict is %+v", v)
	}
}

func TestARuleThatCannotBeSureSaysWhatWouldTell(t *testing.T) {
	names := map[string]bool{}
	for _, r := range Rules {
		if names[r.Name] {
			t.Errorf("two rules are named %s", r.Name)
		}
		names[r.Name] = true
		if (len(r.Alternatives) > 0 || r.Confidence == measure.Low) && r.NextMeasurement == "" && r.Name != "connect_syn_lost_busy" {
			t.Errorf("%s names no probe", r.Name)
		}
		if len(r.Alternatives) > 0 && r.Confidence == measure.High {
			t.Errorf("%s has high confidence, and the same figures fit %v", r.Name, r.Alternatives)
		}
		if r.Source == "" || len(r.Tests) == 0 {
			t.Errorf("%s has no source or no test", r.Name)
		}
	}
}

func TestAnUnknownFigureIsNeitherAboveNorBelow(t *testing.T) {
	f := example{LossRatio: 0.5}.figures()
	for want, c := range map[truth]Condition{
		unknown: All(AtLeast(LossRatio, 0.1), AtLeast(RTTTimes, 2)),
		no:      All(Below(LossRatio, 0.1), AtLeast(RTTTimes, 2)),
		yes:     Any(AtLeast(RTTTimes, 2), AtLeast(LossRatio, 0.1)),
	} {
		if got, _ := c.holds(f); got != want {
			t.Errorf("%s is %v, want %v", c, got, want)
		}
	}
	for text, c := range map[string]Condition{"not": Not(AtLeast(RTTTimes, 2)), "any": Any(AtLeast(RTTTimes, 2), Below(LossRatio, 0.1))} {
		if got, _ := c.holds(f); got != unknown {
			t.Errorf("%s: %v", text, got)
		}
	}
	if got, _ := IfKnown(AtLeast(RTTTimes, 2)).holds(f); got != yes {
		t.Error("a condition that applies only if it is known decides without its figure")
	}
	if got, _ := IfKnown(Below(LossRatio, 0.1)).holds(f); got != no {
		t.Error("a condition that is known not to hold is taken to hold")
	}
}

// Packets over loopback wait for a processor: what looks like a queue of the path is none, unless
// somebody gave the interface one.
func TestLoopbackHasNoQueueOfAPath(t *testing.T) {
	f := behind.figures()
	path := judge(f, measure.TestTCP)
	f.queueless = true
	if here := judge(f, measure.TestTCP); path.LimitedBy != measure.BottleneckPathShaper || here.LimitedBy != measure.BottleneckNone {
		t.Errorf("over a path %s, over loopback %s by %s", path.LimitedBy, here.LimitedBy, here.Rule)
	}
	// Data that waits for one busy thread looks like a queue, too.
	for key, want := range map[Key]measure.Bottleneck{ReceiverThread: measure.BottleneckReceiverCPU, SenderThread: measure.BottleneckSenderCPU} {
		f := behind.with(example{key: 0.9}).figures()
		path := judge(f, measure.TestTCP)
		f.queueless = true
		if here := judge(f, measure.TestTCP); path.LimitedBy != measure.BottleneckPathShaper || here.LimitedBy != want || here.Confidence != measure.Medium {
			t.Errorf("%s: over a path %s, over loopback %s (%s) by %s", key, path.LimitedBy, here.LimitedBy, here.Confidence, here.Rule)
		}
	}
	for confidence, want := range map[measure.Confidence]measure.Bottleneck{measure.High: measure.BottleneckPathLoss, measure.Low: measure.BottleneckNone} {
		losses := lossy
		if confidence == measure.Low {
			losses = idle.with(example{LossRatio: 0.00003, Recoveries: 30, LossesPerRecovery: 1.2})
		}
		f := losses.figures()
		path := judge(f, measure.TestTCP)
		f.queueless = true
		if here := judge(f, measure.TestTCP); path.LimitedBy != measure.BottleneckPathLoss || path.Confidence != confidence || here.LimitedBy != want {
			t.Errorf("losses: over a path %s (%s), over loopback %s", path.LimitedBy, path.Confidence, here.LimitedBy)
		}
	}
	for _, c := range []struct {
		client, server measure.Facts
		want           bool
	}{
		{measure.Facts{Interface: "lo", Qdisc: "noqueue"}, measure.Facts{Interface: "lo", Qdisc: "noqueue"}, true},
		{measure.Facts{Interface: "lo", Qdisc: "netem"}, measure.Facts{Interface: "lo", Qdisc: "netem"}, false},
		{measure.Facts{Interface: "eth0", Qdisc: "noqueue"}, measure.Facts{Interface: "eth0", Qdisc: "noqueue"}, false},
		{measure.Facts{Interface: "lo", Qdisc: "noqueue"}, measure.Facts{}, false},
	} {
		r, _, _ := transfer()
		r.Hosts = measure.Hosts{Client: &measure.Host{Facts: c.client}, Server: &measure.Host{Facts: c.server}}
		if got := FiguresOf(r, measure.Forward).queueless; got != c.want {
			t.Errorf("%+v to %+v: %v", c.client, c.server, got)
		}
	}
}

// In a short trial, and with many streams, the round trips of one queue differ, too.
func TestStreamsAreUnlikeByTheirNumberAndTheLengthOfTheTrial(t *testing.T) {
	for _, c := range []struct {
		streams, spread, seconds float64
		want                     measure.Bottleneck
	}{
		{8, 0.08, 4, measure.BottleneckFlowHashing}, {8, 0.08, 0.6, measure.BottleneckPathShaper}, {8, 0.2, 0.6, measure.BottleneckFlowHashing},
		{8, 0.06, 4, measure.BottleneckPathShaper}, {32, 0.1, 1.3, measure.BottleneckPathShaper},
		{8, 0.04, 4, measure.BottleneckPathShaper}, {32, 0.08, 4, measure.BottleneckPathShaper}, {32, 0.2, 4, measure.BottleneckFlowHashing},
	} {
		f := behind.with(several).with(example{Jain: 0.8, Streams: c.streams, RTTSpread: c.spread, DurationNs: c.seconds * 1e9}).figures()
		if v := judge(f, measure.TestTCP); v.LimitedBy != c.want {
			t.Errorf("round trips of %v streams %v apart in %v s: %s by %s, want %s", c.streams, c.spread, c.seconds, v.LimitedBy, v.Rule, c.want)
		}
	}
}
