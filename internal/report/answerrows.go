package report

import (
	"cmp"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/report/plot"
	"soku/internal/text"
)

// answerFigures is what the answer chart shows.
type answerFigures struct {
	heads  []string // the factors of the rows
	factor string   // whose levels are the marks of a row, or "" for rows of one mark
	of     string   // the only factor of the rows where there are too many patterns; "" otherwise
	all    int      // rows, of which the chart has the first and the last if they are too many
	rows   []answerRow
}

// answerRow is the levels of the other factors and a mark for each level of the asked one.
type answerRow struct {
	name  string
	marks []answerMark
}

// answerMark is the estimate of a pattern, with its 95 % interval and its documented limit where
// it has them.
type answerMark struct {
	name             string // the level of the factor of the marks
	pattern          string
	hue              int
	estimate         float64
	low, high, limit *float64
}

// estimates are the marks with their figures in the unit of the axis.
func (r answerRow) estimates(unit scale) []plot.Estimate {
	out := make([]plot.Estimate, len(r.marks))
	for i, m := range r.marks {
		out[i] = plot.Estimate{At: m.estimate, Low: m.low, High: m.high, Limit: m.limit, Text: unit.text(m.estimate)}
	}
	return out
}

// answerRows are the rows and marks of the answer chart. There are none where fewer than two
// patterns have a figure, and where the test asks about the factor of its curves, which show it.
func (t testView) answerRows() answerFigures {
	if t.sweeps(t.asked) {
		return answerFigures{}
	}
	heads, factor := t.answerHeads()
	out := t.answerBy(heads, factor)
	if len(out.rows) > mostPictured {
		others := slices.DeleteFunc(t.factorsByShare(), func(f string) bool { return f == factor })
		slices.SortStableFunc(others, func(a, b string) int { return cmp.Compare(t.shareOf(b), t.shareOf(a)) })
		if len(others) > 0 && len(heads) > 1 {
			out = t.answerBy(others[:1], factor)
			out.of = others[0]
		}
	}
	if out.all = len(out.rows); out.all == 0 || out.all == 1 && len(out.rows[0].marks) < 2 {
		return answerFigures{}
	}
	out.rows = ends(out.rows, mostPictured, bestPictured, lastPictured)
	return out
}

// answerHeads are the factors whose levels name the rows, the asked one first, and the factor of the
// marks. A factor that has one level with each level of that factor is left out. If no factor is
// left, the rows are the levels of the factor of the marks.
func (t testView) answerHeads() (heads []string, marks string) {
	set, marked := t.levelTexts(), slices.Index(t.Factors, t.hues.factor)
	for f, name := range t.Factors {
		if f != marked && !occursWithOne(set, -1, f) && (marked < 0 || !occursWithOne(set, marked, f)) {
			heads = append(heads, name)
		}
	}
	if len(heads) == 0 && marked >= 0 {
		return []string{t.hues.factor}, ""
	}
	slices.SortStableFunc(heads, func(a, b string) int {
		return cmp.Compare(slices.Index([]string{t.asked}, b), slices.Index([]string{t.asked}, a))
	})
	return heads, t.hues.factor
}

// answerBy has a row for each combination of levels of the heads, in the order of the plan. Of
// several patterns of one row and one level of the factor it has the best.
func (t testView) answerBy(heads []string, factor string) answerFigures {
	out, of := answerFigures{heads: heads, factor: factor}, map[string]int{}
	rows := make(map[string]*Row, len(t.Rows))
	levels := func(r *Row) (key []measure.Level) {
		for _, f := range heads {
			key = append(key, measure.Level{Factor: f, Value: levelOf(r.Levels, f)})
		}
		return key
	}
	implied := t.impliedLevels()
	for _, r := range t.rowsBy(heads) {
		rows[r.Pattern] = r
		key := measure.LevelsKey(levels(r))
		if _, known := of[key]; !known && len(r.Values) > 0 {
			of[key] = len(out.rows)
			out.rows = append(out.rows, answerRow{name: t.rowName(implied.telling(levels(r)))})
		}
	}
	for _, p := range t.Ranking {
		r := rows[p.Pattern]
		if r == nil || p.Estimate == nil || len(r.Values) == 0 {
			continue
		}
		row := &out.rows[of[measure.LevelsKey(levels(r))]]
		m := answerMark{pattern: r.Pattern, hue: t.hues.of(r.Levels), estimate: *p.Estimate, low: p.Low, high: p.High}
		if factor != "" {
			m.name = t.level(levelOf(r.Levels, factor))
		}
		if l := r.Limit(t.Basis.Metric); l != nil {
			m.limit = &l.Value
		}
		if !slices.ContainsFunc(row.marks, func(o answerMark) bool { return o.name == m.name && o.hue == m.hue }) {
			row.marks = append(row.marks, m)
		}
	}
	for _, r := range out.rows {
		slices.SortStableFunc(r.marks, func(a, b answerMark) int { return cmp.Compare(a.hue, b.hue) })
	}
	return out
}

// rowsBy are the rows of the test in their order, those of one level of the first factor together.
func (t testView) rowsBy(factors []string) []*Row {
	rows := t.allRows()
	if len(factors) == 0 {
		return rows
	}
	at := map[string]int{}
	level := func(r *Row) string { return levelOf(r.Levels, factors[0]) }
	for _, r := range rows {
		if _, known := at[level(r)]; !known {
			at[level(r)] = len(at)
		}
	}
	slices.SortStableFunc(rows, func(a, b *Row) int { return cmp.Compare(at[level(a)], at[level(b)]) })
	return rows
}

// rowName joins levels, numbers with their factors.
func (t testView) rowName(levels []measure.Level) string {
	parts := make([]string, len(levels))
	for i, l := range levels {
		parts[i] = t.levelNamed(l.Factor, l.Value)
	}
	return cmp.Or(strings.Join(parts, " / "), text.Absent)
}

// named are the figures of the chart with the names of their patterns.
func (a answerFigures) named() (out []namedFigure) {
	for _, r := range a.rows {
		for _, m := range r.marks {
			out = append(out, namedFigure{m.pattern, m.estimate})
		}
	}
	return out
}

// series are the levels of the marks with their colours, in the order of the colours.
func (a answerFigures) series() (out []outline.Legend) {
	if a.factor == "" {
		return nil
	}
	for _, r := range a.rows {
		for _, m := range r.marks {
			out = addOnce(out, outline.Legend{Series: m.hue, Mark: true, Text: m.name})
		}
	}
	slices.SortStableFunc(out, func(a, b outline.Legend) int { return cmp.Compare(a.Series, b.Series) })
	return out
}

// has reports whether a mark has a figure.
func (a answerFigures) has(figure func(answerMark) *float64) bool {
	return slices.ContainsFunc(a.rows, func(r answerRow) bool {
		return slices.ContainsFunc(r.marks, func(m answerMark) bool { return figure(m) != nil })
	})
}

func (m answerMark) limitFigure() *float64 { return m.limit }
func (m answerMark) highFigure() *float64  { return m.high }
