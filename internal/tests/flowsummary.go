package tests

import (
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/text"
)

func flowSummary(out *text.Lines, r *measure.Result) {
	for _, f := range r.Flows {
		label := "label.goodput"
		if len(r.Flows) > 1 {
			label = "label.direction." + string(f.Direction)
		}
		goodputSummary(out, label, r, f)
		s := f.Summary
		if s.Fairness != nil {
			out.Row("label.fairness", "summary.fairness", text.Args{
				"Index": s.Fairness.JainIndex, "Min": s.Fairness.MinBps, "Max": s.Fairness.MaxBps, "Median": s.Fairness.MedianBps})
		}
		out.Row("label.moved", "summary.moved", text.Args{"Sent": s.SentBytes, "Received": s.ReceivedBytes})
		if s.Retransmits != nil {
			out.Row("label.resent", "summary.resent", text.Args{"Segments": *s.Retransmits})
		}
		if s.LossRatio != nil {
			out.Row("label.packets", "summary.packets", text.Args{"PerSecond": s.PacketsPerSecond, "Lost": s.PacketsLost, "Sent": s.PacketsSent,
				"Loss": *s.LossRatio, "Reordered": s.PacketsReordered, "Duplicated": s.PacketsDuplicated})
		}
		if n := s.SocketDrops; n != nil && *n > 0 && s.PacketsLost > 0 {
			out.Under("summary.socket_drops", text.Args{"N": min(*n, s.PacketsLost)})
		}
		if s.JitterNs != nil {
			out.Row("label.jitter", "summary.jitter", text.Args{"Jitter": *s.JitterNs})
		}
	}
	if r.UnderLoad != nil {
		underLoadSummary(out, r)
	}
	if len(r.Flows) > 1 {
		out.Row("label.together", "summary.together", text.Args{"Goodput": r.Summary.GoodputBps})
	}
}

// goodputSummary says what the receiver got, who counted, and what the figure of a TCP flow
// is: figures of bytes that were read and of bytes that the kernel discarded must not be
// compared (docs/decisions/0010-goodput-is-what-the-path-carries.md).
func goodputSummary(out *text.Lines, label string, r *measure.Result, f measure.Flow) {
	s := f.Summary
	switch {
	case s.GoodputBps == 0 && s.ReceivedBytes == 0:
		out.Row(label, "summary.goodput.unknown", nil)
		return
	case s.GoodputBps == 0 && s.DurationNs == 0:
		out.Row(label, "summary.goodput.at_once", text.Args{"Bytes": s.ReceivedBytes})
		return
	case f.Acknowledged:
		out.Row(label, "summary.goodput.acknowledged", text.Args{"Goodput": s.GoodputBps})
	default:
		out.Row(label, "summary.goodput.received", text.Args{"Goodput": s.GoodputBps})
	}
	if !option.CanDiscard(r.Test) || f.RXPath == "" {
		return
	}
	paths := text.Args{"TX": f.TXPath, "RX": f.RXPath}
	if f.Discarded() {
		paths["Read"] = readAtMost(r, f)
		out.Under("summary.capture.discarded", paths)
	} else {
		out.Under("summary.capture.read", paths)
	}
}

// readAtMost is what an application on the receiving host reads at most in one stream, by the stored
// loopback baseline of that host, in bit/s, or 0 if it is unknown. Only the client has one.
func readAtMost(r *measure.Result, f measure.Flow) (bps float64) {
	client := r.Hosts.Client
	if f.Direction != measure.Reverse || client == nil || client.Floor == nil {
		return 0
	}
	for _, g := range client.Floor.Goodput {
		if g.RXPath == "read" {
			bps = max(bps, g.GoodputBps)
		}
	}
	return bps
}

// underLoadSummary writes the latency of the path under load.
func underLoadSummary(out *text.Lines, r *measure.Result) {
	if p := r.Summary.IdleRTT; p != nil {
		out.Row("label.idle", "summary.under_load", latencyArgs(p))
	}
	if p := r.Summary.LoadedRTT; p != nil {
		out.Row("label.loaded", "summary.under_load", latencyArgs(p))
	}
	if r.Summary.RPM > 0 {
		out.Row("label.response", "summary.rpm", text.Args{"RPM": r.Summary.RPM})
	}
}
