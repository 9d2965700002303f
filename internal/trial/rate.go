package trial

import (
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
)

// A rate was not reached if it is lower than requested by more than rateShort of it plus the
// error of counting: one unit of the schedule, and what is due within holdUp, for which a busy
// host may stop a loop right at the end.
const (
	rateShort = 0.01
	holdUp    = 20e6 // ns
)

// writeTime is how much of a rate one write to TCP has, in seconds; at least a segment.
const writeTime = 0.005

// lateMost is the share of late requests up to which a schedule was kept: a loop that is
// stopped once catches up, and one that is too slow stays late.
const lateMost = 0.1

// warnRate reports rates that were requested and not reached, by the counts of both ends
// of a trial that ran to its end, and lowers the confidence of what was measured.
func warnRate(r *measure.Result, ends ...*measure.End) {
	switch {
	case r.Connect != nil:
		warnConnectionRate(r)
	case r.Latency != nil:
		warnRequestRate(r)
	case r.Options.Rate > 0:
		for i := range r.Flows {
			f := &r.Flows[i]
			sent := flowEnd(f.Direction, measure.Sender, ends...)
			if finding, short := flowRate(f, sent, r); short {
				r.Findings = append(r.Findings, finding)
				lessSure(&f.Summary, measure.Medium, notReached(""))
				lessSure(&r.Summary, measure.Medium, notReached(finding.Where))
			}
		}
	}
}

// lessSure lowers the confidence of s to c, if it is higher.
func lessSure(s *measure.Summary, c measure.Confidence, why measure.Finding) {
	if trust(s.Confidence) > trust(c) {
		s.SetConfidence(c, why)
	}
}

// notReached is the reason of a confidence that a rate was not reached.
func notReached(where measure.Where) measure.Finding {
	return measure.NewFinding(finding.RateNotReached, where, nil)
}

// flowRate is the finding about a flow that did not reach its rate: of its sender, where
// that sent less, or else of its receiver.
func flowRate(f *measure.Flow, sent *measure.FlowEnd, r *measure.Result) (found measure.Finding, short bool) {
	o, offered := r.Options, float64(r.Options.Rate)
	received, where := f.Summary.GoodputBps, measure.Where(f.Direction)
	figures := measure.Figures{"offered_bps": offered}
	sentShort := false
	if sent != nil {
		if bps, seconds := sentRate(f, sent, o); seconds > 0 {
			figures["sent_bps"] = bps
			sentShort = bps < leastRate(o, seconds)
		}
	}
	// The receiver's rate in the steady part decides whether the rate was reached, if it is
	// known: a sender that was held up once has a lower rate over the whole test.
	short = sentShort
	switch from, to := f.Summary.SteadyStartNs, f.Summary.DurationNs; {
	case received > 0 && to > from:
		figures["received_bps"] = received
		short = received < leastRate(o, (to-from).Std().Seconds())
	case f.Summary.LossRatio != nil && f.Summary.PacketsReceived == 0: // all of them were lost
		figures["received_bps"] = 0
		short = true
	}
	if o.Streams > 1 {
		figures["slow_streams"] = slowStreams(f, offered/float64(o.Streams))
	}
	switch {
	case !short:
		return found, false
	case option.OverUDP(r.Options, r.Test) && sentShort, idleSender(f, sent):
		return measure.NewFinding(finding.RateNotSent, where, figures), true
	case !option.OverUDP(r.Options, r.Test):
		return measure.NewFinding(finding.RateNotCarried, where, figures), true
	}
	return measure.NewFinding(finding.RateNotReceived, where, figures), true
}

// leastRate is the lowest rate, counted over a time, that is as requested.
func leastRate(o measure.Options, seconds float64) float64 {
	offered, unit := float64(o.Rate), float64(option.Unit(o))*8
	if o.Size == 0 && o.Burst == 0 {
		unit = max(unit, offered*writeTime)
	}
	return offered*(1-rateShort) - (unit+offered*holdUp/1e9)/seconds
}

// sentRate is what the sender of a flow sent a second, and over which time.
func sentRate(f *measure.Flow, sent *measure.FlowEnd, o measure.Options) (bps, seconds float64) {
	ns := sent.DurationNs
	if o.Bytes == 0 {
		ns = max(ns, int64(o.Duration)) // the last unit is due up to a gap before the end
	}
	if ns <= 0 {
		return 0, 0
	}
	return float64(f.Summary.SentBytes) * 8e9 / float64(ns), float64(ns) / 1e9
}

// idleMost is the share of the time that a TCP connection may have nothing to send though
// it carries less than offered.
const idleMost = 0.2

// idleSender reports whether TCP had nothing to send for a part of the time, so that the
// sending program was too slow and not the connection. It returns false if the sender's kernel
// does not report this.
func idleSender(f *measure.Flow, sent *measure.FlowEnd) bool {
	if sent == nil {
		return false
	}
	for _, s := range f.Streams {
		if s.TCP == nil || s.TCP.BusyNs == 0 || float64(s.TCP.BusyNs) > (1-idleMost)*float64(sent.DurationNs) {
			return false
		}
	}
	return len(f.Streams) > 0
}

// slowStreams is how many streams got less than their share of a rate.
func slowStreams(f *measure.Flow, share float64) (n int) {
	for _, bps := range f.StreamBps() {
		if bps < share*(1-2*rateShort) {
			n++
		}
	}
	return n
}
