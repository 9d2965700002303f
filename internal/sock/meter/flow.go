package meter

import "soku/internal/measure"

// Begun tells whether the flow came to its measured part.
func (r *Recorder) Begun() bool { return r.begun }

// Total is what stream moved in the measured part, after [Recorder.End].
// Next is how many numbers of the sequence lie in it.
func (r *Recorder) Total(stream int) Count {
	if !r.begun {
		return Count{}
	}
	return r.final.counts[stream].since(r.base.counts[stream])
}

// Raw is what stream moved with what is left out, after [Recorder.End].
func (r *Recorder) Raw(stream int) Count { return r.final.counts[stream] }

// Flow is this end's count, after [Recorder.End]. Its times count from the
// measured part's beginning, which StartNs gives relative to the call.
// A flow that ended before that has no samples and no bytes.
func (r *Recorder) Flow() measure.FlowEnd {
	f := measure.FlowEnd{
		Direction: r.cfg.Direction, Role: r.cfg.Role,
		Streams: make([]measure.Stream, len(r.cells)), Samples: r.steps.items,
	}
	if r.begun {
		f.StartNs = int64(r.base.at.Sub(r.called))
		f.DurationNs = max(r.ns(r.last()), 0)
	}
	client := (r.cfg.Direction == measure.Forward) == (r.cfg.Role == measure.Sender)
	for i := range f.Streams {
		s := &f.Streams[i]
		s.Index, s.Samples = i, r.streams[i].items
		s.Local, s.Remote = r.cfg.Conns[i].LocalAddr().String(), r.cfg.Conns[i].RemoteAddr().String()
		if !client {
			s.Local, s.Remote = s.Remote, s.Local
		}
		if r.cfg.Role == measure.Sender {
			s.SentBytes = r.Total(i).Bytes
		} else {
			s.ReceivedBytes = r.Total(i).Bytes
		}
	}
	return f
}

// Info is the kernel's view of stream now, with retransmits counted from the
// beginning of the measured part; false where the kernel does not tell.
func (r *Recorder) Info(stream int) (measure.TCPInfo, bool) { return r.info(stream) }
