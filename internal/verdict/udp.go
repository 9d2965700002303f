package verdict

import (
	"math"

	"soku/internal/measure"
)

// udp are the figures of datagrams.
func (f *Figures) udp(r *measure.Result, flow *measure.Flow, e ends) {
	if flow == nil {
		return
	}
	f.set(DatagramBytes, float64(r.Options.Size))
	s := flow.Summary
	if s.LossRatio != nil {
		f.set(LossRatio, *s.LossRatio)
	}
	if s.SocketDrops != nil {
		f.set(SocketDrops, float64(*s.SocketDrops)/float64(max(s.PacketsLost, 1)))
	}
	arrived := float64(s.ReceivedBytes)
	if s.SocketDrops != nil {
		arrived += float64(*s.SocketDrops) * float64(r.Options.Size)
	}
	f.other(r, flow, e, float64(s.SentBytes), arrived, arrived, udpOverhead(r.Options))
	var lost, all []float64
	for i, sample := range flow.Samples {
		if n := float64(sample.Packets + sample.Lost); n > 0 && i >= 2 && i < len(flow.Samples)-2 {
			lost, all = append(lost, float64(sample.Lost)/n), append(all, n)
		}
	}
	share := median(lost)
	if len(lost) < 6 || share <= 0 || share >= 1 {
		return
	}
	// The median of the absolute deviations times 1.4826 is the standard deviation of a normal
	// distribution, and one pause of a busy host does not move it.
	deviations := make([]float64, len(lost))
	for i, v := range lost {
		deviations[i] = math.Abs(v - share)
	}
	sigma := median(deviations) * 1.4826
	f.set(LossVariance, sigma*sigma*median(all)/(share*(1-share)))
}
