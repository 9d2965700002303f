package cli

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/text"
	"soku/internal/verdict"
)

func TestEveryVerdictHasItsWords(t *testing.T) {
	c := text.ForPrograms()
	for _, r := range verdict.Rules {
		for _, b := range append(r.Alternatives, r.LimitedBy) {
			if c.Bottleneck(b) == string(b) {
				t.Errorf("rule %s: no words for %s", r.Name, b)
			}
		}
		if r.NextMeasurement != "" && c.VerdictArgs(&measure.Verdict{NextMeasurement: r.NextMeasurement})["Tell"] == "" {
			t.Errorf("rule %s: no words for the probe %s", r.Name, r.NextMeasurement)
		}
	}
	silent := map[verdict.Key]bool{verdict.Streams: true, verdict.FixedAmount: true, verdict.SlowStart: true, verdict.BBR: true, verdict.Retransmits: true, verdict.ReceiverShared: true, verdict.FailedConnections: true,
		verdict.SmallSent: true, verdict.HalfExpected: true}
	for _, i := range verdict.Infos {
		e := measure.Evidence{Figure: string(i.Key), Value: 2, Unit: i.Unit, Comparison: ">=", Threshold: 1}
		if said := c.VerdictArgs(&measure.Verdict{Evidence: []measure.Evidence{e}})["Evidence"].([]string); (len(said) == 0) != silent[i.Key] {
			t.Errorf("%s is shown as %q", i.Key, said)
		}
	}
}

func TestASummaryHasTheVerdict(t *testing.T) {
	r := &measure.Result{Test: measure.TestTCP, Verdict: &measure.Verdict{
		LimitedBy: measure.BottleneckPathPolicer, Confidence: measure.Medium, Alternatives: []measure.Bottleneck{measure.BottleneckPathLoss}, NextMeasurement: measure.ProbeHalfRate,
		Evidence: []measure.Evidence{
			{Figure: "streams", Value: 1, Unit: "count", Comparison: "<", Threshold: 2},
			{Figure: "loss_ratio", Value: 0.0123, Unit: "ratio", Comparison: ">=", Threshold: 0.0005},
			{Figure: "queue_ns", Value: 2e6, Unit: "ns", Comparison: "<", Threshold: 5e6},
			{Figure: "rtt_times", Value: 1.0321, Unit: "times", Comparison: "<", Threshold: 1.3, Detail: "x\x1b[2J"},
		},
	}}
	var b strings.Builder
	printSummary(text.ForPrograms(), &b, 0, r)
	const want = "limited by  a policer on the path (medium): loss 1.23 %; wait in the queue 2.000 ms; RTT with load 1.03 x of x�[2J. " +
		"From both hosts random loss on the path looks the same. It would tell: UDP datagrams at half the rate that arrived\n"
	if !strings.Contains(b.String(), want) {
		t.Errorf("printed %q, want %q", b.String(), want)
	}
	r.Verdict.Alternatives = append(r.Verdict.Alternatives, measure.BottleneckPathShaper)
	b.Reset()
	if printSummary(text.ForPrograms(), &b, 0, r); !strings.Contains(b.String(), "From both hosts random loss on the path and a shaper on the path look the same.") {
		t.Errorf("with two others it printed %q", b.String())
	}
	r.Verdict = &measure.Verdict{LimitedBy: measure.BottleneckNone, Confidence: measure.Low}
	b.Reset()
	if printSummary(text.ForPrograms(), &b, 0, r); !strings.Contains(b.String(), "limited by  nothing was found that limits it (low)\n") {
		t.Errorf("printed %q", b.String())
	}
}

func TestASummaryHasTheRemedyAndShowHasTheThresholds(t *testing.T) {
	r := &measure.Result{Test: measure.TestTCP, Verdict: &measure.Verdict{
		LimitedBy: measure.BottleneckPathLoss, Confidence: measure.High, Remedy: &measure.Remedy{Code: "locate_loss"},
		Evidence: []measure.Evidence{
			{Figure: "loss_ratio", Value: 0.0123, Unit: "ratio", Comparison: ">=", Threshold: 0.0005},
			{Figure: "rtt_times", Value: 1.0321, Unit: "times", Comparison: "<", Threshold: 1.3},
		},
	}}
	for _, c := range []struct {
		evidence bool
		want     string
	}{
		{false, "remedy      soku trace shows where packets are lost\n"},
		{true, "evidence    loss 1.23 % (>= 0.05 %)\n            RTT with load 1.03 x (< 1.3 x)\n"},
	} {
		var b strings.Builder
		printResult(text.English(), &b, 0, r, showFlags{evidence: c.evidence})
		if !strings.Contains(b.String(), c.want) || strings.Contains(b.String(), "(>= ") != c.evidence {
			t.Errorf("evidence %v: printed %q", c.evidence, b.String())
		}
	}
	r.Verdict.Remedy.Code = "of_a_later_version"
	var b strings.Builder
	if printResult(text.English(), &b, 0, r, showFlags{}); strings.Contains(b.String(), "remedy") {
		t.Errorf("printed %q", b.String())
	}
}
