package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/publish"
	"soku/internal/store"
	"soku/test/output"
)

func TestAReportDoesNotDependOnTheOrderInWhichTheStoreWasFilled(t *testing.T) {
	start := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	o, err := option.Effective(option.Defaults(measure.TestTCP), measure.TestTCP)
	if err != nil {
		t.Fatal(err)
	}
	var results []*measure.Result
	for i := range 48 {
		sku, zone, round := i%3, i/3%2, i/6+1
		r := &measure.Result{
			Schema: measure.Schema, ID: fmt.Sprintf("%04x%08x", i*7919%48, i), Test: measure.TestTCP, Options: o,
			StartedAt: start.Add(time.Duration(i/4) * time.Minute), // four at a time
			Path:      measure.Path{Client: measure.Endpoint{Name: "office"}, Server: measure.Endpoint{Name: "vm"}, Direction: measure.Forward},
			Summary:   measure.Summary{GoodputBps: 1e9 * (1 + 0.1*float64(sku)) * (1 + float64(i*31%17)/1000), Confidence: measure.High},
			Findings:  measure.OfSentences([]string{fmt.Sprintf("finding %d", i%5)}),
			Trial: &measure.Trial{Campaign: "c1", Name: "same", Label: "tcp", Round: round, Repeat: 1, Order: i%6 + 1, Seed: 5,
				Levels: []measure.Level{{Factor: "sku", Value: fmt.Sprint("sku", sku)}, {Factor: "zone", Value: fmt.Sprint(zone)}}},
		}
		flow := measure.Flow{Direction: measure.Forward, Summary: r.Summary}
		for n := range int64(20) {
			flow.Samples = append(flow.Samples, measure.Sample{StartNs: n * 1e8, EndNs: (n + 1) * 1e8, ReceivedBytes: int64(r.Summary.GoodputBps / 80)})
		}
		r.Flows = []measure.Flow{flow}
		r.Trial.Pattern = measure.JoinLevels(r.Trial.Levels)
		if i == 7 {
			r.Error = measure.TextError(measure.KindBroken, "connection reset", "")
		}
		results = append(results, r)
	}
	filled := func(results []*measure.Result) *System {
		sys, _, _ := fakeSystem(t)
		st, err := openStore(t.Context(), sys, "")
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		c := store.Campaign{ID: "c1", Name: "same", StartedAt: start, FinishedAt: start.Add(time.Hour), Seed: 5, Trials: 48, Done: 48}
		if err := st.PutCampaign(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if err := st.Put(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		return sys
	}
	one := filled(results)
	slices.Reverse(results)
	results = append(results[20:], results[:20]...)
	other := filled(results)
	for _, format := range publish.Formats {
		if format.Name == "pdf" || format.Name == "png" {
			continue // made of the page by a browser, which writes the time into them
		}
		written := func(sys *System) (all string) {
			dir := t.TempDir()
			_, errs := sys.again("report", "same", "--format", format.Name, "-o", dir+"/")
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			for _, file := range files {
				out, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				all += file[len(dir):] + string(out)
			}
			if all == "" {
				t.Fatalf("%s: %s", format.Name, errs)
			}
			return all
		}
		if a, b := written(one), written(other); a != b || a != written(one) {
			t.Errorf("%s: %d and %d bytes differ", format.Name, len(a), len(b))
		}
	}
}

// again runs another command line of a system.
func (s *System) again(args ...string) (stdout, stderr string) {
	var out, errs output.Buffer
	sys := *s
	sys.Args, sys.Stdout, sys.Stderr = args, &out, &errs
	Run(&sys)
	return out.String(), errs.String()
}
