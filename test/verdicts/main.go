// Command verdicts measures on emulated networks whose limit is known and compares the verdict
// of each trial with it. It prints a line for each trial and the confusion matrix; its exit
// code is 1 if fewer than the required share were right. "make verdicts" runs it.
//
// With -keep it also writes the documents to a folder, and with -replay it judges those of
// such a folder by the rules of this build, without measuring.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/verdict"
)

type options struct {
	program, only, keep, replay string
	seed                        uint64
	runs                        int
	least                       float64
	explain, probes, busy       bool
}

// runner builds the network of a case and measures on it.
type runner struct {
	program string
	dir     string // for files of labs
	probes  bool   // --explain
}

func main() {
	var o options
	flag.StringVar(&o.program, "program", "bin/soku", "the program that is tested")
	flag.StringVar(&o.only, "only", "", "cases whose names match this expression")
	flag.StringVar(&o.keep, "keep", "", "write the documents to this folder")
	flag.StringVar(&o.replay, "replay", "", "judge the documents of this folder")
	flag.Uint64Var(&o.seed, "seed", 0, "draw rates, delays and sizes; 0: those of the table")
	flag.IntVar(&o.runs, "runs", 3, "trials of each case")
	flag.Float64Var(&o.least, "least", 0.92, "share of trials that must be right")
	flag.BoolVar(&o.explain, "explain", false, "print the figures of wrong trials, or of all with -replay")
	flag.BoolVar(&o.probes, "probes", false, "also measure what would tell (--explain), and judge what that tells")
	flag.BoolVar(&o.busy, "busy", false, "keep both ends busy with other work, and fail if a wrong verdict is of high confidence or more than 5 % are of medium")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	program, err := filepath.Abs(o.program)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "soku-verdicts-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r := &runner{program: program, dir: dir, probes: o.probes}
	chosen := slices.DeleteFunc(cases(newDrawing(o.seed)), func(c testCase) bool { return !only.MatchString(c.Name) })
	if len(chosen) == 0 {
		return fmt.Errorf("no case has a name that matches %q", o.only)
	}
	var results tally
	for _, c := range chosen {
		if o.busy {
			c = c.twin()
		}
		each := func(run int, document []byte) error {
			if o.keep != "" {
				if err := os.WriteFile(filepath.Join(o.keep, fmt.Sprintf("%s.%d.json", c.Name, run)), document, 0o644); err != nil {
					return err
				}
			}
			out, err := judged(&c, run, document, o)
			if err == nil {
				results = append(results, out)
			}
			return err
		}
		if o.replay != "" {
			err = replayed(o.replay, c.Name, each)
		} else {
			err = r.run(ctx, &c, o.runs, each)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Printf("%-26s failed: %v\n", c.Name, err)
			results = append(results, outcome{name: c.Name, labels: c.Labels})
		}
	}
	fmt.Println()
	results.print(os.Stdout)
	if o.busy {
		return results.onBusyHosts()
	}
	if share := float64(results.right()) / float64(max(len(results), 1)); share < o.least {
		return fmt.Errorf("%.1f %% right, less than %.1f %%", share*100, o.least*100)
	}
	return nil
}

// judged prints a trial and its verdict.
func judged(c *testCase, run int, document []byte, o options) (outcome, error) {
	r := &measure.Result{}
	if err := json.Unmarshal(document, r); err != nil {
		return outcome{}, err
	}
	out := outcome{name: c.Name, labels: c.Labels, verdict: r.Verdict}
	if o.replay != "" {
		out.verdict = verdict.Judge(r)
	}
	mark, confidence, rule := "right", measure.Confidence(""), ""
	if !out.right() {
		mark = "WRONG"
	}
	if out.verdict != nil {
		confidence, rule = out.verdict.Confidence, out.verdict.Rule
	}
	failed := ""
	if r.Error != nil {
		failed = r.Error.Error()
	}
	fmt.Printf("%-26s %d %s %-18s %-6s %-22s %s\n", c.Name, run, mark, out.said(), confidence, rule, failed)
	if o.explain && (!out.right() || o.replay != "") {
		fmt.Println("   ", figures(r))
	}
	return out, nil
}

// figures are all that rules can compare, in one line.
func figures(r *measure.Result) string {
	var out []string
	for _, d := range r.Options.Direction.Flows() {
		f := verdict.FiguresOf(r, d)
		for _, i := range verdict.Infos {
			if v, known := f.Value(i.Key); known {
				out = append(out, fmt.Sprintf("%s=%.4g", i.Key, v))
			}
		}
	}
	return strings.Join(out, " ")
}

// replayed calls with the documents of a case in a folder.
func replayed(folder, name string, each func(run int, document []byte) error) error {
	files, err := filepath.Glob(filepath.Join(folder, name+".*.json"))
	if err != nil {
		return err
	}
	slices.Sort(files)
	for i, file := range files {
		document, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := each(i+1, document); err != nil {
			return err
		}
	}
	return nil
}
