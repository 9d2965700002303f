package verdict

// Conditions that several rules share.
var (
	// A loop that has its processor whenever it can use it waits most of the time for the path:
	// run + wait was 0.43 at most where the path was the limit, and 0.68 at least where a
	// processor was.
	senderBusy   = named{Any(AtLeast(SenderThread, 0.6), AtLeast(SenderThrottled, 0.5)), "sender busy"}
	receiverBusy = named{Any(AtLeast(ReceiverThread, 0.6), AtLeast(ReceiverThrottled, 0.5)), "receiver busy"}
	// Packets wait in a queue of the path.
	queued = named{Any(All(AtLeast(RTTTimes, 1.13), AtLeast(QueueNs, 2e6)), All(AtLeast(RTTTimes, 1.3), AtLeast(QueueNs, 0.5e6))), "queue"}
	// The goodput is never far above its median. It was 0 to 6 % above it behind a cap, to 12 % with other
	// work of the hosts, and 17 to 240 % where the processors of a busy host were the limit.
	level = named{Below(GoodputPeak, 0.12), "never above a rate"}
	// Packets are lost independently of each other, and not because a queue was full: one at a time, or as
	// many in a recovery as chance gives in a window that large. Without bbr they were 1.0 to 1.3 times what
	// chance gives in one round trip, with 1 to 32 streams, and 2.3 times and more at a policer. bbr keeps its
	// window when it loses packets, so of 1 % in a window of 1000 segments it loses 20 a recovery: 1.5 to 2
	// times what chance gives in one round trip, and 4 times on a busy host where its window varies, with a
	// variance of 0.3 to 4. At a policer the variance was 76 and more for one stream of bbr, and 3 to 7 for
	// eight. There their goodput was level at a loss of 18 % (spread 0.05 at most), which it was not at random
	// losses of 25 % (0.33 and more). Round trips of bbr grew to 1.4 times without a queue: what was lost holds
	// back what came after it.
	byChance = named{All(AtLeast(LossRatio, 0.0005),
		Any(Below(LossesPerRecovery, 3),
			All(Any(Below(LossBurst, 1.8), All(AtLeast(BBR, 1), Below(LossBurst, 2.5))), IfKnown(Below(LossVariance, 5))),
			All(AtLeast(BBR, 1), Below(LossBurst, 4), Below(LossVariance, 5))),
		AtLeast(Recoveries, 5),
		Any(Below(RTTTimes, 1.3), All(AtLeast(BBR, 1), Below(RTTTimes, 1.6), Below(ControlRTTTimes, 1.03), AtLeast(ControlRTTs, 8))),
		IfKnown(Not(All(AtLeast(BBR, 1), AtLeast(LossRatio, 0.1), Below(GoodputSpread, 0.1))))), "losses by chance"}
	// The goodput had two levels, the higher one first and level.
	stepDown = named{All(AtLeast(StepTimes, 1.8), AtLeast(StepFit, 0.6), AtLeast(StepAt, 0.45e9), Below(StepNoise, 0.45)), "step down"}
	// Datagrams fill a queue: packets of another connection wait in it.
	besideQueued = named{Any(AtLeast(ControlRTTTimes, 1.4), AtLeast(ControlQueue, 5e6)), "control connection queued"}
	// Packets of the control connection do not wait, as more than a few of their round trips show.
	besideFlat = named{All(Not(besideQueued), AtLeast(ControlRTTs, 4)), "control connection not queued"}
	// Packets are lost although there is no queue: round trips of a busy host grow a little without one, those
	// of the control connection do not.
	lossWithoutQueue = named{All(AtLeast(LossRatio, 0.0005), Any(Not(queued), byChance, All(Below(RTTTimes, 1.3), Below(ControlRTTTimes, 1.03), AtLeast(ControlRTTs, 8)))), "loss without a queue"}
)

// limitedByThread holds for a busy thread if the path does not explain what the trial got. On a busy host a
// thread waits for a processor most of the time, and does its work in a few percent of it.
func limitedByThread(name string, run Key) named {
	return named{Any(AtLeast(run, 0.5), All(queued, AtLeast(run, 0.1), Not(level)), All(Not(queued), IfKnown(Not(lossWithoutQueue)))), name}
}

var (
	senderLimits   = limitedByThread("sender's thread limits", SenderRun)
	receiverLimits = limitedByThread("receiver's thread limits", ReceiverRun)
)

// shared are the conditions with a name, for docs/method.md.
var shared = []named{senderBusy, receiverBusy, senderLimits, receiverLimits, queued, level, byChance, stepDown, lossWithoutQueue, besideQueued, besideFlat, copyNetwork, diskWrites, diskReads}
