package trial

import (
	"testing"

	"soku/internal/engine/filecopy"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

// The source's clock counts, and the sink's files and bytes, whichever end is the client.
func TestACopyIsTimedAtItsSourceAndCountedAtItsSink(t *testing.T) {
	source := func() *measure.Copy {
		return &measure.Copy{Files: 3, Bytes: 1200, Checksum: "sha256", Source: &measure.CopyPlace{Device: "a"}, Stages: []measure.CopyStage{
			{Stage: measure.StageRead, DurationNs: 1e9, Files: 3, Bytes: 1200, Source: &measure.CopyWork{ReadNs: 5}},
			{Stage: measure.StageAll, DurationNs: 4e9, Files: 3, Bytes: 1200, Source: &measure.CopyWork{ReadNs: 6}},
		}}
	}
	sink := func() *measure.Copy {
		return &measure.Copy{Sink: &measure.CopyPlace{Device: "b"}, Verified: 2, Stages: []measure.CopyStage{
			{Stage: measure.StageAll, DurationNs: 3e9, Files: 2, Bytes: 1000, Sink: &measure.CopyWork{WriteNs: 7}},
		}}
	}
	for name, ends := range map[string][2]*measure.Copy{"forward": {source(), sink()}, "reverse": {sink(), source()}} {
		r := resultOf(measure.TestCopy)
		assemble(r, &measure.End{Copy: ends[0]}, &measure.End{Copy: ends[1]}, nil)
		c, s := r.Copy, r.Summary
		if s.DurationNs != 4e9 || s.ReceivedBytes != 1000 || s.GoodputBps != 2000 {
			t.Errorf("%s: summary %+v", name, s)
		}
		if c.Files != 3 || c.Verified != 2 || c.Source.Device != "a" || c.Sink.Device != "b" || len(c.Stages) != 2 {
			t.Errorf("%s: copy %+v", name, c)
		}
		if all := c.Stage(); all.Sink.WriteNs != 7 || all.Source.ReadNs != 6 || c.Stages[0].Bytes != 1200 {
			t.Errorf("%s: stages %+v", name, c.Stages)
		}
	}
}

// Cuts that a server reports are checked for plausibility.
func TestCutsOfACopyAreThoseOfItsSource(t *testing.T) {
	var many []measure.CopyCut
	for range 1001 {
		many = append(many, measure.CopyCut{Stage: measure.StageAll, Stream: -1, StartNs: -5, DurationNs: 1 << 62, ResentBytes: -1})
	}
	source := &measure.Copy{Files: 1, Stages: []measure.CopyStage{{Stage: measure.StageAll, DurationNs: 4e9}}, Cuts: many}
	c := joinCopy(&measure.Copy{Cuts: []measure.CopyCut{{Stage: "own"}}}, source)
	if len(c.Cuts) != 1000 || c.Cuts[0] != (measure.CopyCut{Stage: measure.StageAll, DurationNs: 1 << 50}) || c.CutNs(measure.StageAll) != 1<<50 {
		t.Errorf("%d cuts, the first %+v", len(c.Cuts), c.Cuts[0])
	}
}

func TestAWholeCopyOnThisHostIsAResult(t *testing.T) {
	r := Run(t.Context(), Spec{Test: measure.TestCopy, Host: "127.0.0.1", Options: localCopy(t)}, Hooks{})
	if r.Error != nil {
		t.Fatal(r.Error)
	}
	if r.Summary.ReceivedBytes != 40_000 || r.Copy.Verified != 4 || r.Summary.GoodputBps <= 0 || r.Hosts.Client.Counters == nil {
		t.Errorf("summary %+v, copy %+v", r.Summary, r.Copy)
	}
}

// localCopy is a copy of four files between folders of this host.
func localCopy(t *testing.T) measure.Options {
	t.Helper()
	o := option.Defaults(measure.TestCopy)
	measure.EditOwn(&o, func(own *filecopy.Options) {
		own.Files, own.FileSize, own.Disk, own.To, own.Sync = 4, 10_000, t.TempDir(), t.TempDir(), "off"
	})
	return o
}
