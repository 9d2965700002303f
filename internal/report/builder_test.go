package report

import (
	"bytes"
	"encoding/json"
	"testing"

	"soku/internal/measure"
)

func TestABuilderKeepsNoSeriesAndNoFacts(t *testing.T) {
	in := fourPatterns().input()
	b := NewBuilder(Input{Campaign: in.Campaign, Patterns: in.Patterns}, len(in.Results))
	for _, r := range distinct(in.Results) {
		before, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		b.Add(r)
		if after, err := json.Marshal(r); err != nil || !bytes.Equal(before, after) {
			t.Fatalf("result %s was changed (%v)", r.ID, err)
		}
	}
	heavy := 0
	for _, r := range in.Results {
		if r.Hosts.Client != nil && len(r.Flows) > 0 && len(r.Flows[0].Samples) > 0 {
			heavy++
		}
	}
	if heavy == 0 {
		t.Fatal("no result has samples and facts")
	}
	for _, r := range b.results {
		for _, f := range r.Flows {
			if f.Samples != nil || f.Streams != nil {
				t.Fatalf("result %s keeps %d samples and %d streams", r.ID, len(f.Samples), len(f.Streams))
			}
		}
		if r.Latency != nil && (r.Latency.Series != nil || r.Latency.Rows != nil) {
			t.Fatalf("result %s keeps series of latency", r.ID)
		}
		if h := r.Hosts.Client; h != nil && (h.Facts.Hostname != "" || h.Facts.Sysctl != nil) {
			t.Fatalf("result %s keeps facts: %+v", r.ID, h.Facts)
		}
	}
}

func TestAResultThatIsAddedTwiceCountsOnce(t *testing.T) {
	b := NewBuilder(Input{}, 2)
	for _, r := range []*measure.Result{tcpTrial("a", 1, 1e9), nil, tcpTrial("b", 2, 2e9), tcpTrial("a", 1, 1e9)} {
		b.Add(r)
	}
	r, err := b.Report()
	if err != nil || r.Trials != 2 {
		t.Errorf("%d trials (%v), want 2", r.Trials, err)
	}
}

func TestAReportOfNothingIsNotFound(t *testing.T) {
	if _, err := NewBuilder(Input{Campaign: Meta{Name: "study"}}, 0).Report(); measure.KindOf(err) != measure.KindNotFound {
		t.Errorf("error is %v", err)
	}
}
