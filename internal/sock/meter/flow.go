package meter

import "soku/internal/measure"

// Begun reports whether the measured part of the flow has begun.
func (r *Recorder) Begun() bool { return r.begun }

// Total returns what stream moved in the measured part, after [Recorder.End]. Next is how
// many sequence numbers lie in it.
func (r *Recorder) Total(stream int) Count {
	if !r.begun {
		return Count{}
	}
	return r.final.counts[stream].since(r.base.counts[stream])
}

// Raw returns what stream moved including the omitted start, after [Recorder.End].
func (r *Recorder) Raw(stream int) Count { return r.final.counts[stream] }

// Flow returns this end's count, after [Recorder.End]. Its times count from the beginning
// of the measured part, which StartNs gives relative to the call. A flow that ended
// before it has no samples and no bytes.
func (r *Recorder) Flow() measure.FlowEnd {
	f := measure.FlowEnd{
		Direction: r.cfg.Direction, Role: r.cfg.Role,
		Streams: make([]measure.Stream, len(r.cells)), Samples: r.steps.items,
	}
	if r.begun {
		f.StartNs = max(int64(r.base.at.Sub(r.called)), 0)
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

// Info returns the kernel's present TCP_INFO of stream, with retransmits counted from the
// beginning of the measured part, or false if the kernel does not report it.
func (r *Recorder) Info(stream int) (measure.TCPInfo, bool) { return r.info(stream) }
