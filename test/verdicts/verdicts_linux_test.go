package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/semaphore"

	"soku/internal/measure"
	"soku/test/built"
	"soku/test/tier"
)

func TestMain(m *testing.M) { built.Main(m) }

// The whole table takes half an hour (make verdicts); these cases are short, and two run in parallel. On a
// busy machine a processor may be the limit for a moment, so a case passes if one of two verdicts is
// right, the second of a case that runs alone.
func TestTheVerdictNamesTheKnownLimit(t *testing.T) {
	tier.WatchesTheClock(t)
	tier.NeedsRoot(t, "emulated networks")
	r := &runner{program: built.Program(t), dir: t.TempDir()}
	const all = 2 // cases in parallel: delay lines take a processor each
	parallel := semaphore.NewWeighted(all)
	for _, c := range cases(newDrawing(0)) {
		if !c.Quick {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if c.Test != measure.TestCopy { // it takes as long as its files
				c.Flags = append(c.Flags, "-t", "2500ms")
			}
			measured := func(share int64) (out outcome) {
				if err := parallel.Acquire(t.Context(), share); err != nil {
					t.Fatal(err)
				}
				defer parallel.Release(share)
				err := r.run(t.Context(), &c, 1, func(_ int, document []byte) error {
					result := &measure.Result{}
					err := json.Unmarshal(document, result)
					out = outcome{c.Name, c.Labels, result.Verdict}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			var wrong []*measure.Verdict
			for _, share := range []int64{1, all} {
				out := measured(share)
				if out.right() {
					return
				}
				wrong = append(wrong, out.verdict)
			}
			for _, v := range wrong {
				t.Errorf("limited by %v, the verdict is %+v", c.Labels, v)
			}
		})
	}
}

// On a busy host a verdict may be less certain, and must not be wrong with high confidence. make verdicts
// VERDICTS=-busy measures all cases so.
func TestOnBusyHostsNoWrongVerdictIsCertain(t *testing.T) {
	tier.WatchesTheClock(t)
	tier.NeedsRoot(t, "emulated networks")
	r := &runner{program: built.Program(t), dir: t.TempDir()}
	for _, c := range cases(newDrawing(0)) {
		if !slices.Contains([]string{"loss-1%-10ms-bbr", "policer-udp-40M", "shaper-65M-5ms-32-short"}, c.Name) {
			continue
		}
		c = c.twin()
		t.Run(c.Name, func(t *testing.T) {
			err := r.run(t.Context(), &c, 1, func(_ int, document []byte) error {
				result := &measure.Result{}
				err := json.Unmarshal(document, result)
				if (outcome{c.Name, c.Labels, result.Verdict}).wrong(measure.High) {
					t.Errorf("limited by %v, the verdict is %+v", c.Labels, result.Verdict)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestOnBusyHostsAFewMayBeWrongWithMediumConfidence(t *testing.T) {
	say := func(c measure.Confidence, times int) (all tally) {
		for range times {
			all = append(all, outcome{"x", []measure.Bottleneck{measure.BottleneckPathLoss}, &measure.Verdict{LimitedBy: measure.BottleneckPathPolicer, Confidence: c}})
		}
		return all
	}
	for _, c := range []struct {
		all  tally
		fail bool
	}{
		{say(measure.Low, 20), false}, {append(say(measure.Medium, 1), say(measure.Low, 19)...), false},
		{append(say(measure.Medium, 2), say(measure.Low, 18)...), true}, {append(say(measure.High, 1), say(measure.Low, 99)...), true},
	} {
		if err := c.all.onBusyHosts(); (err != nil) != c.fail {
			t.Errorf("%v: %v", c.all, err)
		}
	}
}

func TestNamesOfCasesAreUniqueAndEveryDrawingHasThem(t *testing.T) {
	fixed, drawn := cases(newDrawing(0)), cases(newDrawing(7))
	if len(fixed) < 60 || len(fixed) != len(drawn) {
		t.Fatalf("%d cases, drawn %d", len(fixed), len(drawn))
	}
	names, labels := map[string]bool{}, map[measure.Bottleneck]bool{}
	for i, c := range fixed {
		if names[c.Name] {
			t.Errorf("two cases are named %s", c.Name)
		}
		names[c.Name], labels[c.Labels[0]] = true, true
		if drawn[i].Name != c.Name {
			t.Errorf("%s is %s when drawn", c.Name, drawn[i].Name)
		}
	}
	// No driver of an emulated network has allowances.
	if len(labels) != 20 {
		t.Errorf("cases of %d limits: %v", len(labels), labels)
	}
}

func TestADocumentThatIsNoneIsATrialThatFailed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shaper-20M-5ms.1.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), options{only: "^shaper-20M-5ms$", replay: dir, least: 0.92}); err == nil || !strings.HasPrefix(err.Error(), "0.0 % right") {
		t.Errorf("the error is %v", err)
	}
	if err := run(t.Context(), options{only: "^no such case$", replay: dir}); err == nil {
		t.Error("no case was chosen, and there is no error")
	}
}

func TestTheMatrixCountsALowConfidenceAsWrong(t *testing.T) {
	say := func(b measure.Bottleneck, c measure.Confidence, or ...measure.Bottleneck) outcome {
		return outcome{"x", []measure.Bottleneck{measure.BottleneckPathLoss}, &measure.Verdict{LimitedBy: b, Confidence: c, Alternatives: or}}
	}
	all := tally{
		say(measure.BottleneckPathLoss, measure.Medium), say(measure.BottleneckPathLoss, measure.Low), say(measure.BottleneckNone, measure.High),
		say(measure.BottleneckPathPolicer, measure.High, measure.BottleneckPathLoss), {"y", []measure.Bottleneck{measure.BottleneckMTU}, nil},
	}
	if all.right() != 1 || all.alternatives() != 1 || all.cases() != 2 {
		t.Errorf("%d right, %d named as alternatives, %d cases", all.right(), all.alternatives(), all.cases())
	}
	if got, want := all.instead(), "1 no verdict, 1 none, 1 path_loss (low), 1 path_policer"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
