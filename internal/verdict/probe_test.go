package verdict

import (
	"slices"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/option"
	_ "soku/internal/tests" // their options
)

// trialOf is a trial of TCP or UDP with a goodput in bit/s.
func trialOf(test measure.Test, bps float64) *measure.Result {
	r := &measure.Result{ID: "first", Test: test, Options: option.Defaults(test)}
	r.Options.Streams, r.Options.Congestion, r.Options.Port = 1, "cubic", 7000
	r.Summary.GoodputBps = bps
	r.Flows = []measure.Flow{{Direction: measure.Forward}}
	return r
}

// explained is what the steps of a trial with a verdict conclude, if each is measured as said.
func explained(t *testing.T, first *measure.Result, as func(Step, *measure.Result)) *measure.Verdict {
	t.Helper()
	var trials []*measure.Result
	for _, s := range Steps(first) {
		if _, err := option.Effective(s.Options, s.Test); err != nil {
			t.Fatalf("step %s: %v", s.Name, err)
		}
		r := trialOf(s.Test, first.Summary.GoodputBps)
		r.Options, r.Explains = s.Options, &measure.Explains{Result: first.ID, Probe: first.Verdict.NextMeasurement, Step: s.Name}
		r.Summary.DurationNs = s.Options.Duration
		r.Summary.SentBytes = int64(float64(s.Options.Rate) / 8 * s.Options.Duration.Std().Seconds())
		as(s, r)
		trials = append(trials, r)
	}
	return Conclude(first, trials)
}

func lost(r *measure.Result, share float64) { r.Summary.LossRatio = &share }

// afterRule is a trial that a rule judged.
func afterRule(t *testing.T, name string, bps float64) *measure.Result {
	t.Helper()
	rule := Rule{Tests: []measure.Test{measure.TestTCP}, LimitedBy: measure.BottleneckNone, Confidence: measure.Low, NextMeasurement: measure.ProbeSecondStream}
	if name != "" {
		i := slices.IndexFunc(Rules, func(r Rule) bool { return r.Name == name })
		if i < 0 {
			t.Fatalf("no rule %s", name)
		}
		rule = Rules[i]
	}
	r := trialOf(rule.Tests[0], bps)
	r.Verdict = &measure.Verdict{LimitedBy: rule.LimitedBy, Alternatives: rule.Alternatives, Confidence: rule.Confidence, Rule: name, NextMeasurement: rule.NextMeasurement}
	if r.Test == measure.TestUDP {
		r.Options.Rate = measure.Rate(2 * bps)
	}
	return r
}

