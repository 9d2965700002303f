package report

import (
	"slices"

	"soku/internal/text"
)

// rest are sentences about what is in no comparison.
func (c *Comparisons) rest(in *text.Catalogue) (out []string) {
	if c.LeftOut > 0 {
		out = append(out, in.Sentence("compare.left_out", text.Args{"N": c.LeftOut}))
	}
	for _, f := range c.Failed {
		message, _ := in.Error(f.Error)
		out = append(out, in.Sentence("compare.all_failed", text.Args{"Choice": f.Choice, "Trials": f.Trials, "Error": message}))
	}
	return out
}

// notes are what limits the comparisons of a test.
func (v familyView) notes() (out []string) {
	var apart, tested, alike bool
	for _, r := range v.rows {
		apart, alike = apart || r.Apart, alike || r.Alike
		tested = tested || r.Apart && r.Untested == ""
	}
	if apart {
		out = append(out, v.Sentence("compare.apart", text.Args{"Tested": tested}))
	}
	if alike {
		out = append(out, v.Sentence("compare.alike", nil))
	}
	if n := v.all.adjusted(v.ComparedTest); n > 1 {
		out = append(out, v.Sentence("compare.together", text.Args{"Comparisons": n}))
	}
	if rule := v.interim.rule(); rule != nil {
		out = append(out, rule.sentence(v.Catalogue))
	}
	return append(out, v.noted()...)
}

// failures are the trials of a choice without a figure, of all patterns.
type failures struct {
	choice     string
	failed, of int
}

// noted are notes on the results of a test.
func (v familyView) noted() (out []string) {
	ingested, stated := 0, 0
	var different []Option
	var failed []failures
	for _, t := range v.tests {
		for _, c := range t.Choices {
			f := findOrAdd(&failed, func(f failures) bool { return f.choice == c.Name }, failures{choice: c.Name})
			f.failed, f.of = f.failed+c.Failed, f.of+c.Failed+c.Trials
		}
		ingested, stated = ingested+t.Ingested, stated+t.Stated
		for _, o := range t.Different {
			if !slices.ContainsFunc(different, func(d Option) bool { return d.Key == o.Key }) {
				different = append(different, o)
			}
		}
	}
	for _, f := range failed {
		if f.failed > 0 {
			out = append(out, v.Sentence("compare.failed", text.Args{"Choice": f.choice, "N": f.failed, "Of": f.of}))
		}
	}
	if ingested > stated {
		out = append(out, v.Sentence("caveat.order_unknown", nil))
	}
	if stated > 0 {
		out = append(out, v.Sentence("caveat.order_stated", nil))
	}
	if len(different) > 0 {
		out = append(out, v.Sentence("compare.options", text.Args{"Options": v.options(different)}))
	}
	return out
}
