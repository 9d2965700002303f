package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheTableOfIngestedResultsFitsTheTerminal(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(ingestSamples, "iperf*.*"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	whole, out, errs := fakeSystem(t, append([]string{"ingest", "--campaign", "x", "--dry-run", "--verbose"}, files...)...)
	if code := Run(whole); code != 0 || !strings.Contains(out.String(), files[0]) {
		t.Fatalf("status %d: %s", code, errs)
	}
	for _, width := range []int{100, 80} {
		sys, out, _ := fakeSystem(t, whole.Args...)
		sys.StdoutWidth = func() int { return width }
		Run(sys)
		for _, line := range strings.Split(out.String(), "\n") {
			if w := terminal.StringWidth(line); w > width {
				t.Errorf("%d columns of %d: %s", w, width, line)
			}
		}
		if !strings.Contains(out.String(), "-client-tcp-e.txt") || !strings.Contains(out.String(), "45.80 Gbit/s") {
			t.Errorf("%d columns: no end of a path, or no figure:\n%s", width, out)
		}
	}
}

func TestOnlyTheFirstIngestedResultsHaveALineUnlessAllAreAskedFor(t *testing.T) {
	table := filepath.Join(t.TempDir(), "table.csv")
	mapping := filepath.Join(t.TempDir(), "map.yaml")
	rows := "sku,rate\n"
	for i := range 300 {
		rows += fmt.Sprintf("s%d,%d\n", i, 100+i)
	}
	for file, content := range map[string]string{
		table:   rows,
		mapping: "campaign: x\nfactors: {sku: {column: sku}}\nresults: [{label: up, test: tcp, figures: {goodput: {column: rate, unit: Mbit/s}}}]\n",
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for flag, want := range map[string]int{"": 20, "--verbose": 300} {
		sys, out, errs := fakeSystem(t, append([]string{"ingest", "--map", mapping, table}, strings.Fields(flag)...)...)
		if code := Run(sys); code != 0 || strings.Count(out.String(), table) != want || strings.Contains(out.String(), "20 of 300 results; --verbose") != (want == 20) ||
			!strings.Contains(out.String(), "300 results went into campaign") {
			t.Errorf("%s: status %d, %d lines: %s%.500s", flag, code, strings.Count(out.String(), table), errs, out)
		}
	}
}

// An option that the source does not name is unknown, and not 0.
func TestTheListHasTheOptionsThatASourceNames(t *testing.T) {
	sample := func(name string) string { return filepath.Join(ingestSamples, name) }
	sys, _, errs := fakeSystem(t, "ingest", "--campaign", "x", sample("sockperf-pp.txt"), sample("iperf2-server-2.0.txt"), sample("iperf3-3.21-rev.txt"), sample("nuttcp-t.txt"))
	if code := Run(sys); code != 0 {
		t.Fatalf("status %d: %s", code, errs)
	}
	list, out, _ := fakeSystem(t, "ls")
	list.DataDir = sys.DataDir
	if code := Run(list); code != 0 || !strings.Contains(out.String(), "-P 2") || !strings.Contains(out.String(), "-R") {
		t.Errorf("status %d\n%s", code, out)
	}
	for _, unknown := range []string{"--timeout 0s", "--via", "-P 0", "-b 0", "--tx", "-s 0", "--row 0"} {
		if strings.Contains(out.String(), unknown) {
			t.Errorf("%q is no option of these results:\n%s", unknown, out)
		}
	}
}