func TestTrialsOfAProbeTellWhatLimits(t *testing.T) {
	const bps = 100e6
	streams := func(times float64) func(Step, *measure.Result) {
		return func(s Step, r *measure.Result) {
			if s.Name == stepSeveral {
				r.Summary.GoodputBps *= times
			}
		}
	}
	sizes := func(times, large, small, sent float64) func(Step, *measure.Result) {
		return func(s Step, r *measure.Result) {
			if lost(r, large); s.Name == stepSmall {
				lost(r, small)
				r.Summary.GoodputBps *= times
				r.Summary.SentBytes = int64(float64(r.Summary.SentBytes) * sent)
			}
		}
	}
	half := func(loss float64, packets int64) func(Step, *measure.Result) {
		return func(_ Step, r *measure.Result) { lost(r, loss); r.Summary.PacketsSent = packets }
	}
	nth := func(figures ...float64) func(Step, *measure.Result) {
		return func(_ Step, r *measure.Result) { r.Summary.GoodputBps, figures = figures[0], figures[1:] }
	}
	judged := func(v *measure.Verdict) func(Step, *measure.Result) {
		return func(_ Step, r *measure.Result) { r.Verdict = v }
	}
	shaper := &measure.Verdict{LimitedBy: measure.BottleneckPathShaper, Confidence: measure.High, Rule: "queue"}
	for name, c := range map[string]struct {
		after string
		as    func(Step, *measure.Result)
		rule  string // of the conclusion, empty for none
	}{
		"four streams get four times as much":    {"one_flow_queued", streams(3.9), "several_get_more"},
		"four streams share":                     {"one_flow_queued", streams(1.02), "several_get_the_same"},
		"one stream got half":                    {"queue_or_flow_cap", streams(33.0 / 17), "one_stream"},
		"one stream got half, without a verdict": {"", streams(33.0 / 17), "one_stream"},
		"streams share a queue":                  {"queue_or_flow_cap", streams(1.05), "several_get_the_same"},
		"one stream was not all of the receiver": {"receiver_thread", streams(1.9), "one_stream_receiver"},
		"one stream was not all of the sender":   {"softirq_sender", streams(1.9), "one_stream_sender"},
		"each stream has its window":             {"window_or_receiver", streams(3.9), "window_of_each"},
		"four streams get some more":             {"one_flow_queued", streams(1.3), ""},
		"one stream gets what eight shared":      {"flows_alike_policed", streams(1.1), "several_share"},
		"small datagrams carry half":             {"policer", sizes(0.5, 0.5, 0.75, 1), "packets_limited"},
		"small datagrams were not sent":          {"policer", sizes(0.5, 0.5, 0, 0.5), ""},
		"small datagrams carry as much":          {"small_packets_lost", sizes(0.98, 0.5, 0.5, 1), "bytes_limited"},
		"nothing was lost at twice the rate":     {"policer", sizes(1, 0, 0, 1), ""},
		"small datagrams carry as much, queued":  {"udp_small_silent", sizes(1, 0.3, 0.3, 1), "bytes_limited_queue"},
		"small datagrams pass":                   {"udp_mtu", sizes(20, 1, 0, 1), "small_pass"},
		"small datagrams do not pass either":     {"udp_mtu", sizes(1, 1, 1, 1), "small_lost_too"},
		"losses stay at half the rate":           {"loss_under_bbr", half(0.15, 1000), "half_is_lost_too"},
		"losses are gone at half the rate":       {"loss_under_bbr", half(0, 1000), "half_passes"},
		"too few datagrams to lose any":          {"loss_under_bbr", half(0, 10), ""},
		"another time gets more":                 {"queue_unsteady", nth(100e6, 150e6, 90e6), "times_differ"},
		"other times get the same":               {"queue_unsteady", nth(101e6, 99e6, 102e6), "times_agree"},
		"a stream of TCP waits":                  {"udp_policer_or_shaper", judged(shaper), "queue"},
		"a stream of TCP has another limit":      {"udp_policer_or_shaper", judged(&measure.Verdict{LimitedBy: measure.BottleneckSenderCPU, Confidence: measure.High}), ""},
		"a longer trial shows a queue":           {"step_noisy", judged(shaper), "queue"},
		"a longer trial shows no more than once": {"step_noisy", judged(&measure.Verdict{LimitedBy: measure.BottleneckNone, Confidence: measure.Low}), ""},
	} {
		first := afterRule(t, c.after, bps)
		if c.after == "loss_under_bbr" {
			first.Verdict.Evidence = []measure.Evidence{{Figure: string(LossRatio), Value: 0.15}}
		}
		v := explained(t, first, c.as)
		switch {
		case v == nil && c.rule != "", v != nil && v.Rule != c.rule:
			t.Errorf("%s: %+v, want rule %q", name, v, c.rule)
		case v != nil && len(v.Evidence) == 0 && v != shaper:
			t.Errorf("%s: no evidence", name)
		}
	}
}

func TestEveryProbeHasSteps(t *testing.T) {
	for _, rule := range Rules {
		if rule.NextMeasurement == "" || slices.Contains(rule.Tests, measure.TestCopy) {
			continue
		}
		first := afterRule(t, rule.Name, 50e6)
		steps := Steps(first)
		if len(steps) == 0 {
			t.Errorf("%s: nothing is measured", rule.Name)
		}
		for _, s := range steps {
			if s.Options.Port != 7000 {
				t.Errorf("%s: step %s is on another port", rule.Name, s.Name)
			}
		}
		if Takes(steps).Minutes() > 3 {
			t.Errorf("%s takes %v", rule.Name, Takes(steps))
		}
	}
}

