package verdict

import (
	"math"

	"soku/internal/measure"
)

// unlike is the standard deviation of the datagrams that samples sent, divided by their mean, from which
// what was lost of more of them is known: a sender on a busy host pauses and catches up.
const unlike = 0.1

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
	var lost, all, counts []float64
	for i, sample := range flow.Samples {
		if n := float64(sample.Packets + sample.Lost); n > 0 && i >= 2 && i < len(flow.Samples)-2 {
			lost, all, counts = append(lost, float64(sample.Lost)/n), append(all, n), append(counts, float64(sample.Lost))
		}
	}
	share := median(lost)
	if len(lost) < 6 || share <= 0 || share >= 1 {
		return
	}
	if sent := squares(all); math.Sqrt(sent/float64(len(all))) >= unlike*mean(all) {
		ratio := mean(counts) / mean(all)
		f.set(LossOfMore, (correlation(all, counts)*math.Sqrt(squares(counts)/sent)-ratio)/(1-ratio))
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
