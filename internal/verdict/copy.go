package verdict

import (
	"slices"

	"soku/internal/measure"
)

// Figures of copy: shares of the time of a loop, of which each stream has two at an end.
const (
	CopyRead        Key = "copy_read_ratio"
	CopyWrite       Key = "copy_write_ratio"
	CopyFile        Key = "copy_file_ratio"
	CopySourceHash  Key = "copy_source_hash_ratio"
	CopySinkHash    Key = "copy_sink_hash_ratio"
	CopySendWait    Key = "copy_send_wait_ratio"
	CopyReceiveWait Key = "copy_receive_wait_ratio"
	CopyWriteTimes  Key = "copy_write_times"
)

var files = []measure.Test{measure.TestCopy}

// The network gives the sink nothing to do, and takes no more from the source.
var copyNetwork = named{All(AtLeast(CopySendWait, 0.6), AtLeast(CopyReceiveWait, 0.6)), "network waits"}

// copyRules are those of the test copy. A loop that is busy most of the time, while the other
// three of its stream wait, is the one that limits.
var copyRules = []Rule{
	{
		Name: "copy_asked", Tests: files, LimitedBy: measure.BottleneckApplication, Confidence: measure.High,
		When:   AtLeast(AskedRatio, 0.95),
		Source: "The rate that was asked for arrives.",
	},
	{
		Name: "copy_files", Tests: files, LimitedBy: measure.BottleneckFileCost, Confidence: measure.High,
		When:   All(AtLeast(CopyFile, 0.4), Below(CopyRead, 0.4), Below(CopyWrite, 0.4)),
		Source: "Opening, creating and closing files takes more time than their contents.",
	},
	{
		Name: "copy_write", Tests: files, LimitedBy: measure.BottleneckDiskWrite, Confidence: measure.High,
		When:   All(AtLeast(CopyWrite, 0.6), Below(CopyRead, 0.6), IfKnown(Not(copyNetwork))),
		Source: "The loop that writes is in calls that write or flush, and the others wait for it.",
	},
	{
		Name: "copy_read", Tests: files, LimitedBy: measure.BottleneckDiskRead, Confidence: measure.High,
		When:   All(AtLeast(CopyRead, 0.6), Below(CopyWrite, 0.6), IfKnown(Not(copyNetwork))),
		Source: "The loop that reads is in calls that read, and the others wait for it.",
	},
	{
		Name: "copy_write_longer", Tests: files, LimitedBy: measure.BottleneckDiskWrite, Confidence: measure.High,
		When:   All(AtLeast(CopyRead, 0.6), AtLeast(CopyWrite, 0.6), AtLeast(CopyWriteTimes, 1.3)),
		Source: "Both take long together, as on one disk that does both, and alone writing takes longer.",
	},
	{
		Name: "copy_read_longer", Tests: files, LimitedBy: measure.BottleneckDiskRead, Confidence: measure.High,
		When:   All(AtLeast(CopyRead, 0.6), AtLeast(CopyWrite, 0.6), Below(CopyWriteTimes, 0.77)),
		Source: "Both take long together, as on one disk that does both, and alone reading takes longer.",
	},
	{
		Name: "copy_both_disks", Tests: files, LimitedBy: measure.BottleneckDiskWrite, Or: []measure.Bottleneck{measure.BottleneckDiskRead}, Confidence: measure.Medium,
		When:   All(AtLeast(CopyRead, 0.6), AtLeast(CopyWrite, 0.6)),
		Source: "Reading and writing take equally long, as on one disk that does both.", WouldTell: measure.ProbeStagesApart,
	},
	{
		Name: "copy_sender", Tests: files, LimitedBy: measure.BottleneckSenderCPU, Confidence: measure.Medium,
		When:   AtLeast(CopySourceHash, 0.5),
		Source: "The loop that reads spends its time on checksums.",
	},
	{
		Name: "copy_receiver", Tests: files, LimitedBy: measure.BottleneckReceiverCPU, Confidence: measure.Medium,
		When:   AtLeast(CopySinkHash, 0.5),
		Source: "The loop that receives spends its time on checksums.",
	},
	{
		Name: "copy_network", Tests: files, LimitedBy: measure.BottleneckPathShaper, Or: []measure.Bottleneck{measure.BottleneckPathPolicer, measure.BottleneckFlowCap, measure.BottleneckPathLoss}, Confidence: measure.Medium,
		When:   copyNetwork,
		Source: "The source waits to send and the sink for bytes. A test of tcp on the same path tells which limit of the network it is.", WouldTell: measure.ProbeSecondStream,
	},
	{
		Name: "copy_files_some", Tests: files, LimitedBy: measure.BottleneckFileCost, Confidence: measure.Medium,
		When:   AtLeast(CopyFile, 0.3),
		Source: "Opening, creating and closing files takes a large part of the time.", WouldTell: measure.ProbeStagesApart,
	},
}

