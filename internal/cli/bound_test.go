package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/store"
	"soku/test/tier"
)

func TestOneTestIsJudgedByRulesAndByABound(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	addr := startServer(t, nil)
	dir := t.TempDir()
	result := filepath.Join(dir, "r.json")
	sys, out, errs := fakeSystem(t)
	run := func(args ...string) int {
		sys.Args = args
		out.Reset()
		errs.Reset()
		return Run(sys)
	}
	if code := run("tcp", addr, "-t", "200ms", "-o", result, "--fail-below", "1M"); code != 0 {
		t.Fatalf("status %d, %s", code, errs)
	}
	for threshold, want := range map[string]int{"1 Mbit/s": 0, "100 Tbit/s": 11} {
		rules := filepath.Join(dir, strings.Fields(threshold)[0]+".yaml")
		if err := os.WriteFile(rules, []byte("rules:\n  - check: goodput >= "+threshold+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{rules, result}, {rules}, {rules, "last"}, {rules, "--runs", "1"}} {
			if code := run(append([]string{"check"}, args...)...); code != want || !strings.Contains(out.String(), "one test without an interval") {
				t.Errorf("%v: status %d, %s%s", args, code, out, errs)
			}
		}
	}
	for args, want := range map[string]string{
		"tcp --fail-below 100T":          "goodput is ",
		"latency --fail-above 1ns":       "rtt_p50 is ",
		"connect -c 10 --fail-below 99M": "connections is ",
	} {
		if code := run(append(strings.Fields(args), "-t", "200ms", addr)...); code != 11 || !strings.Contains(errs.String(), want) || !strings.Contains(out.String(), "confidence") {
			t.Errorf("%s: status %d, %s%s", args, code, out, errs)
		}
	}
	for args, want := range map[string]string{
		"tcp --fail-below 900": "write for example 900 Mbit/s", "tcp --fail-above 1M": "--fail-below", "latency --fail-above fast": "is not a threshold of rtt_p50_ns", "trace --fail-above 5": "write for example 5 ms",
		"tcp --fail-below 90_%_of_limit": "is not a threshold of goodput_bps", "tcp --fail-below 900M_at_99_%": "is not a threshold of goodput_bps",
	} {
		words := strings.Fields(args)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "_", " ") // within an argument
		}
		if code := run(append(words, "-t", "200ms", addr)...); code != 2 || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: status %d, %s", args, code, errs)
		}
	}
}

func TestTheLastRunsByHandAreRoundsOfTheirPattern(t *testing.T) {
	sys, run := stocked(t, 0)
	fillStore(t, sys)
	if err := inStore(t.Context(), sys, "", func(st store.Store) error {
		for i := range 9 {
			o := option.Defaults(measure.TestTCP)
			if i%3 == 0 {
				o.Streams = 16
			}
			o, _ = option.Effective(o, measure.TestTCP)
			r := &measure.Result{
				Schema: measure.Schema, ID: fmt.Sprintf("02RESULT%d", i), Test: measure.TestTCP, Options: o, StartedAt: sys.Now(),
				Path:    measure.Path{Client: measure.Endpoint{Name: "office"}, Server: measure.Endpoint{Name: "vm"}, Direction: measure.Forward},
				Summary: measure.Summary{GoodputBps: 940e6 + float64(i)*1e6, Confidence: measure.High},
			}
			if err := st.Put(t.Context(), r); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(rules, []byte("rules:\n  - check: goodput >= 900 Mbit/s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := run("check", rules, "--runs", "9")
	if code != 0 || !strings.HasPrefix(out, "the last 9 tests by hand: 1 of 1 rule holds") || !strings.Contains(out, "office → vm / -P 16: 943.0 Mbit/s") || !strings.Contains(out, "6 rounds") || !strings.Contains(out, "3 rounds") {
		t.Errorf("status %d, %s%s", code, out, errs)
	}
	// Further back there are two of 100 Mbit/s.
	if out, errs, code := run("check", rules, "--runs", "11"); code != 12 {
		t.Errorf("status %d, %s%s", code, out, errs)
	}
	for _, args := range [][]string{{"--runs", "-1"}, {"gateway/sku", "--runs", "3"}} {
		if _, errs, code := run(append([]string{"check", rules}, args...)...); code != 2 {
			t.Errorf("%v: status %d, %s", args, code, errs)
		}
	}
}
