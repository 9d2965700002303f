package trial

import (
	"sync"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// liveCount keeps what the other end's receiver reports in live intervals. Of a trial that
// breaks off before its count they are all that is known of what arrived there. The zero
// value has heard nothing.
type liveCount struct {
	mu                       sync.Mutex
	ns, bytes, packets, lost int64
}

// farReceives is the direction that the far end receives in, the only one.
const farReceives = measure.Forward

// of returns an observer of the far end's intervals that passes them on to next.
func (l *liveCount) of(next measure.Observer) measure.Observer {
	return func(p measure.Progress) {
		if p.Direction == farReceives && p.Role == measure.Receiver {
			l.mu.Lock()
			l.ns, l.bytes, l.packets, l.lost = p.EndNs, l.bytes+p.Bytes, l.packets+p.Packets, l.lost+p.Lost
			l.mu.Unlock()
		}
		next(p)
	}
}

// into fills in the flow of r that the far end received, where its count is missing.
func (l *liveCount) into(r *measure.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range r.Flows {
		f := &r.Flows[i]
		if f.Direction != farReceives || f.Summary.ReceivedBytes > 0 || l.bytes <= 0 || l.ns <= 0 {
			continue
		}
		l.fill(&f.Summary)
		sum := total(r.Flows)
		sum.IdleRTT, sum.LoadedRTT, sum.RPM = r.Summary.IdleRTT, r.Summary.LoadedRTT, r.Summary.RPM // from round trips under load
		r.Summary = sum
	}
}

func (l *liveCount) fill(s *measure.Summary) {
	s.ReceivedBytes, s.DurationNs = l.bytes, measure.Duration(l.ns)
	s.GoodputBps = float64(l.bytes) * 8e9 / float64(l.ns)
	s.SetConfidence(measure.Low, measure.NewFinding(finding.BrokenOff, "", measure.Figures{"counted_ns": l.ns}))
	if l.packets <= 0 {
		return
	}
	s.PacketsReceived, s.PacketsLost = l.packets, max(0, l.lost)
	s.PacketsSent = s.PacketsReceived + s.PacketsLost
	s.PacketsPerSecond = float64(l.packets) * 1e9 / float64(l.ns)
	s.LossRatio = new(float64(s.PacketsLost) / float64(s.PacketsSent))
}
