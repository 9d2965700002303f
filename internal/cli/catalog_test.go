package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/catalog"
)

func TestCatalogSearchAndShowPrintLimitsWithTheirSources(t *testing.T) {
	out, _, code := soku(t, "catalog", "search", "ds5", "v2")
	if code != 0 || !strings.Contains(out, "azure/Standard_DS5_v2") || !strings.Contains(out, "12.00 Gbit/s out") || strings.Contains(out, "DS4") {
		t.Errorf("%d: %s", code, out)
	}
	out, _, code = soku(t, "catalog", "show", "aws/c6i.large")
	for _, want := range []string{"0.781 Gbit/s", "12.50 Gbit/s (burst)", "https://docs.aws.amazon.com/", "read 2026-"} {
		if code != 0 || !strings.Contains(strings.ReplaceAll(out, "781.0 Mbit/s", "0.781 Gbit/s"), want) {
			t.Errorf("%d: no %q in %s", code, want, out)
		}
	}
	var one catalog.Component
	out, _, code = soku(t, "catalog", "show", "azure/gateway/VpnGw1", "--json")
	if err := json.Unmarshal([]byte(out), &one); err != nil || code != 0 || one.ID != "azure/gateway/VpnGw1" || one.Limits[1].Flow != catalog.Single {
		t.Errorf("%d: %v, %+v", code, err, one)
	}
	var found []catalog.Component
	out, _, code = soku(t, "catalog", "search", "vpngw", "--json")
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != 0 || len(found) < 10 {
		t.Errorf("%d: %v, %d components", code, err, len(found))
	}
}

func TestTheListOfComponentsFitsTheTerminal(t *testing.T) {
	sys, out, errs := fakeSystem(t, "catalog", "search")
	sys.StdoutWidth = func() int { return 80 }
	if code := Run(sys); code != 0 {
		t.Fatalf("%d: %s", code, errs)
	}
	for line := range strings.Lines(out.String()) {
		if terminal.StringWidth(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("wider: %s", line)
		}
	}
	for _, id := range catalog.Builtin().IDs() {
		if !strings.Contains(out.String(), "\n"+id+" ") {
			t.Errorf("no %s", id)
		}
	}
	if !strings.Contains(out.String(), "1000000 connections") {
		t.Error("a limit is missing")
	}
}

func TestWhatTheCatalogDoesNotHaveIsNotFound(t *testing.T) {
	for _, args := range [][]string{{"catalog", "search", "abacus"}, {"catalog", "show", "azure/Standard_DS5_v22"}} {
		out, errs, code := soku(t, args...)
		if code != 9 || out != "" || !strings.Contains(errs, args[2]) {
			t.Errorf("%v: %d, %q, %q", args, code, out, errs)
		}
	}
}

const ownLimits = "tables:\n- {of: line, source: contract, date: 2026-01-01, figure: goodput, limits: {office/line: 500M, azure/Standard_DS5_v2: 11G}}\n"

func TestAPersonsOwnFilesAreMergedTheNamedOneFirst(t *testing.T) {
	named := filepath.Join(t.TempDir(), "named.yaml")
	if err := os.WriteFile(named, []byte(strings.Replace(ownLimits, "500M", "700M", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	show := func(args ...string) string {
		sys, out, errs := fakeSystem(t, args...)
		if err := os.MkdirAll(sys.DataDir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sys.DataDir, ownCatalog), []byte(ownLimits), 0o600); err != nil {
			t.Fatal(err)
		}
		if code := Run(sys); code != 0 {
			t.Fatalf("%v: %d, %s", args, code, errs)
		}
		return out.String()
	}
	if out := show("catalog", "show", "office/line"); !strings.Contains(out, "500.0 Mbit/s") || !strings.Contains(out, "contract, read 2026-01-01") {
		t.Error(out)
	}
	if out := show("catalog", "show", "office/line", "--catalog", named); !strings.Contains(out, "700.0 Mbit/s") {
		t.Error(out)
	}
	if out := show("catalog", "show", "azure/Standard_DS5_v2"); !strings.Contains(out, "11.00 Gbit/s") {
		t.Error(out)
	}
}

func TestABrokenFileOfLimitsIsNamedWithItsPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(ownLimits, "goodput", "speed", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := soku(t, "catalog", "search", "--catalog", file); code == 0 || !strings.Contains(errs, file+":2:") {
		t.Errorf("%d: %s", code, errs)
	}
	if _, errs, code := soku(t, "catalog", "search", "--catalog", file+".missing"); code == 0 || !strings.Contains(errs, "own.yaml.missing") {
		t.Errorf("%d: %s", code, errs)
	}
}

func TestAPlanMayNameAComponentOfAPersonsOwnFile(t *testing.T) {
	dir := t.TempDir()
	own, plan := filepath.Join(dir, "own.yaml"), filepath.Join(dir, "plan.yaml")
	text := "campaign: c\nendpoints: {a: {address: 127.0.0.1, limits: {catalog: office/line}}}\nto: a\ntests: {t: {test: tcp}}\n"
	for file, text := range map[string]string{own: ownLimits, plan: text} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, errs, code := soku(t, "plan", plan); code == 0 || !strings.Contains(errs, plan+":2:") || !strings.Contains(errs, "office/line") {
		t.Errorf("%d: %s", code, errs)
	}
	if _, errs, code := soku(t, "plan", plan, "--catalog", own); code != 0 {
		t.Errorf("%d: %s", code, errs)
	}
}

func TestIdentitiesOfComponentsAreCompleted(t *testing.T) {
	out, _, _ := soku(t, "__complete", "catalog", "show", "azure/standard_ds5")
	if !strings.HasPrefix(out, "azure/Standard_DS5_v2\t") {
		t.Error(out)
	}
}
