package report

import (
	"slices"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/text"
)

// WithBaseline is the report whose tables show figures over those of the pattern with these levels and,
// for the factors that they do not name, the same ones. A test without some of the factors takes the levels
// of the others. The error is of kind usage: no test has such a factor, or a pattern with such levels.
func (r *Report) WithBaseline(levels []measure.Level) (*Report, error) {
	out := *r
	out.Tests = slices.Clone(r.Tests)
	factors := r.factors()
	found := len(levels) == 0
	for i := range out.Tests {
		t := &out.Tests[i]
		found = t.compareWith(levels) || found
		if t.AtBest != nil {
			best := *t.AtBest
			best.compareWith(levels)
			t.AtBest = &best
		}
	}
	if !found || slices.ContainsFunc(levels, func(l measure.Level) bool { return !slices.Contains(factors, l.Factor) }) {
		return nil, measure.Fail(measure.KindUsage, "report.baseline", measure.Figures{"levels": levelTexts(levels), "factors": factors})
	}
	return &out, nil
}

// compareWith makes levels the baseline, if the test has a pattern with those that its factors have.
func (t *Test) compareWith(levels []measure.Level) bool {
	levels = slices.DeleteFunc(slices.Clone(levels), func(l measure.Level) bool { return !slices.Contains(t.Factors, l.Factor) })
	if len(levels) == 0 || !slices.ContainsFunc(t.Rows, func(r Row) bool { return !slices.ContainsFunc(levels, r.differsFrom) }) {
		return false
	}
	t.baseline = levels
	return true
}

// levelTexts are levels as --baseline takes them.
func levelTexts(levels []measure.Level) (out []string) {
	for _, l := range levels {
		out = append(out, l.Factor+"="+l.Value)
	}
	return out
}

func (r Row) differsFrom(l measure.Level) bool { return !slices.Contains(r.Levels, l) }

// baselineOf is the row that a row is compared with, nil if it was not measured.
func (t *Test) baselineOf(r *Row) *Row {
	if r == nil {
		return nil
	}
	levels := slices.Clone(r.Levels)
	for i := range levels {
		if l := find(t.baseline, func(l *measure.Level) bool { return l.Factor == levels[i].Factor }); l != nil {
			levels[i].Value = l.Value
		}
	}
	return find(t.Rows, func(o *Row) bool { return slices.Equal(o.Levels, levels) })
}

// over is the figure of a over that of b, nil if one is not known.
func (t *Test) over(a, b *Row) *float64 {
	if a == nil || b == nil {
		return nil
	}
	of, over := t.estimateOf(a.Pattern), t.estimateOf(b.Pattern)
	if of == nil || over == nil {
		return nil
	}
	return finite(*of / *over)
}

// addRelative adds the figures over those of the baseline or of the best pattern.
func (t testView) addRelative(out *outline.Table, of func(i int) *Row) {
	if t.ranged() || len(t.Ranking) == 0 || t.Ranking[0].Estimate == nil {
		return
	}
	column, best := t.named("column.relative", outline.Column{Number: true, Drop: 2}), t.rowOf(t.Ranking[0].Pattern)
	base := func(*Row) *Row { return best }
	if len(t.baseline) > 0 {
		args := text.Args{"Levels": t.levelsText(t.baseline)}
		column.Name, column.Why, base = t.Sentence("column.over", args), t.Sentence("column_note.over", args), t.baselineOf
	}
	addFigures(out, column, one, func(i int) *float64 { return t.over(of(i), base(of(i))) })
}
