package trial

import (
	"fmt"
	"sync"
	"time"

	"soku/internal/measure"
)

// liveCount keeps the live intervals that the far end's receivers tell. Of a trial that
// breaks off before their count they are all that is known of what arrived.
type liveCount struct {
	mu    sync.Mutex
	flows map[measure.Direction]liveFlow
}

type liveFlow struct{ ns, bytes, packets, lost int64 }

// of returns an observer of the far end's intervals that passes them on to next.
func (l *liveCount) of(next measure.Observer) measure.Observer {
	l.flows = map[measure.Direction]liveFlow{}
	return func(p measure.Progress) {
		known := p.Direction == measure.Forward || p.Direction == measure.Reverse // it comes from outside
		if known && p.Role == measure.Receiver {
			l.mu.Lock()
			f := l.flows[p.Direction]
			l.flows[p.Direction] = liveFlow{p.EndNs, f.bytes + p.Bytes, f.packets + p.Packets, f.lost + p.Lost}
			l.mu.Unlock()
		}
		next(p)
	}
}

// into fills in the flows of r of which the receiver's count is missing.
func (l *liveCount) into(r *measure.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	filled := false
	for i := range r.Flows {
		s := &r.Flows[i].Summary
		f := l.flows[r.Flows[i].Direction]
		if s.ReceivedBytes > 0 || f.bytes <= 0 || f.ns <= 0 {
			continue
		}
		filled = true
		s.ReceivedBytes, s.DurationNs = f.bytes, measure.Duration(f.ns)
		s.GoodputBps = float64(f.bytes) * 8e9 / float64(f.ns)
		s.Confidence = measure.Low
		s.ConfidenceReason = fmt.Sprintf("the test broke off; this is what the receiver told of the first %s", time.Duration(f.ns).Round(10*time.Millisecond))
		if r.Test == measure.TestUDP && f.packets > 0 {
			s.PacketsReceived, s.PacketsLost, s.PacketsSent = f.packets, max(0, f.lost), f.packets+max(0, f.lost)
			s.PacketsPerSecond = float64(f.packets) * 1e9 / float64(f.ns)
			loss := float64(s.PacketsLost) / float64(s.PacketsSent)
			s.LossRatio = &loss
		}
	}
	if filled {
		sum := total(r.Flows)
		sum.IdleRTT, sum.LoadedRTT, sum.RPM = r.Summary.IdleRTT, r.Summary.LoadedRTT, r.Summary.RPM // of round trips beside them
		r.Summary = sum
	}
}
