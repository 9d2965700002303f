package verdict

import (
	"testing"

	"soku/internal/measure"
)

// copied is a copy whose stages were measured apart, and whose loops waited but for what a
// test sets.
func copied(set func(source, sink *measure.CopyWork)) *measure.Result {
	source, sink := &measure.CopyWork{Streams: 2}, &measure.CopyWork{Streams: 2}
	set(source, sink)
	return &measure.Result{Test: measure.TestCopy, Options: measure.Defaults(measure.TestCopy), Copy: &measure.Copy{
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

func TestAVerdictOfACopySaysWhatItWouldTakeWithoutItsLimit(t *testing.T) {
	v := Judge(copied(func(_, sink *measure.CopyWork) { sink.WriteNs = 18e9 }))
	if v.LiftedNs != 5e9 {
		t.Errorf("%+v; the network alone takes 5 s", v)
	}
	v = Judge(copied(func(source, sink *measure.CopyWork) { source.NetworkNs, sink.NetworkNs = 18e9, 17e9 }))
	if v.LiftedNs != 9e9 {
		t.Errorf("%+v; writing alone takes 9 s", v)
	}
	r := copied(func(_, sink *measure.CopyWork) { sink.WriteNs = 18e9 })
	r.Copy.Stages = r.Copy.Stages[3:]
	if v := Judge(r); v.LimitedBy != measure.BottleneckDiskWrite || v.LiftedNs != 0 {
		t.Errorf("without the stages apart: %+v", v)
	}
}

// Reading and writing as long as each other, on one disk or on two.
func TestAVerdictThatLeavesTheStageOpenDoesNotSayWhatLiftingItBrings(t *testing.T) {
	r := copied(func(source, sink *measure.CopyWork) { source.ReadNs, sink.WriteNs = 18e9, 18e9 })
	r.Copy.Stages[0].DurationNs = r.Copy.Stages[2].DurationNs
	if v := Judge(r); v.LimitedBy != measure.BottleneckDiskWrite || len(v.Or) == 0 || v.LiftedNs != 0 {
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
		o := measure.Defaults(measure.TestCopy)
		o.Rate = c.rate
		v := Judge(&measure.Result{Test: measure.TestCopy, Options: o, Copy: &measure.Copy{Files: 10, Stages: []measure.CopyStage{c.stage}}})
		if v == nil || v.LimitedBy != c.want || v.Confidence != measure.High {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// What the other end did may be unknown, as when its connection broke.
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
