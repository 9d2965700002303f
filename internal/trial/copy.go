package trial

import (
	"slices"

	"soku/internal/measure"
)

// assembleCopy makes the figures of a copy from what the client's end counted and, unless
// that was alone, the server's.
func assembleCopy(r *measure.Result, own, other *measure.Copy) {
	r.Copy = joinCopy(own, other)
	s := &r.Summary
	stage := r.Copy.Stage()
	if stage == nil {
		return
	}
	s.SentBytes, s.ReceivedBytes, s.DurationNs = stage.Bytes, stage.Bytes, measure.Duration(stage.DurationNs)
	s.GoodputBps = stage.Bps()
}

// joinCopy is a copy as both ends counted it. The clock of a stage is the source's, whose
// last moment is when everything is written at the other end; files and bytes are counted
// where they are received.
func joinCopy(own, other *measure.Copy) *measure.Copy {
	if other == nil {
		return own
	}
	source, sink := own, other
	if own.Files == 0 {
		source, sink = other, own
	}
	out := *source
	out.Sink, out.Verified = sink.Sink, max(sink.Verified, 0)
	out.Stages = slices.Clone(source.Stages)
	for i := range out.Stages {
		s := &out.Stages[i]
		s.DurationNs, s.Bytes, s.Files = max(s.DurationNs, 0), max(s.Bytes, 0), max(s.Files, 0)
		if half := sink.StageNamed(s.Stage); half != nil {
			s.Sink, s.Bytes, s.Files = half.Sink, max(half.Bytes, 0), max(half.Files, 0)
		}
	}
	out.Cuts = plausibleCuts(source.Cuts)
	return &out
}

// plausibleCuts are the cuts that an end reported, without what no cut has.
func plausibleCuts(cuts []measure.CopyCut) []measure.CopyCut {
	out := slices.Clone(cuts[:min(len(cuts), measure.MostCopyCuts)])
	for i := range out {
		c := &out[i]
		c.StartNs, c.DurationNs = max(0, min(c.StartNs, longestNs)), max(0, min(c.DurationNs, longestNs))
		c.Stream, c.ResentBytes = max(0, c.Stream), max(0, min(c.ResentBytes, longestNs))
	}
	return out
}

// longestNs keeps sums of what the other end reported within 64 bits.
const longestNs = 1 << 50
