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

func TestAVerdictOfACopySaysWhatItWouldTakeWithoutItsLimit(t *testing.T) {
	v := Judge(copied(func(_, sink *measure.CopyWork) { sink.WriteNs = 18e9 }))
	if v.LiftedNs != 5e9 {
		t.Errorf("%+v; the network alone takes 5 s", v)
	}
	r := copied(func(_, sink *measure.CopyWork) { sink.WriteNs = 18e9 })
	r.Copy.Stages = r.Copy.Stages[3:]
	if v := Judge(r); v.LimitedBy != measure.BottleneckDiskWrite || v.LiftedNs != 0 {
		t.Errorf("without the stages apart: %+v", v)
	}
}
