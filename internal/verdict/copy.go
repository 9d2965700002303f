package verdict

import (
	"fmt"
	"math"
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
	CopyReadLead    Key = "copy_read_lead_ratio"
	CopyWriteLead   Key = "copy_write_lead_ratio"
	CopyDiskLead    Key = "copy_disk_lead_ratio"
	CopyWriteTimes  Key = "copy_write_times"
	CopyCut         Key = "copy_cut_ratio"
)

var files = []measure.Test{measure.TestCopy}

// Conditions that several rules of copy share.
var (
	// The network gives the sink nothing to do, and takes no more from the source. A network that
	// is not much faster than a disk lets both wait, too: then the disk is busy for longer.
	copyNetwork = named{All(AtLeast(CopySendWait, 0.6), AtLeast(CopyReceiveWait, 0.6), IfKnown(Below(CopyReadLead, 0)), IfKnown(Below(CopyWriteLead, 0))), "network waits"}
	// Of two disks the faster one is busy as well, for less time.
	diskWrites = named{All(AtLeast(CopyWrite, 0.6), Any(Below(CopyRead, 0.6), AtLeast(CopyDiskLead, 0.15)), IfKnown(Not(copyNetwork))), "disk writes"}
	diskReads  = named{All(AtLeast(CopyRead, 0.6), Any(Below(CopyWrite, 0.6), Below(CopyDiskLead, -0.15)), IfKnown(Not(copyNetwork))), "disk reads"}
)