// copy are the figures of the whole copy.
func (f *Figures) copy(r *measure.Result) {
	if r.Copy == nil {
		return
	}
	s := r.Copy.Stage()
	if s == nil || s.DurationNs <= 0 {
		return
	}
	if rate := float64(r.Options.Rate); rate > 0 && (s.Stage == measure.StageAll || s.Stage == measure.StageNetwork) { // the others have no rate
		f.set(AskedRatio, s.Bps()/rate)
	}
	share := func(ns int64, w *measure.CopyWork) float64 {
		return float64(ns) / float64(s.DurationNs) / float64(max(w.Streams, 1))
	}
	switch s.Stage { // each does only one of the two, and a local one has no work of the other end
	case measure.StageRead:
		f.set(CopyWrite, 0)
	case measure.StageWrite:
		f.set(CopyRead, 0)
	}
	source, sink := s.Source, s.Sink
	cost := 0.0
	if source != nil {
		f.set(CopyRead, share(source.ReadNs, source))
		f.set(CopySourceHash, share(source.HashNs, source))
		f.set(CopySendWait, share(source.NetworkNs, source))
		cost = share(source.FileNs, source)
	}
	if sink != nil {
		write := share(sink.WriteNs, sink)
		if r.Copy.Sink != nil && r.Copy.Sink.Sync == "end" {
			write += float64(sink.SyncNs) / float64(s.DurationNs) // once, for all streams
		} else {
			write += share(sink.SyncNs, sink)
		}
		f.set(CopyWrite, write)
		f.set(CopySinkHash, share(sink.HashNs, sink))
		f.set(CopyReceiveWait, share(sink.NetworkNs, sink))
		cost = max(cost, share(sink.FileNs, sink))
	}
	f.set(CopyFile, cost)
	if read, write := r.Copy.StageNamed(measure.StageRead), r.Copy.StageNamed(measure.StageWrite); read != nil && write != nil && read.DurationNs > 0 {
		f.set(CopyWriteTimes, float64(write.DurationNs)/float64(read.DurationNs))
	}
}

// stageOf is the stage of a copy that has a limit.
var stageOf = map[measure.Bottleneck]string{
	measure.BottleneckDiskRead: measure.StageRead, measure.BottleneckDiskWrite: measure.StageWrite,
	measure.BottleneckPathShaper: measure.StageNetwork, measure.BottleneckPathPolicer: measure.StageNetwork,
	measure.BottleneckFlowCap: measure.StageNetwork, measure.BottleneckPathLoss: measure.StageNetwork,
}

// lifted is how long a copy would take if its slowest stage were none: as long as the slowest
// of the others, by their rates alone, ns. 0 if they were not measured, if one of the others
// is as slow, or if the verdict leaves open which stage it is.
func lifted(c *measure.Copy, v *measure.Verdict) int64 {
	limiting := stageOf[v.LimitedBy]
	if slices.ContainsFunc(v.Or, func(b measure.Bottleneck) bool { return stageOf[b] != limiting }) {
		return 0
	}
	// On one device of one host each would be faster without the other.
	if c.Source != nil && c.Sink != nil && c.Source.Device != "" && c.Source.Device == c.Sink.Device && c.StageNamed(measure.StageNetwork) == nil {
		return 0
	}
	whole, alone := c.StageNamed(measure.StageAll), c.StageNamed(limiting)
	if whole == nil || alone == nil {
		return 0
	}
	longest := int64(0)
	for _, s := range c.Stages {
		if s.Stage != limiting && s.Stage != measure.StageAll {
			longest = max(longest, s.DurationNs)
		}
	}
	if longest >= whole.DurationNs {
		return 0
	}
	return longest
}
