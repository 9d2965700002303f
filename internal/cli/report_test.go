package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"soku/internal/catalog"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/publish"
	"soku/internal/store"
)

// fillStore puts a small campaign and two tests run by hand into the store of a
// System.
func fillStore(t *testing.T, sys *System) {
	t.Helper()
	ctx := context.Background()
	s, err := openStore(ctx, sys, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	start := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	c := store.Campaign{ID: "01CAMPAIGN", Name: "gateway/sku", Title: "Which gateway?", StartedAt: start, FinishedAt: start.Add(time.Hour), Seed: 5, Trials: 4, Done: 4}
	if err := s.PutCampaign(ctx, c); err != nil {
		t.Fatal(err)
	}
	put := func(n int, trial *measure.Trial, bps float64) {
		o, err := option.Effective(option.Defaults(measure.TestTCP), measure.TestTCP)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Put(ctx, &measure.Result{
			Schema: measure.Schema, ID: fmt.Sprintf("01RESULT%d", n), Test: measure.TestTCP, Trial: trial, Options: o,
			StartedAt: start.Add(time.Duration(n) * time.Minute),
			Path:      measure.Path{Client: measure.Endpoint{Name: "office"}, Server: measure.Endpoint{Name: "vm"}, Direction: measure.Forward},
			Summary:   measure.Summary{GoodputBps: bps, Confidence: measure.High},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for round := 1; round <= 2; round++ {
		for pattern, bps := range map[string]float64{"ultra": 380e6, "high": 200e6} {
			n++
			put(n, &measure.Trial{Campaign: c.ID, Name: c.Name, Pattern: pattern, Label: "tcp", Round: round, Repeat: 1, Order: 1,
				Levels: []measure.Level{{Factor: "sku", Value: pattern}}}, bps+float64(round)*1e4)
		}
	}
	put(8, nil, 100e6)
	put(9, nil, 110e6)
}

// runReportCommand runs soku report with a store that fillStore filled.
func runReportCommand(t *testing.T, args ...string) (string, error) {
	t.Helper()
	sys, out, _ := fakeSystem(t)
	fillStore(t, sys)
	cmd := newReportCommand(sys)
	cmd.SetArgs(append([]string{}, args...)) // nil would be those of the test
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(context.Background())
	return out.String(), err
}

func TestReportWritesTheLastCampaignToTheTerminal(t *testing.T) {
	for _, args := range [][]string{nil, {"last"}, {"gateway/sku"}, {"01CAMP"}} {
		out, err := runReportCommand(t, args...)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Which gateway?", "Sku ultra is fastest: 380.0 Mbit/s, 1.9 × the next, high with 200.0 Mbit/s; 2"} {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in\n%s", args, want, out)
			}
		}
	}
}

func TestReportHasPatternsAndTestsInTheOrderOfThePlan(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	s, err := openStore(t.Context(), sys, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := store.Campaign{ID: "01CAMPAIGN", Name: "order", Plan: "campaign: order\nendpoints: {vm: {address: 10.0.0.4}}\nto: vm\nfactors: {streams: [8, 1]}\ntests: {up: {test: tcp}, down: {test: tcp}}\n"}
	for i, label := range []string{"down", "up"} {
		for j, streams := range []string{"1", "8"} {
			err := s.Put(t.Context(), &measure.Result{
				Schema: measure.Schema, ID: fmt.Sprintf("01RESULT%d%d", i, j), Test: measure.TestTCP, Options: option.Defaults(measure.TestTCP), StartedAt: time.Unix(1e9, 0),
				Trial:   &measure.Trial{Campaign: c.ID, Name: c.Name, Pattern: streams, Label: label, Round: 1, Repeat: 1, Order: 1, Levels: []measure.Level{{Factor: "streams", Value: streams}}},
				Summary: measure.Summary{GoodputBps: 1e6, Confidence: measure.High},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	r, err := publish.Campaign(t.Context(), catalog.Builtin(), s, c, "")
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, test := range r.Tests {
		for _, row := range test.Rows {
			order = append(order, test.Label+" "+row.Pattern)
		}
	}
	if got := strings.Join(order, ", "); got != "up 8, up 1, down 8, down 1" {
		t.Error(got)
	}
}

func TestReportWritesSeveralFormatsToAFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "out") + string(filepath.Separator)
	out, err := runReportCommand(t, "--format", "html,md,csv,trials.csv,json", "-o", folder)
	if err != nil {
		t.Fatal(err)
	}
	for extension, want := range map[string]string{"html": "<!doctype html>", "md": "# Which gateway?", "csv": "campaign,label", "trials.csv": ",metric,unit,value,", "json": `"soku.report/1"`} {
		file := filepath.Join(folder, "gateway-sku."+extension)
		b, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v, %d bytes", file, err, len(b))
		}
		if !strings.Contains(out, "wrote "+file) {
			t.Errorf("%s is not named in %q", file, out)
		}
	}
}

func TestReportTakesTheFormatFromTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.csv")
	if _, err := runReportCommand(t, "-o", file); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(b), "campaign,") {
		t.Errorf("%v %.40q", err, b)
	}
	file = filepath.Join(t.TempDir(), "a.trials.csv")
	if _, err := runReportCommand(t, "-o", file); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), ",goodput_bps,bit/s,") {
		t.Errorf("%v %.40q", err, b)
	}
	// A format that is named counts, whatever the file is called.
	file = filepath.Join(t.TempDir(), "a.data")
	if _, err := runReportCommand(t, "--format", "json", "-o", file); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(b), "{") {
		t.Errorf("%v %.40q", err, b)
	}
}

func TestReportWritesOneFormatToStdout(t *testing.T) {
	for _, args := range [][]string{{"--format", "md"}, {"--format", "md", "-o", "-"}} {
		out, err := runReportCommand(t, args...)
		if err != nil || !strings.HasPrefix(out, "# Which gateway?\n") {
			t.Errorf("%v: %v %.60q", args, err, out)
		}
	}
}

func TestReportOfTestsRunByHand(t *testing.T) {
	out, err := runReportCommand(t, "--runs", "10")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "Trials run by hand") || !strings.Contains(out, "2 trials") || strings.Contains(out, "ultra") {
		t.Error(out)
	}
}

func TestReportRefusesWhatDoesNotFit(t *testing.T) {
	for _, c := range []struct {
		args []string
		kind measure.Kind
		want string
	}{
		{[]string{"--format", "doc"}, measure.KindUsage, "doc"},
		{[]string{"--format", "html,md"}, measure.KindUsage, "folder"},
		{[]string{"--format", "html,md", "-o", "x.html"}, measure.KindUsage, "folder"},
		{[]string{"-o", "x.doc"}, measure.KindUsage, "extension"},
		{[]string{"--runs", "3", "last"}, measure.KindUsage, "--runs"},
		{[]string{"--runs", "-1"}, measure.KindUsage, "--runs"},
		{[]string{"nosuch"}, measure.KindNotFound, "nosuch"},
		{[]string{"-o", filepath.Join(os.DevNull, "a.html")}, measure.KindStore, "write"},
	} {
		_, err := runReportCommand(t, c.args...)
		if err == nil || measure.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.args, err)
		}
	}
}

func TestReportOfAnEmptyStoreHasAHint(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	cmd := newReportCommand(sys)
	cmd.SetArgs([]string{}) // nil would be those of the test
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(context.Background())
	if measure.KindOf(err) != measure.KindNotFound || !strings.Contains(err.Error(), "--runs") {
		t.Errorf("%v", err)
	}
}
