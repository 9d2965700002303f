package trial

import (
	"math"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/stats"
)

// warnLevels reports a flow whose rate had two or more levels, each for two seconds or more,
// with the largest change between them. A drop that a loss explains is no level.
func warnLevels(f *measure.Flow, received *measure.FlowEnd, o measure.Options, r *measure.Result) {
	losses, known := lossesOf(f)
	if !known {
		return
	}
	end := received.DurationNs
	if o.Duration > 0 && int64(o.Duration) < end {
		end = int64(o.Duration)
	}
	parts := stats.FindLevels(received.Samples, end, losses).Parts
	most := 0
	size := func(i int) float64 { return math.Abs(math.Log(parts[i].Bps / parts[i-1].Bps)) }
	for i := 1; i < len(parts); i++ {
		if most == 0 || size(i) > size(most) {
			most = i
		}
	}
	if most == 0 {
		return
	}
	r.Findings.Add(finding.RateLevels, measure.Where(f.Direction), measure.Figures{
		"levels": len(parts), "at_ns": parts[most].StartNs, "from_bps": parts[most-1].Bps, "to_bps": parts[most].Bps,
	})
}

// keptAfterLoss is the share of its window that a congestion control keeps after a loss: RFC
// 9438, section 4.6, and RFC 5681, section 3.2. Those that are not here do not slow down on a
// single loss.
var keptAfterLoss = map[string]float64{"cubic": 0.7, "reno": 0.5}

// lossesOf are the losses that explain a drop of the flow's rate: those of its only TCP
// connection. Among several connections, and datagrams, one loss explains none. They are not
// known where the sender has no samples of its kernel.
func lossesOf(f *measure.Flow) (losses stats.LossEvents, known bool) {
	if len(f.Streams) != 1 || f.Streams[0].Packets != nil {
		return stats.LossEvents{}, true
	}
	var before int64
	for _, s := range f.Streams[0].Samples {
		if s.TCP == nil {
			continue
		}
		known = true
		losses.Keeps = keptAfterLoss[s.TCP.Congestion]
		if s.TCP.Retransmits > before {
			losses.Within = append(losses.Within, stats.LossSpan{FromNs: s.StartNs, ToNs: s.EndNs})
		}
		before = s.TCP.Retransmits
	}
	if losses.Keeps == 0 {
		return stats.LossEvents{}, known
	}
	return losses, known
}
