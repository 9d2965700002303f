package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

func TestFindingsAreCountedOnceATrialByCodeAndPlace(t *testing.T) {
	in := campaignOf(map[string][]float64{"a": {1e6, 2e6}, "b": {3e6}})
	for i, r := range in.Results {
		for range 2 {
			r.Findings.Add(finding.ReceiverDisagrees, "forward", measure.Figures{"sent_bytes": 1e9, "received_bytes": 9e8 + float64(i)})
		}
	}
	in.Results[1].Findings.Add(finding.ReceiverDisagrees, "reverse", measure.Figures{"sent_bytes": 1e9, "received_bytes": 9e8})
	in.Results[1].Findings.Add(finding.NotPinned, "server", nil)
	r := build(t, in)
	w := r.Warnings
	if len(w) != 3 || w[0].Trials != 3 || !w[0].Alike || w[0].Where != "forward" || !slices.Equal(w[0].Patterns, []string{"a", "b"}) {
		t.Fatalf("%+v", w)
	}
	if w[1].Code != finding.NotPinned || w[2].Where != "reverse" || w[1].Trials != 1 || w[1].Alike || w[2].Alike {
		t.Errorf("%+v", w[1:])
	}
	var document struct {
		Warnings []map[string]any `json:"warnings"`
	}
	if err := json.Unmarshal([]byte(written(t, r.JSON)), &document); err != nil {
		t.Fatal(err)
	}
	first := document.Warnings[0]
	if first["code"] != "receiver_disagrees" || first["trials"] != 3.0 || first["alike"] != true || !strings.Contains(first["text"].(string), "forward: the sender counted 1.000 GB") {
		t.Errorf("%v", first)
	}
}

func TestSentencesAreCountedByTheirWords(t *testing.T) {
	in := campaignOf(map[string][]float64{"a": {1e6, 2e6}, "b": {3e6}})
	for i, r := range in.Results {
		w := fmt.Sprintf("forward: the sender counted %d.25 GB, the receiver 900 MB", i)
		r.Findings = measure.OfSentences([]string{w, w})
	}
	in.Results[0].Findings = append(in.Results[0].Findings, measure.TextFinding("the clock stepped"))
	w := build(t, in).Warnings
	if len(w) != 2 || w[0].Trials != 3 || !w[0].Alike || w[1].Trials != 1 || w[1].Alike {
		t.Errorf("%+v", w)
	}
	if !slices.Equal(w[0].Patterns, []string{"a", "b"}) {
		t.Errorf("patterns %v", w[0].Patterns)
	}
}
