package trial

import (
	"fmt"
	"slices"
	"testing"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// wantFindings fails the test where r has others than these, in this order.
func wantFindings(t *testing.T, what any, r *measure.Result, want ...measure.Finding) {
	t.Helper()
	equal := len(r.Findings) == len(want)
	for i := 0; equal && i < len(want); i++ {
		equal = r.Findings[i].Equal(want[i])
	}
	if !equal {
		t.Errorf("%s: findings %+v, want %+v", fmt.Sprint(what), r.Findings, want)
	}
	for _, f := range r.Findings {
		wantDocumented(t, f)
	}
}

// wantDocumented fails for a figure that the table of codes does not have, or has as another kind.
func wantDocumented(t *testing.T, f measure.Finding) {
	t.Helper()
	for _, info := range finding.All() {
		if info.Code != f.Code {
			continue
		}
		for key := range f.Figures {
			i := slices.IndexFunc(info.Figures, func(d finding.Figure) bool { return d.Key == key })
			if _, number := f.Number(key); i < 0 || info.Figures[i].Text == number {
				t.Errorf("the table of codes does not have figure %s of %s like that: %v", key, f.Code, f.Figures[key])
			}
		}
		return
	}
	t.Errorf("no code %s", f.Code)
}

// warning is a finding of a code; see [measure.NewFinding].
func warning(code finding.Code, where measure.Where, figures measure.Figures) []measure.Finding {
	return []measure.Finding{measure.NewFinding(code, where, figures)}
}

func TestTheWorseDirectionSaysWhyTheWholeIsTrustedLess(t *testing.T) {
	flow := func(d measure.Direction, c measure.Confidence, code finding.Code) measure.Flow {
		f := measure.Flow{Direction: d}
		f.Summary.SetConfidence(c, measure.NewFinding(code, "", nil))
		return f
	}
	flows := []measure.Flow{
		flow(measure.Forward, measure.High, finding.Steady), flow(measure.Reverse, measure.Low, finding.NothingArrived),
	}
	sum := total(flows)
	if why, _ := sum.Why(); sum.Confidence != measure.Low || why.Code != finding.NothingArrived || why.Where != "reverse" {
		t.Errorf("%s: %+v", sum.Confidence, why)
	}
	if why, _ := flows[1].Summary.Why(); why.Where != "" {
		t.Errorf("the flow's own reason became %+v", why)
	}
}

func TestAnEndThatCouldNotSpinAndRowsThatWereCutAreFindings(t *testing.T) {
	h := measure.NewHistogram()
	h.Record(60_000)
	asleep, awake := &measure.Timing{Wait: measure.WaitBlocking}, &measure.Timing{Wait: measure.WaitSpinning}
	noSpin := func(where measure.Where) measure.Finding {
		return measure.NewFinding(finding.NotSpinning, where, measure.Figures{"wait": "blocking"})
	}
	for _, c := range []struct {
		what           string
		client, server *measure.Timing
		cut            bool
		want           []measure.Finding
	}{
		{"both spin", awake, awake, false, nil},
		{"neither", asleep, asleep, false, []measure.Finding{noSpin("client"), noSpin("server")}},
		{"the server", awake, asleep, false, []measure.Finding{noSpin("server")}},
		{"nobody knows of the server", awake, nil, false, nil},
		{"rows", awake, awake, true, warning(finding.RowsCut, "client", measure.Figures{"rows": 1})},
	} {
		r := resultOf(measure.TestLatency)
		r.Options.Own = latency.Options{Spin: "on"}
		assembleLatency(r, &measure.Latency{
			Timing: c.client, ServerTiming: c.server, Histogram: h, Sent: 1, Received: 1, RowsCut: c.cut, Rows: []measure.LatencyRow{{}},
		}, nil)
		wantFindings(t, c.what, r, c.want...)
	}
}
