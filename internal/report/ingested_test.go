package report

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/text"
)

// tableInput is a campaign as a table without times gives it: one round, means alone.
func tableInput(levels ...[]measure.Level) Input {
	in := Input{Campaign: Meta{ID: "20260301-x", Name: "x"}}
	for i, l := range levels {
		mean := 1e6 * float64(i+1)
		in.Results = append(in.Results, &measure.Result{
			Schema: measure.Schema, ID: string(rune('a' + i)), Test: measure.TestPing, StartedAt: syntheticStart,
			Trial:  &measure.Trial{Campaign: "20260301-x", Pattern: measure.JoinLevels(l), Label: "ping", Round: 1, Repeat: 1, Order: i + 1, Levels: l},
			Origin: &measure.Origin{File: "f", Record: i + 1, Line: 1, Tool: "ping", Missing: measure.OfPhrases([]string{string(finding.TimeOfFile)})},
			Summary: measure.Summary{ReportedRTT: &measure.RTTFigures{
				Mean: &mean,
			}},
		})
	}
	return in
}

func levelsOf(pairs ...string) (out []measure.Level) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, measure.Level{Factor: pairs[i], Value: pairs[i+1]})
	}
	return out
}

func TestAReportOfATableClaimsNothingThatTheTableDoesNotHave(t *testing.T) {
	r := build(t, tableInput(levelsOf("sku", "A", "zone", "1"), levelsOf("sku", "B", "zone", "2")))
	for name, page := range map[string]string{"txt": written(t, forms(r)["txt"]), "md": written(t, forms(r)["md"]), "html": written(t, forms(r)["html"])} {
		for _, absent := range []string{"2026-03-14", "confidence", ">loss<", "loss  ", "| loss", "over the steady part", "merged as histograms"} {
			if strings.Contains(page, absent) {
				t.Errorf("%s has %q:\n%s", name, absent, page)
			}
		}
		if !strings.Contains(page, "2 trials in 1 round, time unknown, campaign") {
			t.Errorf("%s does not say that the time is unknown", name)
		}
	}
	// A table with a time, a loss and trials that soku measured itself has them all.
	in := tableInput(levelsOf("sku", "A"), levelsOf("sku", "B"))
	in.Results[1].Origin.Missing = nil
	loss := 0.5
	in.Results[1].Summary.LossRatio = &loss
	in.Results[1].Summary.Confidence = measure.High
	page := written(t, forms(build(t, in))["txt"])
	for _, want := range []string{"2026-03-14 09:26 UTC", "loss", "50.0 %", "confidence", "1 high"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

func TestTextNamesTheFactorsOfItsPatterns(t *testing.T) {
	r := build(t, tableInput(levelsOf("path", "vnet", "limit", "12"), levelsOf("path", "circuit", "sku", "Ultra", "limit", "10")))
	page := written(t, forms(r)["txt"])
	for _, want := range []string{"patterns: path / sku / limit\n", "circuit / Ultra / 10 ", "vnet / – / 12 "} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if places := r.Tests[0].Ranking; places[0].Pattern != "vnet / – / 12" || r.Tests[0].Rows[1].Rank != 1 {
		t.Errorf("%+v", places)
	}
}

func TestTrialsWithoutASessionAreNoRunOfAnOlderVersion(t *testing.T) {
	in := tableInput(levelsOf("sku", "A"), levelsOf("sku", "B"))
	in.Results[1].Trial.Session = &measure.Session{ID: "Tuesday", Number: 1}
	r := build(t, in)
	test := testView{&r.Tests[0], text.English()}
	for i, want := range []string{"without a session|1|A", "Tuesday|1|B"} {
		if got := strings.Join(texts(test.runTable())[i], "|"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
