package report

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/text"
)

// limitedResults are two rounds of each pattern of sku and streams, limited as by says.
func limitedResults(by func(sku, streams string) *measure.Verdict) []*measure.Result {
	var out []*measure.Result
	for round := 1; round <= 2; round++ {
		for _, sku := range []string{"gw1", "gw2"} {
			for _, streams := range []string{"1", "8"} {
				r := tcpResult(sku+streams+string(rune('0'+round)), []measure.Level{{Factor: "sku", Value: sku}, {Factor: "streams", Value: streams}}, round)
				r.Verdict = by(sku, streams)
				out = append(out, r)
			}
		}
	}
	return out
}

func tcpResult(id string, levels []measure.Level, round int) *measure.Result {
	return &measure.Result{
		Schema: measure.Schema, ID: id, Test: measure.TestTCP, Options: option.Defaults(measure.TestTCP),
		Summary: measure.Summary{GoodputBps: 1e9 + float64(round)*1e6, DurationNs: 1e9},
		Trial:   &measure.Trial{Campaign: "c", Pattern: measure.JoinLevels(levels), Levels: levels, Label: "tcp", Round: round, Repeat: 1},
	}
}

func reportText(t *testing.T, results []*measure.Result) string {
	t.Helper()
	var b strings.Builder
	if err := build(t, Input{Results: results}).Text(&b, text.ForPrograms(), 0); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func sure(b measure.Bottleneck) *measure.Verdict {
	return &measure.Verdict{LimitedBy: b, Confidence: measure.High}
}

func TestAReportSaysWhatLimitedEachPattern(t *testing.T) {
	for name, c := range map[string]struct {
		by   func(sku, streams string) *measure.Verdict
		want string
	}{
		"the same": {func(string, string) *measure.Verdict { return sure(measure.BottleneckPathShaper) }, "All patterns were limited by a shaper on the path."},
		"by sku": {func(sku, _ string) *measure.Verdict {
			return sure(map[string]measure.Bottleneck{"gw1": measure.BottleneckPathShaper, "gw2": measure.BottleneckReceiverCPU}[sku])
		}, "What limits changes with sku alone: a shaper on the path at gw1; the receiver's processor at gw2."},
		"by streams": {func(_, streams string) *measure.Verdict {
			return sure(map[string]measure.Bottleneck{"1": measure.BottleneckFlowCap, "8": measure.BottleneckPathShaper}[streams])
		}, "What limits changes with streams alone: a limit of each flow at 1; a shaper on the path at 8."},
		"by both": {func(sku, streams string) *measure.Verdict {
			if sku == "gw1" && streams == "1" {
				return sure(measure.BottleneckFlowCap)
			}
			return sure(measure.BottleneckPathShaper)
		}, "Limited by a limit of each flow (gw1 / 1); a shaper on the path (gw1 / 8, gw2 / 1, gw2 / 8)."},
	} {
		b := reportText(t, limitedResults(c.by))
		if !strings.Contains(strings.Join(strings.Fields(b), " "), c.want) {
			t.Errorf("%s: no sentence %q in\n%s", name, c.want, b)
		}
		if !strings.Contains(b, "limited by") {
			t.Errorf("%s: no column", name)
		}
	}
}

func TestAReportWithoutVerdictsSaysNothingOfLimits(t *testing.T) {
	for name, v := range map[string]*measure.Verdict{"none": nil, "nothing found": {LimitedBy: measure.BottleneckNone, Confidence: measure.Low}} {
		b := reportText(t, limitedResults(func(string, string) *measure.Verdict { return v }))
		if strings.Contains(strings.ToLower(b), "limited by") {
			t.Errorf("%s: limits in\n%s", name, b)
		}
	}
}

// A sentence states what is known; the table and the documents have the rest.
func TestALimitOfLowConfidenceIsInTheTableAlone(t *testing.T) {
	few := &measure.Verdict{LimitedBy: measure.BottleneckPathLoss, Confidence: measure.Low}
	b := reportText(t, limitedResults(func(string, string) *measure.Verdict { return few }))
	if !strings.Contains(b, "random loss on the path (low)") || strings.Contains(b, "All patterns were limited") {
		t.Errorf("it is stated, or not in the table:\n%s", b)
	}
	b = reportText(t, limitedResults(func(_, streams string) *measure.Verdict {
		return map[string]*measure.Verdict{"1": few, "8": sure(measure.BottleneckPathShaper)}[streams]
	}))
	if all := strings.Join(strings.Fields(b), " "); !strings.Contains(all, "Limited by a shaper on the path (gw1 / 8, gw2 / 8).") || strings.Contains(all, "What limits changes") {
		t.Errorf("what limits is said to change with streams:\n%s", b)
	}
}

func TestALimitThatHalfOfTheTrialsNameIsInTheTableAlone(t *testing.T) {
	results := limitedResults(func(string, string) *measure.Verdict { return sure(measure.BottleneckPathShaper) })
	for _, r := range results {
		if r.Trial.Pattern == "gw1 / 1" && r.Trial.Round == 2 {
			r.Verdict = sure(measure.BottleneckFlowHashing)
		}
	}
	said := strings.Join(strings.Fields(reportText(t, results)), " ")
	if !strings.Contains(said, "Limited by a shaper on the path (gw1 / 8, gw2 / 1, gw2 / 8).") {
		t.Errorf("one trial of two decides:\n%s", said)
	}
	if got := english(build(t, Input{Results: results}).test(t, "tcp")); !strings.Contains(got.verdictText(got.Rows[0].Verdict), "(1 of 2)") {
		t.Errorf("the table does not have it: %+v", got.Rows[0].Verdict)
	}
}

func TestTheLimitOfAPatternIsThatOfMostTrials(t *testing.T) {
	trial := func(b measure.Bottleneck, c measure.Confidence) *measure.Result {
		return &measure.Result{Verdict: &measure.Verdict{LimitedBy: b, Confidence: c}}
	}
	got := verdictOf([]*measure.Result{
		trial(measure.BottleneckPathShaper, measure.High), trial(measure.BottleneckPathPolicer, measure.High), trial(measure.BottleneckPathShaper, measure.Medium), {},
	})
	if want := (RowVerdict{measure.BottleneckPathShaper, measure.Medium, 2, 3}); got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	loss, mtu := trial(measure.BottleneckPathLoss, measure.High), trial(measure.BottleneckMTU, measure.High)
	for _, order := range [][]*measure.Result{{loss, mtu}, {mtu, loss}} {
		if got := verdictOf(order); got.LimitedBy != measure.BottleneckMTU {
			t.Errorf("of two limits that one trial names each, in either order: %+v", got)
		}
	}
	if verdictOf([]*measure.Result{{}}) != nil {
		t.Error("a trial without a verdict has one")
	}
}

// Of many patterns a sentence says what those with one limit have in common.
func TestManyPatternsWithOneLimitAreDescribedByTheirLevels(t *testing.T) {
	skus, streams, directions := []string{"gw1", "gw2", "gw3"}, []string{"1", "4", "8", "32"}, []string{"forward", "reverse"}
	said := func(by func(sku, streams, direction string) *measure.Verdict) string {
		var results []*measure.Result
		for _, s := range skus {
			for _, n := range streams {
				for _, d := range directions {
					r := tcpResult(s+n+d, []measure.Level{{Factor: "sku", Value: s}, {Factor: "streams", Value: n}, {Factor: "direction", Value: d}}, 1)
					r.Verdict = by(s, n, d)
					results = append(results, r)
				}
			}
		}
		return strings.Join(strings.Fields(reportText(t, results)), " ")
	}
	for name, c := range map[string]struct {
		by   func(sku, streams, direction string) *measure.Verdict
		want string
	}{
		"few and all others": {func(sku, streams, direction string) *measure.Verdict {
			if sku == "gw1" && streams == "1" {
				return sure(measure.BottleneckFlowCap)
			}
			return sure(measure.BottleneckPathShaper)
		}, "Limited by a limit of each flow (gw1 / 1 / forward, gw1 / 1 / reverse); a shaper on the path (the other 22 patterns)."},
		"levels that no other has": {func(sku, streams, direction string) *measure.Verdict {
			if sku != "gw1" && (streams == "1" || streams == "4") {
				return sure(measure.BottleneckFlowCap)
			}
			return sure(measure.BottleneckPathShaper)
		}, "Limited by a limit of each flow (all 8 with sku gw2 and gw3, with streams 1 and 4); a shaper on the path (the other 16 patterns)."},
		"a level that most have": {func(sku, streams, direction string) *measure.Verdict {
			switch {
			case sku == "gw1" && streams != "1" || sku == "gw2" && streams == "8" && direction == "forward":
				return sure(measure.BottleneckFlowCap)
			case sku == "gw3" && streams == "8":
				return nil
			}
			return sure(measure.BottleneckPathShaper)
		}, "a limit of each flow (7 of 24 patterns, 6 of them with sku gw1)"},
		"a level that all have": {func(sku, streams, direction string) *measure.Verdict {
			if sku == "gw1" && (streams != "32" || direction == "forward") {
				return sure(measure.BottleneckFlowCap)
			}
			return sure(measure.BottleneckPathShaper)
		}, "a limit of each flow (7 of 24 patterns, all with sku gw1)"},
		"nothing in common": {func(sku, streams, direction string) *measure.Verdict {
			if sku != "gw3" && streams != "8" && (streams == "1") == (direction == "forward") || sku == "gw3" && streams == "32" {
				return sure(measure.BottleneckFlowCap)
			}
			return sure(measure.BottleneckPathShaper)
		}, "a limit of each flow (8 of 24 patterns)"},
	} {
		if got := said(c.by); !strings.Contains(got, c.want) {
			t.Errorf("%s: no %q in\n%s", name, c.want, got)
		}
	}
}