// A verdict that may be wrong is worth a further trial, and what that measures is worth a rule.
func TestEveryUncertainVerdictLeadsToAProbeThatMayConclude(t *testing.T) {
	judged := []measure.Probe{measure.ProbeLonger, measure.ProbeTCPStream} // by [judgedAnew]
	for _, rule := range Rules {
		if rule.Confidence == measure.High || !slices.Contains(rule.Tests, measure.TestTCP) && !slices.Contains(rule.Tests, measure.TestUDP) {
			continue
		}
		concludes := slices.ContainsFunc(ProbeRules, func(p ProbeRule) bool { return slices.Contains(p.After, rule.Name) })
		if rule.NextMeasurement == "" || !concludes && !slices.Contains(judged, rule.NextMeasurement) {
			t.Errorf("%s: nothing concludes from the probe %q", rule.Name, rule.NextMeasurement)
		}
	}
	for streams, want := range map[float64]measure.Probe{1: measure.ProbeSecondStream, 4: measure.ProbeLonger} {
		if v := judge(idle.with(example{Streams: streams}).figures(), measure.TestTCP); v.LimitedBy != measure.BottleneckNone || v.NextMeasurement != want {
			t.Errorf("of %v streams that nothing limits: %+v", streams, v)
		}
	}
}

// A verdict on a busy host is less certain: the trial is repeated, and one on a quiet host decides.
func TestAVerdictOfABusyHostIsMeasuredAgain(t *testing.T) {
	first := afterRule(t, "policer", 50e6)
	first.Verdict.NextMeasurement = measure.ProbeAnotherTime
	quiet := &measure.Verdict{LimitedBy: measure.BottleneckPathShaper, Confidence: measure.High, Rule: "queue"}
	for want, last := range map[*measure.Verdict]*measure.Verdict{quiet: quiet, nil: {LimitedBy: measure.BottleneckPathShaper, Confidence: measure.Medium, Rule: "queue"}} {
		if v := explained(t, first, func(_ Step, r *measure.Result) { r.Verdict = last }); v != want {
			t.Errorf("%+v, want %+v", v, want)
		}
	}
}

func TestATrialThatIsClearHasNoSteps(t *testing.T) {
	r := trialOf(measure.TestTCP, 1e9)
	if s := Steps(r); s != nil {
		t.Errorf("without a verdict: %v", s)
	}
	r.Verdict = &measure.Verdict{LimitedBy: measure.BottleneckPathShaper, Confidence: measure.High, Rule: "queue"}
	if s := Steps(r); s != nil {
		t.Errorf("with a certain one: %v", s)
	}
	// The datagrams of a trial that moved nothing have no rate.
	r.Verdict.NextMeasurement, r.Summary.GoodputBps = measure.ProbePacketSizes, 0
	if s := Steps(r); s != nil {
		t.Errorf("without a rate: %v", s)
	}
}

// Of two directions the probe measures the one that the verdict is about.
func TestAProbeMeasuresTheDirectionOfTheVerdict(t *testing.T) {
	first := afterRule(t, "policer_few", 80e6)
	first.Options.Direction, first.Verdict.Direction = measure.Bidirectional, measure.Reverse
	first.Flows = []measure.Flow{{Direction: measure.Forward, Summary: measure.Summary{GoodputBps: 1e6}}, {Direction: measure.Reverse, Summary: measure.Summary{GoodputBps: 60e6}}}
	steps := Steps(first)
	if len(steps) != 1 || steps[0].Options.Direction != measure.Reverse || steps[0].Options.Rate != 30e6 {
		t.Errorf("%+v", steps)
	}
}

func TestAFailedTrialTellsNothing(t *testing.T) {
	first := afterRule(t, "one_flow_queued", 1e8)
	if v := explained(t, first, func(s Step, r *measure.Result) {
		if r.Summary.GoodputBps *= 4; s.Name == stepOne {
			r.Error = measure.Fail(measure.KindBroken, "flow.send", nil)
		}
	}); v != nil {
		t.Errorf("%+v", v)
	}
	if v := Conclude(first, nil); v != nil {
		t.Errorf("of no trials: %+v", v)
	}
}