// copyRules are those of the test copy. A loop that is busy most of the time, while the other
// three of its stream wait, is the one that limits.
var copyRules = []Rule{
	{
		Name: "copy_cut", Tests: files, LimitedBy: measure.BottleneckNone, Confidence: measure.Low,
		When:   AtLeast(CopyCut, 0.3),
		Source: "Connections were cut for a large part of the time. That is no limit of a network that works, and the rest is too short to tell one.", NextMeasurement: measure.ProbeLonger,
	},
	{
		Name: "copy_asked", Tests: files, LimitedBy: measure.BottleneckApplication, Confidence: measure.High,
		When:   AtLeast(AskedRatio, 0.95),
		Source: "The rate that was asked for arrives.",
	},
	{
		Name: "copy_receiver_quota", Tests: files, LimitedBy: measure.BottleneckReceiverCPU, Confidence: measure.High,
		When:   AtLeast(ReceiverThrottled, 0.5),
		Source: "The control group of the end that writes uses up its quota of processor time: its calls take long because it stands still.",
	},
	{
		Name: "copy_sender_quota", Tests: files, LimitedBy: measure.BottleneckSenderCPU, Confidence: measure.High,
		When:   AtLeast(SenderThrottled, 0.5),
		Source: "The same of the end that reads.",
	},
	{
		Name: "copy_files", Tests: files, LimitedBy: measure.BottleneckFileCost, Confidence: measure.High,
		When:   All(AtLeast(CopyFile, 0.4), Below(CopyRead, 0.4), Below(CopyWrite, 0.4)),
		Source: "Opening, creating and closing files takes more time than their contents.",
	},
	{
		Name: "copy_receiver_thread", Tests: files, LimitedBy: measure.BottleneckReceiverCPU, Confidence: measure.Medium,
		When:   All(diskWrites, AtLeast(ReceiverThread, 0.6)),
		Source: "The loop that writes is in calls that write, and its thread runs in them instead of waiting for a disk: it copies to the page cache.",
	},
	{
		Name: "copy_sender_thread", Tests: files, LimitedBy: measure.BottleneckSenderCPU, Confidence: measure.Medium,
		When:   All(diskReads, AtLeast(SenderThread, 0.6)),
		Source: "The loop that reads is in calls that read, and its thread runs in them instead of waiting for a disk: it copies from the page cache.",
	},
	{
		Name: "copy_write", Tests: files, LimitedBy: measure.BottleneckDiskWrite, Confidence: measure.High,
		When:   diskWrites,
		Source: "The loop that writes is in calls that write or flush, and the others wait for it.",
	},
	{
		Name: "copy_read", Tests: files, LimitedBy: measure.BottleneckDiskRead, Confidence: measure.High,
		When:   diskReads,
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
		Name: "copy_both_disks", Tests: files, LimitedBy: measure.BottleneckDiskWrite, Alternatives: []measure.Bottleneck{measure.BottleneckDiskRead}, Confidence: measure.Medium,
		When:   All(AtLeast(CopyRead, 0.6), AtLeast(CopyWrite, 0.6)),
		Source: "Reading and writing take equally long, as on one disk that does both.", NextMeasurement: measure.ProbeStagesApart,
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
}

// copyNetworkRules are the rules of tcp that hold for copies, too, for one that waits for the
// network: they say which limit of it that is, by the connections of the copy.
func copyNetworkRules(tcp []Rule) (out []Rule) {
	for _, r := range tcp {
		if r.Copies {
			out = append(out, Rule{
				Name: "copy_" + r.Name, Tests: files, LimitedBy: r.LimitedBy, Alternatives: r.Alternatives, Confidence: r.Confidence, NextMeasurement: r.NextMeasurement,
				When: All(copyNetwork, r.When), Source: "The copy waits for the network, and its connections are as in `" + r.Name + "`.",
			})
		}
	}
	return out
}

// copyLastRules are tried after all others.
var copyLastRules = []Rule{
	{
		Name: "copy_network", Tests: files, LimitedBy: measure.BottleneckPathShaper, Alternatives: []measure.Bottleneck{measure.BottleneckPathPolicer, measure.BottleneckFlowCap, measure.BottleneckPathLoss}, Confidence: measure.Medium,
		When:   copyNetwork,
		Source: "The source waits to send and the sink for bytes, and its connections do not show why. A test of tcp on the same path tells which limit of the network it is.", NextMeasurement: measure.ProbeSecondStream,
	},
	{
		Name: "copy_files_some", Tests: files, LimitedBy: measure.BottleneckFileCost, Confidence: measure.Medium,
		When:   AtLeast(CopyFile, 0.3),
		Source: "Opening, creating and closing files takes a large part of the time.", NextMeasurement: measure.ProbeStagesApart,
	},
	{
		Name: "copy_receiver_busy", Tests: files, LimitedBy: measure.BottleneckReceiverCPU, Confidence: measure.Medium,
		When:   All(AtLeast(ReceiverThread, 0.6), Below(ThreadLead, 0)),
		Source: "No kind of call takes most of the time; a thread of the end that writes runs or waits for a processor all the time.",
	},
	{
		Name: "copy_sender_busy", Tests: files, LimitedBy: measure.BottleneckSenderCPU, Confidence: measure.Medium,
		When:   AtLeast(SenderThread, 0.6),
		Source: "The same of the end that reads.",
	},
}

// copy are the figures of the whole copy.
func (f *Figures) copy(r *measure.Result) {
	s := wholeCopy(r)
	if s == nil {
		return
	}
	if rate := float64(r.Options.Rate); rate > 0 && (s.Stage == measure.StageAll || s.Stage == measure.StageNetwork) { // the others have no rate
		f.set(AskedRatio, s.Bps()/rate)
	}
	// Shares are relative to the time in which there were connections.
	connected := s.DurationNs
	if cut := min(r.Copy.CutNs(s.Stage), s.DurationNs-1); cut > 0 {
		f.set(CopyCut, float64(cut)/float64(s.DurationNs))
		connected -= cut
	}
	share := func(ns int64, w *measure.CopyWork) float64 {
		streams := int64(max(w.Streams, 1))
		return float64(ns) / float64(max(s.DurationNs*streams-w.CutNs, connected))
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
		there := source.ReadNs + source.HashNs + source.FileNs + max(0, source.BlockedNs-source.CutNs)
		loop := diskLoop{there, float64(lastRead(source, there, s.DurationNs)) / float64(s.DurationNs)}
		f.set(CopyRead, loop.share(source.ReadNs))
		f.set(CopySourceHash, share(source.HashNs, source))
		f.set(CopySendWait, share(source.NetworkNs, source))
		cost = loop.share(source.FileNs)
	}
	if sink != nil {
		flush, each := 0.0, sink.SyncNs
		if r.Copy.Sink != nil && r.Copy.Sink.Sync == "end" {
			flush, each = min(float64(sink.SyncNs)/float64(connected), 1), 0 // once, for all streams
		}
		loop := diskLoop{sink.WriteNs + each + sink.FileNs + max(0, sink.StarvedNs-sink.CutNs), 1 - flush}
		f.set(CopyWrite, loop.share(sink.WriteNs+each)+flush)
		f.set(CopySinkHash, share(sink.HashNs, sink))
		f.set(CopyReceiveWait, share(sink.NetworkNs, sink))
		cost = max(cost, loop.share(sink.FileNs))
	}
	f.set(CopyFile, cost)
	f.set(CopyReadLead, f.less(CopyRead, CopySendWait))
	f.set(CopyWriteLead, f.less(CopyWrite, CopyReceiveWait))
	if source != nil && sink != nil && source.NetworkNs > 0 { // one disk that does both makes either wait
		f.set(CopyDiskLead, f.less(CopyWrite, CopyRead))
	}
	if read, write := r.Copy.StageNamed(measure.StageRead), r.Copy.StageNamed(measure.StageWrite); read != nil && write != nil && read.DurationNs > 0 {
		f.set(CopyWriteTimes, float64(write.DurationNs)/float64(read.DurationNs))
	}
}

// diskLoop is the loop of a copy that reads or writes files. Its streams end at different times
// where a disk serves them unequally, so a share is relative to the time that they were open.
type diskLoop struct {
	there int64   // time of all streams, ns
	until float64 // when the last of them ended, of the length of the copy
}

// share is the part of the copy in which the streams that were there spent this time.
func (l diskLoop) share(ns int64) float64 { return float64(ns) / float64(max(l.there, 1)) * l.until }

// lastRead is when a source had read its files, whose streams were there for so long in all; all,
// the length of the stage, if it has no samples. A sample that has all files is longer
// than the reading, of which then the mean of the streams counts.
func lastRead(source *measure.CopyWork, there, all int64) int64 {
	begin, last := int64(0), all
	for _, x := range source.Samples {
		if x.FileBytes > 0 {
			begin, last = x.StartNs, x.EndNs
		}
	}
	if len(source.Samples) > 0 && begin == 0 {
		last = min(last, there/int64(max(source.Streams, 1)))
	}
	return min(last, all)
}

// less is the difference of two figures; not a number if one is absent.
func (f *Figures) less(of, by Key) float64 {
	a, known := f.Value(of)
	b, both := f.Value(by)
	if !known || !both {
		return math.NaN()
	}
	return a - b
}

// wholeCopy returns the stage that a verdict is about, or nil without one.
func wholeCopy(r *measure.Result) *measure.CopyStage {
	if r.Copy == nil {
		return nil
	}
	if s := r.Copy.Stage(); s != nil && s.DurationNs > 0 {
		return s
	}
	return nil
}

// copyFlow is a copy as a flow of TCP: what its connections moved, those without columns alike,
// and what arrived in each interval. It is nil if no connection has columns.
func copyFlow(r *measure.Result, direction measure.Direction, sender series) *measure.Flow {
	s := wholeCopy(r)
	if s == nil || s.Sink == nil {
		return nil
	}
	f := &measure.Flow{Direction: direction, Summary: measure.Summary{GoodputBps: s.Bps(), DurationNs: measure.Duration(s.DurationNs)}}
	left := s.Sink.NetworkBytes
	for i := range s.Sink.Streams {
		acked, known := sender.sum(fmt.Sprintf("%s.%d.acked_bytes", direction, i))
		if !known {
			break
		}
		f.Streams = append(f.Streams, measure.Stream{Index: i, ReceivedBytes: int64(acked)})
		left -= int64(acked)
	}
	if len(f.Streams) == 0 {
		return nil
	}
	others := s.Sink.Streams - len(f.Streams)
	for range others {
		f.Streams = append(f.Streams, measure.Stream{Index: len(f.Streams), ReceivedBytes: max(left, 0) / int64(others)})
	}
	for _, x := range s.Sink.Samples {
		f.Samples = append(f.Samples, measure.Sample{StartNs: x.StartNs, EndNs: x.EndNs, ReceivedBytes: x.NetworkBytes})
	}
	return f
}

// stageOf is the stage of a copy that has a limit.
var stageOf = map[measure.Bottleneck]string{
	measure.BottleneckDiskRead: measure.StageRead, measure.BottleneckDiskWrite: measure.StageWrite,
	measure.BottleneckPathShaper: measure.StageNetwork, measure.BottleneckPathPolicer: measure.StageNetwork,
	measure.BottleneckFlowCap: measure.StageNetwork, measure.BottleneckPathLoss: measure.StageNetwork,
	measure.BottleneckReceiveWindow: measure.StageNetwork, measure.BottleneckSendBuffer: measure.StageNetwork,
	measure.BottleneckFlowHashing: measure.StageNetwork, measure.BottleneckPacketRate: measure.StageNetwork,
	measure.BottleneckCompetingTraffic: measure.StageNetwork, measure.BottleneckBurstAllowance: measure.StageNetwork,
}

// durationWithoutLimit returns how long a copy would take without its slowest stage, in ns:
// as long as the slowest of the others, by their rates alone. It returns 0 if they were not
// measured, if one of the others is as slow, or if the verdict leaves open which stage it is.
func durationWithoutLimit(c *measure.Copy, v *measure.Verdict) int64 {
	limiting := stageOf[v.LimitedBy]
	if slices.ContainsFunc(v.Alternatives, func(b measure.Bottleneck) bool { return stageOf[b] != limiting }) {
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
