package trial

import (
	"soku/internal/engine/ping"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
	"soku/internal/stats"
)

// warnRequestRate reports requests that left later than their schedule, and replies that
// came back slower than requests were due. The schedule of requests over TCP is also late
// because replies are: what is not answered fills the queues of the connection.
func warnRequestRate(r *measure.Result) {
	l := r.Latency
	offered := r.Options.RequestRate
	if r.Test == measure.TestPing {
		offered = ping.RequestRate(r.Options)
	}
	if offered <= 0 || l.LastSentNs <= 0 || r.Summary.RTT == nil {
		return
	}
	span, late := float64(l.LastSentNs), float64(l.LastSentNs-l.LastDueNs)
	lag, growth := replyLag(l, late)
	sent := offered * float64(l.LastDueNs) / span
	answered := offered * float64(l.LastDueNs) / (span + lag)
	figures := measure.Figures{"offered_per_second": offered, "sent_per_second": sent, "answered_per_second": answered}
	unsent := late > slack(span, offered) && float64(l.LateSends) > lateMost*float64(l.Sent)
	overTCP := r.Test == measure.TestLatency && !option.OverUDP(r.Options, r.Test)
	behind := growth > slack(span, offered) || overTCP && unsent && lag > slack(span, offered)
	if behind {
		r.Findings.Add(finding.RepliesFellBehind, "", figures)
	}
	if unsent && (!behind || !overTCP) {
		delete(figures, "answered_per_second")
		r.Findings.Add(finding.RequestsNotSent, measure.AtClient, figures)
	}
	if behind || unsent {
		lessSure(&r.Summary, measure.Low, notReached(""))
	}
}

// slack is by how much the last of a schedule may be late, in ns.
func slack(spanNs, perSecond float64) float64 { return rateShort*spanNs + 1e9/perSecond + holdUp }

// replyLag is by how much more the replies to the last tenth of the requests lagged than the
// fastest reply, and than those of the first half, in ns. A queue of constant length makes
// them lag and does not grow. lateNs is how late the last request left.
func replyLag(l *measure.Latency, lateNs float64) (lag, growth float64) {
	n := len(l.Series)
	if n < 10 {
		return 0, 0
	}
	last, first := medianOf(l.Series[n-n/10:])-lateNs, medianOf(l.Series[:n/2])
	return max(0, last-l.Histogram.Percentiles().Min), max(0, last-first)
}

func medianOf(points []measure.LatencyPoint) float64 {
	values := make([]float64, len(points))
	for i, p := range points {
		values[i] = float64(p.P50Ns)
	}
	return stats.Median(values)
}

// warnConnectionRate reports connections that were opened later than their schedule.
func warnConnectionRate(r *measure.Result) {
	l, c, offered := r.Latency, r.Connect, r.Options.RequestRate
	if offered <= 0 || l.Sent == 0 || r.Summary.RTT == nil {
		return
	}
	span := max(float64(c.DurationNs)-r.Summary.RTT.Min, float64(r.Options.Duration))
	missing := offered*span/1e9 - float64(l.Sent)
	if missing <= (rateShort*span+holdUp)*offered/1e9+1 || float64(l.LateSends) <= lateMost*float64(l.Sent) {
		return
	}
	figures := measure.Figures{"offered_per_second": offered, "opened_per_second": c.OpenedPerSecond}
	if c.Accepted != nil {
		figures["accepted_per_second"] = c.AcceptedPerSecond
	}
	r.Findings.Add(finding.ConnectionsNotOpened, measure.AtClient, figures)
	lessSure(&r.Summary, measure.Low, notReached(""))
}
