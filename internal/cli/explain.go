package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/text"
	"soku/internal/trial"
	"soku/internal/verdict"
)

// explainable reports whether further trials may tell what limits a test.
func explainable(test measure.Test) bool { return test == measure.TestTCP || test == measure.TestUDP }

// measuring is a test that a person runs by hand, with what its further trials need.
type measuring struct {
	sys   *System
	flags *measureFlags
	spec  trial.Spec
}

// explanation is the document of --explain with --json.
type explanation struct {
	Schema  string            `json:"schema" jsonschema:"enum=soku.explanation/1"`
	Result  *measure.Result   `json:"result" jsonschema:"description=The trial that is explained"`
	Trials  []*measure.Result `json:"trials" jsonschema:"description=Those that were measured to explain it"`
	Verdict *measure.Verdict  `json:"verdict,omitempty" jsonschema:"description=What the trials tell\\, or the verdict of the result where they do not tell"`
}

const explanationSchema = "soku.explanation/1"

// explain measures what limited a trial, keeps each result, and prints what they show. It fails
// if a trial, the store or the output does.
func (m measuring) explain(ctx context.Context, first *measure.Result) error {
	e := explanation{Schema: explanationSchema, Result: first, Trials: []*measure.Result{}, Verdict: first.Verdict}
	var steps []verdict.Step
	if first.Error == nil {
		steps = verdict.Steps(first)
		m.say(m.planned(first, steps))
	}
	var failed error
	for i, step := range steps {
		if failed = pause(ctx, step.Wait); failed != nil {
			break
		}
		spec := m.spec
		spec.Test, spec.Options = step.Test, step.Options
		r := trial.Run(ctx, spec, trial.Hooks{})
		r.Explains = &measure.Explains{Result: first.ID, Probe: first.Verdict.NextMeasurement, Step: step.Name}
		e.Trials = append(e.Trials, r)
		told := i == len(steps)-1 && r.Error == nil
		if told {
			r.Explains.Verdict = verdict.Conclude(first, e.Trials)
			if r.Explains.Verdict != nil {
				e.Verdict = r.Explains.Verdict
			}
		}
		if failed = m.keepStep(r); failed != nil {
			break
		}
		m.say(measuredStep(r))
		if told {
			m.say(m.concluded(first, r.Explains.Verdict))
		}
	}
	if err := m.document(e); err != nil {
		return err
	}
	return failed
}

// pause waits before a step.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// keepStep keeps a trial in the store. Its error is that of the trial, or of the store.
func (m measuring) keepStep(r *measure.Result) error {
	flags := *m.flags
	flags.output = "" // the file has the first result
	_, err := keep(m.sys, r, &flags)
	if r.Error != nil {
		return r.Error
	}
	return err
}

// say prints lines for a person.
func (m measuring) say(lines text.Lines) {
	if m.flags.forPerson() {
		printLines(m.sys.Catalogue, m.sys.Stdout, m.sys.StdoutWidth(), lines)
	}
}

// document prints the explanation for a program.
func (m measuring) document(e explanation) error {
	switch {
	case m.flags.json:
		return printJSON(m.sys.Stdout, e)
	case m.flags.jsonStream:
		b, err := json.Marshal(struct {
			Event string `json:"event"`
			explanation
		}{"explanation", e})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(m.sys.Stdout, "%s\n", printable.JSON(b))
		return err
	}
	return nil
}

// planned says what is measured now, or why nothing is.
func (m measuring) planned(first *measure.Result, steps []verdict.Step) (lines text.Lines) {
	v := first.Verdict
	switch {
	case v == nil:
		lines.Row("label.explain", "explain.no_verdict", nil)
	case v.NextMeasurement == "":
		lines.Row("label.explain", "explain.clear", nil)
	case len(steps) == 0:
		lines.Row("label.explain", "explain.impossible", nil)
	default:
		lines.Row("label.explain", "explain.plan", text.Args{"Probe": m.sys.Catalogue.Probe(v.NextMeasurement), "Trials": len(steps), "Takes": verdict.Takes(steps).Round(time.Second)})
	}
	return lines
}

// measuredStep is what a step measured.
func measuredStep(r *measure.Result) (lines text.Lines) {
	o, loss := r.Options, 0.0
	if r.Summary.LossRatio != nil {
		loss = *r.Summary.LossRatio
	}
	lines.Under("explain.step."+r.Explains.Step, text.Args{
		"Streams": o.Streams, "Size": o.Size, "Rate": float64(o.Rate), "Duration": o.Duration, "Goodput": r.Summary.GoodputBps, "Loss": loss,
	})
	return lines
}

// concluded is what the steps tell.
func (m measuring) concluded(first *measure.Result, v *measure.Verdict) (lines text.Lines) {
	c := m.sys.Catalogue
	if v != nil {
		lines.Row("label.limited_by", "summary.verdict", c.VerdictArgs(v))
		return lines
	}
	may := []string{c.Bottleneck(first.Verdict.LimitedBy)}
	for _, b := range first.Verdict.Alternatives {
		may = append(may, c.Bottleneck(b))
	}
	lines.Row("label.limited_by", "explain.undecided", text.Args{"May": may})
	return lines
}
