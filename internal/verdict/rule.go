package verdict

import (
	"cmp"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
)

// Rule says what limited a trial whose figures fulfil a condition.
type Rule struct {
	Name  string // unique; in documents and in docs/method.md
	Tests []measure.Test
	// Copies is set if a rule of tcp also holds for a copy that waits for the network. Other rules
	// of tcp do not hold: a copy has rules of its own for processors; how much a stream moves
	// depends on the files that it took; and rates and delays vary because streams pause while
	// files are opened and disks work.
	Copies          bool
	LimitedBy       measure.Bottleneck
	Alternatives    []measure.Bottleneck // limits that the same figures fit
	When            Condition
	Confidence      measure.Confidence
	NextMeasurement measure.Probe // distinguishes LimitedBy from Alternatives, or raises a low confidence
	Source          string        // why these figures mean that
}

// Judge returns what limited a trial, or nil for a test without rules, a trial that moved nothing
// and a failed trial that no rule explains. With two directions, the verdict is about the
// one that is limited with the higher confidence, forward first.
func Judge(r *measure.Result) *measure.Verdict {
	if len(r.Flows) == 0 && r.Connect == nil && r.Copy == nil || !slices.ContainsFunc(Rules, func(rule Rule) bool { return slices.Contains(rule.Tests, r.Test) }) {
		return nil
	}
	directions := []measure.Direction{measure.Forward}
	if r.Copy != nil {
		directions = r.Options.Direction.Flows()
	}
	if len(r.Flows) > 0 {
		directions = nil
		for _, f := range r.Flows {
			directions = append(directions, f.Direction)
		}
	}
	var best *measure.Verdict
	for _, d := range directions {
		v := judge(FiguresOf(r, d), r.Test)
		if len(directions) > 1 {
			v.Direction = d
		}
		if best == nil || weight(v) > weight(best) {
			best = v
		}
	}
	if r.Copy != nil {
		best.DurationWithoutLimitNs = durationWithoutLimit(r.Copy, best)
	}
	if len(r.Findings.With(finding.HostBusy)) > 0 {
		lessCertain(best)
	}
	if best.LimitedBy == measure.BottleneckApplication {
		best.Rate = rateLimit(r)
	}
	if r.Error != nil && best.LimitedBy == measure.BottleneckNone {
		return nil
	}
	best.Remedy = remedyOf(r, best)
	return best
}

// lessCertain lowers the confidence of what was seen on a busy host.
func lessCertain(v *measure.Verdict) {
	switch {
	case v.Rule == "queue_unsteady": // the work of the host makes the goodput vary, too
		v.Confidence = measure.Low
	case v.Confidence == measure.High && !counted(v):
		v.Confidence, v.NextMeasurement = measure.Medium, cmp.Or(v.NextMeasurement, measure.ProbeAnotherTime)
	}
}

// counted reports whether a verdict rests on what a kernel, a driver or the program counts, which is as certain
// on a busy host. Threads that wait, round trips and windows, which a late reader keeps small, are not.
func counted(v *measure.Verdict) bool {
	switch v.LimitedBy {
	case measure.BottleneckApplication, measure.BottleneckNone, measure.BottleneckInstanceAllowance,
		measure.BottleneckDiskRead, measure.BottleneckDiskWrite, measure.BottleneckFileCost:
		return true
	}
	return slices.Contains([]string{"receiver_quota", "sender_quota", "copy_receiver_quota", "copy_sender_quota", "udp_socket", "udp_socket_shared", "connect_queue_full", "connect_conntrack"}, v.Rule)
}

// rateLimit is the rate of a trial if the person did not choose it, otherwise nil.
func rateLimit(r *measure.Result) *measure.RateLimit {
	rate := r.Options.Rate
	if rate == 0 {
		return nil
	}
	for _, f := range r.Findings.With(finding.ServerLoweredRate) {
		asked, _ := f.Number("requested_bps")
		return &measure.RateLimit{Source: measure.RateOfServer, Bps: rate, RequestedBps: measure.Rate(asked)}
	}
	if rate == option.Defaults(r.Test).Rate {
		return &measure.RateLimit{Source: measure.RateOfDefault, Bps: rate}
	}
	return nil
}

// ofPath reports whether a rule is about a queue of the path, or suspects its losses. Over loopback
// packets wait for a processor, and a full socket drops some.
func ofPath(rule Rule) bool {
	switch rule.LimitedBy {
	case measure.BottleneckPathShaper, measure.BottleneckFlowCap, measure.BottleneckFlowHashing, measure.BottleneckCompetingTraffic:
		return true
	case measure.BottleneckPathLoss:
		return rule.Confidence == measure.Low
	}
	return false
}

func judge(f *Figures, test measure.Test) *measure.Verdict {
	for _, rule := range Rules {
		if !slices.Contains(rule.Tests, test) || f.queueless && ofPath(rule) {
			continue
		}
		if held, evidence := rule.When.holds(f); held == yes {
			return &measure.Verdict{
				LimitedBy: rule.LimitedBy, Confidence: rule.Confidence, Alternatives: rule.Alternatives, Rule: rule.Name,
				Evidence: distinct(evidence), NextMeasurement: rule.NextMeasurement,
			}
		}
	}
	none := &measure.Verdict{LimitedBy: measure.BottleneckNone, Confidence: measure.Low, NextMeasurement: measure.ProbeLonger}
	if n, known := f.Value(Streams); known && n < 2 && test == measure.TestTCP {
		none.NextMeasurement = measure.ProbeSecondStream
	}
	return none
}

// distinct has of each figure, and of each comparison with it, the strictest threshold.
func distinct(evidence []measure.Evidence) []measure.Evidence {
	var out []measure.Evidence
	for _, e := range evidence {
		i := slices.IndexFunc(out, func(o measure.Evidence) bool { return o.Figure == e.Figure && o.Comparison == e.Comparison })
		switch {
		case i < 0:
			out = append(out, e)
		case (e.Comparison == ">=") == (e.Threshold > out[i].Threshold):
			out[i] = e
		}
	}
	return out
}

// weight orders verdicts by how much they say.
func weight(v *measure.Verdict) int {
	w := map[measure.Confidence]int{measure.Medium: 1, measure.High: 2}[v.Confidence]
	if v.LimitedBy != measure.BottleneckNone && v.LimitedBy != measure.BottleneckApplication {
		w += 3
	}
	return w
}
