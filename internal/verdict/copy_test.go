package verdict

import (
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

// copied is a copy whose stages were measured apart, and whose loops waited but for what a
// test sets.
func copied(set func(source, sink *measure.CopyWork)) *measure.Result {
	source, sink := &measure.CopyWork{Streams: 2}, &measure.CopyWork{Streams: 2}
	set(source, sink)
	source.BlockedNs = 20e9 - source.ReadNs - source.HashNs - source.FileNs
	sink.StarvedNs = 20e9 - sink.WriteNs - sink.FileNs
	return &measure.Result{Test: measure.TestCopy, Options: option.Defaults(measure.TestCopy), Copy: &measure.Copy{
		Files: 10, Sink: &measure.CopyPlace{Sync: "end"}, Stages: []measure.CopyStage{
			{Stage: measure.StageRead, DurationNs: 2e9}, {Stage: measure.StageNetwork, DurationNs: 5e9}, {Stage: measure.StageWrite, DurationNs: 9e9},
			{Stage: measure.StageAll, DurationNs: 10e9, Bytes: 1e9, Source: source, Sink: sink},
		},
	}}
}

func TestACopyIsLimitedByTheLoopThatIsBusy(t *testing.T) {
	for want, set := range map[measure.Bottleneck]func(source, sink *measure.CopyWork){
		measure.BottleneckDiskRead:    func(source, _ *measure.CopyWork) { source.ReadNs = 18e9 },
		measure.BottleneckDiskWrite:   func(_, sink *measure.CopyWork) { sink.WriteNs, sink.SyncNs = 6e9, 6e9 },
		measure.BottleneckFileCost:    func(_, sink *measure.CopyWork) { sink.FileNs = 15e9 },
		measure.BottleneckSenderCPU:   func(source, _ *measure.CopyWork) { source.HashNs = 15e9 },
		measure.BottleneckReceiverCPU: func(_, sink *measure.CopyWork) { sink.HashNs = 15e9 },
		measure.BottleneckPathShaper:  func(source, sink *measure.CopyWork) { source.NetworkNs, sink.NetworkNs = 18e9, 17e9 },
		measure.BottleneckNone:        func(_, _ *measure.CopyWork) {},
	} {
		if v := Judge(copied(set)); v == nil || v.LimitedBy != want {
			t.Errorf("want %s: %+v", want, v)
		}
	}
}

// A disk that is not much faster than the network is busy most of the time.
func TestABusyDiskThatWaitsForTheNetworkIsNotTheLimit(t *testing.T) {
	for name, disk := range map[string]func(source, sink *measure.CopyWork){
		"writing": func(_, sink *measure.CopyWork) { sink.WriteNs = 16e9 },
		"reading": func(source, _ *measure.CopyWork) { source.ReadNs = 16e9 },
	} {
		v := Judge(copied(func(source, sink *measure.CopyWork) {
			disk(source, sink)
			source.NetworkNs, sink.NetworkNs = 19e9, 19e9
		}))
		if v.LimitedBy != measure.BottleneckPathShaper {
			t.Errorf("%s: %+v", name, v)
		}
		if v := Judge(copied(disk)); v.LimitedBy == measure.BottleneckPathShaper {
			t.Errorf("%s without a wait for the network: %+v", name, v)
		}
	}
}

// A network that is 1.3 times as fast as the disk lets source and sink wait for most of the time, and so does a
// second disk; the one that is busy all the time is the limit.
func TestOfTwoStagesTheOneThatIsBusyForLongerLimits(t *testing.T) {
	for name, c := range map[string]struct {
		busy func(source, sink *measure.CopyWork)
		want measure.Bottleneck
	}{
		"writing before the network": {func(source, sink *measure.CopyWork) {
			source.NetworkNs, sink.NetworkNs, sink.WriteNs = 19e9, 15e9, 19e9
		}, measure.BottleneckDiskWrite},
		"reading before the network": {func(source, sink *measure.CopyWork) {
			source.NetworkNs, sink.NetworkNs, source.ReadNs = 15e9, 19e9, 19.5e9
		}, measure.BottleneckDiskRead},
		"writing before reading": {func(source, sink *measure.CopyWork) {
			source.NetworkNs, source.ReadNs, sink.WriteNs = 19e9, 14e9, 19e9
		}, measure.BottleneckDiskWrite},
		"reading before writing": {func(source, sink *measure.CopyWork) {
			source.NetworkNs, source.ReadNs, sink.WriteNs = 1e9, 19e9, 14e9
		}, measure.BottleneckDiskRead},
	} {
		if v := Judge(copied(c.busy)); v.LimitedBy != c.want || v.Confidence != measure.High {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

func TestAVerdictOfACopySaysWhatItWouldTakeWithoutItsLimit(t *testing.T) {
	v := Judge(copied(func(_, sink *measure.CopyWork) { sink.WriteNs = 18e9 }))
	if v.DurationWithoutLimitNs != 5e9 {
		t.Errorf("%+v; the network alone takes 5 s", v)
	}
	v = Judge(copied(func(source, sink *measure.CopyWork) { source.NetworkNs, sink.NetworkNs = 18e9, 17e9 }))
	if v.DurationWithoutLimitNs != 9e9 {
		t.Errorf("%+v; writing alone takes 9 s", v)
	}
	r := copied(func(_, sink *measure.CopyWork) { sink.WriteNs = 18e9 })
	r.Copy.Stages = r.Copy.Stages[3:]
	if v := Judge(r); v.LimitedBy != measure.BottleneckDiskWrite || v.DurationWithoutLimitNs != 0 {
		t.Errorf("without the stages apart: %+v", v)
	}
}

// Reading and writing as long as each other, on one disk or on two.
func TestAVerdictThatLeavesTheStageOpenDoesNotSayWhatLiftingItBrings(t *testing.T) {
	r := copied(func(source, sink *measure.CopyWork) { source.ReadNs, sink.WriteNs = 18e9, 18e9 })
	r.Copy.Stages[0].DurationNs = r.Copy.Stages[2].DurationNs
	if v := Judge(r); v.LimitedBy != measure.BottleneckDiskWrite || len(v.Alternatives) == 0 || v.DurationWithoutLimitNs != 0 {
		t.Errorf("%+v", v)
	}
}

// A stage alone has one end, and the rate that was asked for is not that of disks.
func TestAStageAloneIsLimitedByWhatItDoes(t *testing.T) {
	work := &measure.CopyWork{Streams: 2, ReadNs: 19e9}
	for name, c := range map[string]struct {
		stage measure.CopyStage
		rate  measure.Rate
		want  measure.Bottleneck
	}{
		"read":                 {measure.CopyStage{Stage: measure.StageRead, Source: work}, 0, measure.BottleneckDiskRead},
		"write":                {measure.CopyStage{Stage: measure.StageWrite, Sink: &measure.CopyWork{Streams: 2, WriteNs: 19e9}}, 0, measure.BottleneckDiskWrite},
		"files":                {measure.CopyStage{Stage: measure.StageRead, Source: &measure.CopyWork{Streams: 2, FileNs: 19e9}}, 0, measure.BottleneckFileCost},
		"write, with a rate":   {measure.CopyStage{Stage: measure.StageWrite, Source: &measure.CopyWork{Streams: 2}, Sink: &measure.CopyWork{Streams: 2, WriteNs: 19e9}}, 1e6, measure.BottleneckDiskWrite},
		"network, with a rate": {measure.CopyStage{Stage: measure.StageNetwork, Source: &measure.CopyWork{Streams: 2}, Sink: &measure.CopyWork{Streams: 2}}, 1e6, measure.BottleneckApplication},
	} {
		c.stage.DurationNs, c.stage.Bytes = 10e9, 1e9
		o := option.Defaults(measure.TestCopy)
		o.Rate = c.rate
		v := Judge(&measure.Result{Test: measure.TestCopy, Options: o, Copy: &measure.Copy{Files: 10, Stages: []measure.CopyStage{c.stage}}})
		if v == nil || v.LimitedBy != c.want || v.Confidence != measure.High {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// The work of the other end may be unknown, for example if its connection broke.
func TestAWholeCopyOfOneKnownEndIsNotLimitedByItsDisk(t *testing.T) {
	r := copied(func(source, _ *measure.CopyWork) { source.ReadNs = 19e9 })
	if v := Judge(r); v.LimitedBy != measure.BottleneckDiskRead {
		t.Fatalf("%+v", v)
	}
	r.Copy.Stage().Sink = nil
	if v := Judge(r); v != nil && v.LimitedBy == measure.BottleneckDiskRead {
		t.Errorf("%+v", v)
	}
}

// carried is a copy that waits for the network, over the two streams of [transfer].
func carried(t *testing.T, o measure.Direction, change func(sender, receiver measure.SeriesValues)) *measure.Result {
	t.Helper()
	r := copied(func(source, sink *measure.CopyWork) {
		source.NetworkNs, sink.NetworkNs, sink.NetworkBytes = 19e9, 19e9, 50e6
	})
	r.Options.Direction = o
	r.Copy.Stages = r.Copy.Stages[3:]
	_, sender, receiver := transfer()
	sender.Columns["interface.sent_bytes"] = slicesOf(1_350_000) // no foreign traffic
	change(sender, receiver)
	for _, s := range []measure.SeriesValues{sender, receiver} {
		for key, column := range s.Columns {
			if name, of := strings.CutPrefix(key, "forward."); of {
				delete(s.Columns, key)
				s.Columns[string(o)+"."+name] = column
			}
		}
	}
	if o == measure.Reverse {
		sender, receiver = receiver, sender
	}
	return withSeries(r, sender, receiver)
}

func TestTheConnectionsOfACopyTellWhichLimitOfTheNetworkItIs(t *testing.T) {
	level := func(s measure.SeriesValues) { // no queue: the round trips are the smallest ones
		for _, stream := range []string{"forward.0.", "forward.1."} {
			s.Columns[stream+"rtt_ns"] = slicesOf(10e6)
		}
	}
	for name, c := range map[string]struct {
		change func(sender, receiver measure.SeriesValues)
		want   measure.Bottleneck
		rule   string
	}{
		// Equal streams are no sign of a limit of each: each took as many files as the other.
		"a queue": {func(_, _ measure.SeriesValues) {}, measure.BottleneckPathShaper, "copy_queue"},
		"a queue, and unequal streams": {func(sender, _ measure.SeriesValues) {
			sender.Columns["control.rtt_ns"] = slicesOf(10e6) // the state of a queue is unknown
			sender.Columns["forward.1.acked_bytes"] = slicesOf(900_000)
		}, measure.BottleneckPathShaper, "copy_queue_or_flow_cap"},
		// The sink receives in turns, and packets of the control connection wait when the streams do.
		"a queue, and pauses of the streams": {func(sender, _ measure.SeriesValues) { sender.Columns["control.rtt_ns"] = slicesOf(10e6) }, measure.BottleneckPathShaper, "copy_queue_or_flow_cap"},
		"many losses at a time": {func(sender, _ measure.SeriesValues) {
			level(sender)
		}, measure.BottleneckPathPolicer, "copy_policer"},
		"single losses": {func(sender, _ measure.SeriesValues) {
			level(sender)
			sender.Columns["tcp.recoveries"] = slicesOf(15)
		}, measure.BottleneckPathLoss, "copy_loss_by_chance"},
		"a full window": {func(sender, _ measure.SeriesValues) {
			sender.Columns["forward.0.snd_wnd_bytes"], sender.Columns["forward.1.snd_wnd_bytes"] = slicesOf(500_000), slicesOf(500_000)
		}, measure.BottleneckReceiveWindow, "copy_window"},
	} {
		for _, direction := range []measure.Direction{measure.Forward, measure.Reverse} {
			v := Judge(carried(t, direction, c.change))
			if v.LimitedBy != c.want || v.Rule != c.rule {
				t.Errorf("%s, %s: %+v", name, direction, v)
			}
		}
	}
	// The connections of a copy that waits for a disk do not show what limits it.
	r := carried(t, measure.Forward, func(_, _ measure.SeriesValues) {})
	sink := r.Copy.Stage().Sink
	sink.NetworkNs, sink.WriteNs, sink.StarvedNs = 1e9, 19e9, 1e9
	if v := Judge(r); v.LimitedBy != measure.BottleneckDiskWrite {
		t.Errorf("a busy disk: %+v", v)
	}
}

func TestAnEndOfACopyWithoutProcessorTimeIsTheLimit(t *testing.T) {
	throttled := func(s measure.SeriesValues) {
		s.Columns["cgroup.periods"], s.Columns["cgroup.throttled_periods"] = slicesOf(1), slicesOf(1)
	}
	for _, direction := range []measure.Direction{measure.Forward, measure.Reverse} {
		if v := Judge(carried(t, direction, func(sender, _ measure.SeriesValues) { throttled(sender) })); v.LimitedBy != measure.BottleneckSenderCPU {
			t.Errorf("the source, %s: %+v", direction, v)
		}
		if v := Judge(carried(t, direction, func(_, receiver measure.SeriesValues) { throttled(receiver) })); v.LimitedBy != measure.BottleneckReceiverCPU {
			t.Errorf("the sink, %s: %+v", direction, v)
		}
	}
}

// Before the whole copy its stages ran alone, which may have lost other packets.
func TestOnlyTheWholeCopyCountsOfStagesApart(t *testing.T) {
	r := carried(t, measure.Forward, func(sender, _ measure.SeriesValues) {
		for i := range 20 {
			sender.Columns["forward.0.retransmits"][i], sender.Columns["forward.1.retransmits"][i] = 300, 300
		}
	})
	r.Copy.Stage().DurationNs = int64(2 * time.Second)
	wantFigures(t, FiguresOf(r, measure.Forward), example{LossRatio: 18.0 / 900, Recoveries: 20})
}

// Eight streams have columns, and the kernel counts the recoveries of all.
func TestStreamsOfACopyWithoutColumnsCount(t *testing.T) {
	r := carried(t, measure.Forward, func(_, _ measure.SeriesValues) {})
	s := r.Copy.Stage()
	s.Sink.Streams, s.Sink.NetworkBytes = 4, 100e6
	wantFigures(t, FiguresOf(r, measure.Forward), example{Streams: 4, LossesPerRecovery: 36})
}

// The block layer serves the streams of a slow disk unequally: most end long before the last.
func TestStreamsThatEndEarlyDoNotHideTheDisk(t *testing.T) {
	writing := copied(func(_, sink *measure.CopyWork) { sink.WriteNs = 10.5e9 })
	writing.Copy.Stage().Sink.StarvedNs = 0.5e9 // of 20 s the streams were there for 11
	reading := copied(func(source, _ *measure.CopyWork) { source.ReadNs = 10.5e9 })
	reading.Copy.Stage().Source.BlockedNs = 0.5e9
	wantFigures(t, FiguresOf(writing, measure.Forward), example{CopyWrite: 10.5 / 11})
	wantFigures(t, FiguresOf(reading, measure.Forward), example{CopyRead: 10.5 / 11})
	for want, r := range map[measure.Bottleneck]*measure.Result{measure.BottleneckDiskWrite: writing, measure.BottleneckDiskRead: reading} {
		if v := Judge(r); v.LimitedBy != want {
			t.Errorf("want %s: %+v", want, v)
		}
	}
	// A source that had read everything after a tenth of the time is not what limits.
	reading.Copy.Stage().Source.Samples = []measure.CopySample{{EndNs: 1e9, FileBytes: 1e9}, {StartNs: 1e9, EndNs: 2e9}}
	wantFigures(t, FiguresOf(reading, measure.Forward), example{CopyRead: 10.5 / 11 / 10})
}

// Samples are 100 ms apart: one of a copy that is shorter does not tell that the source read until
// its end.
func TestOneSampleDoesNotMakeReadingLonger(t *testing.T) {
	r := copied(func(source, _ *measure.CopyWork) { source.Streams, source.ReadNs, source.HashNs = 1, 4e9, 1e9 })
	source := r.Copy.Stage().Source
	source.BlockedNs, source.Samples = 0, []measure.CopySample{{EndNs: 10e9, FileBytes: 1e9}}
	wantFigures(t, FiguresOf(r, measure.Forward), example{CopyRead: 0.4})
	if v := Judge(r); v.LimitedBy == measure.BottleneckDiskRead {
		t.Errorf("reading took 4 s of 10: %+v", v)
	}
}

// A cut is a part of the time, and no limit of the network: what limits is judged by the rest
// where that is long enough.
func TestTheTimeOfACutIsNoLimitOfTheNetwork(t *testing.T) {
	cut := func(ns int64, rest func(source, sink *measure.CopyWork)) *measure.Verdict {
		r := copied(func(source, sink *measure.CopyWork) {
			source.CutNs, sink.CutNs, source.BlockedNs, sink.StarvedNs = 2*ns, 2*ns, 2*ns, 2*ns
			rest(source, sink)
		})
		r.Copy.Cuts = []measure.CopyCut{{Stage: measure.StageAll, DurationNs: ns}, {Stage: measure.StageAll, Stream: 1, StartNs: 1, DurationNs: ns - 1}}
		return Judge(r)
	}
	if v := cut(6e9, func(source, sink *measure.CopyWork) { source.NetworkNs, sink.NetworkNs = 8e9, 8e9 }); v.LimitedBy != measure.BottleneckNone || v.Rule != "copy_cut" {
		t.Errorf("cut most of the time: %+v", v)
	}
	if v := cut(2e9, func(source, sink *measure.CopyWork) { source.NetworkNs, sink.NetworkNs = 15e9, 15e9 }); v.LimitedBy != measure.BottleneckPathShaper {
		t.Errorf("cut for a fifth of the time, and the network is the limit of the rest: %+v", v)
	}
	for want, rest := range map[measure.Bottleneck]func(source, sink *measure.CopyWork){
		measure.BottleneckDiskRead:  func(source, _ *measure.CopyWork) { source.ReadNs, source.BlockedNs = 10e9, 5e9+4e9 },
		measure.BottleneckDiskWrite: func(_, sink *measure.CopyWork) { sink.WriteNs, sink.StarvedNs = 10e9, 5e9+4e9 },
	} {
		if v := cut(2.5e9, rest); v.LimitedBy != want {
			t.Errorf("cut for a quarter of the time, and two thirds of the rest are %s: %+v", want, v)
		}
	}
	if v := cut(2e9, func(_, sink *measure.CopyWork) { sink.WriteNs = 15e9 }); v.LimitedBy != measure.BottleneckDiskWrite {
		t.Errorf("cut for a fifth of the time, and the disk is the limit of the rest: %+v", v)
	}
}
