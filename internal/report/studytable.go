package report

import (
	"cmp"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/text"
)

// pivot is a table whose rows and columns are the levels of two factors, by their index in
// [Test.Factors].
type pivot struct {
	rows, columns int
	planned       bool // levels are in the order of the plan
}

// Pivoted returns the report with another first table for each test that has both factors: the
// figure that ranks, with the levels of one factor as rows and those of the other as columns.
// spec is "ROWS,COLUMNS". The error is of kind usage: no test has both factors.
func (r *Report) Pivoted(spec string) (*Report, error) {
	out := *r
	out.Tests = slices.Clone(r.Tests)
	found := false
	for i := range out.Tests {
		t := &out.Tests[i]
		for at, c := range spec {
			if c != ',' {
				continue
			}
			rows, columns := slices.Index(t.Factors, strings.TrimSpace(spec[:at])), slices.Index(t.Factors, strings.TrimSpace(spec[at+1:]))
			if rows >= 0 && columns >= 0 && rows != columns {
				t.pivot, found = &pivot{rows, columns, r.Campaign.Plan != ""}, true
			}
		}
	}
	if !found {
		return nil, measure.Fail(measure.KindUsage, "report.pivot", measure.Figures{"pivot": spec, "factors": r.factors()})
	}
	return &out, nil
}

// CheckQuestion returns an error of kind usage if no test has the factor that a question names.
func (r *Report) CheckQuestion(question string) error {
	if factors := r.factors(); !slices.Contains(factors, question) && !slices.Contains(measure.Questions, question) {
		return measure.Fail(measure.KindUsage, "report.question", measure.Figures{"question": question, "factors": slices.Concat(factors, measure.Questions)})
	}
	return nil
}

// study is the table in which a campaign is published: the figure that ranks by the levels of factors.
type study struct {
	testView
	heads   []int // factors whose levels name a row, by their index
	columns int   // the factor whose levels are the columns, or -1: a row a pattern
}

// Bounds of the study's table: one with more is no table to publish.
const (
	mostStudyColumns = 8
	mostStudyRows    = 40
	leastFilled      = 0.5 // cells with a pattern
)

// study is the table that the design of the campaign asks for: of two factors the first by the
// second, of more rows of several levels with the asked factor as columns, as of two where it is named, at the best level of
// tuning factors; a row a pattern where most combinations were not measured. It is nil if one
// factor or none varies, because the figures of all patterns are that table, and if pairs of hosts
// have tables of their own.
func (t testView) study() *study {
	if t.pivot != nil {
		return t.pivoted()
	}
	if t.ByHand || t.Pairs != nil {
		return nil
	}
	s := &study{testView: t, columns: -1}
	vary := t.varying()
	if t.AtBest != nil && (len(vary) > 2 || t.PlateauOf != "") {
		s.testView = testView{t.AtBest, t.Catalogue}
		vary = s.varying()
	} else if len(vary) < 2 {
		return nil
	}
	s.arrange(vary, t.Test)
	if len(s.keys()) > mostStudyRows {
		return nil
	}
	return s
}

// arrange chooses what is a row and what a column.
func (s *study) arrange(vary []int, by *Test) {
	fits := func(f int) bool { return len(s.distinctLevels(f)) <= mostStudyColumns }
	candidates := slices.DeleteFunc(slices.Clone(vary), func(f int) bool { return !fits(f) })
	if len(vary) > 1 && len(candidates) > 0 {
		s.columns = candidates[len(candidates)-1]
		if f := slices.Index(s.Factors, by.asked); (len(vary) > 2 || by.askedByName) && slices.Contains(candidates, f) {
			s.columns = f
		}
	}
	s.heads = slices.DeleteFunc(slices.Clone(vary), func(f int) bool { return f == s.columns })
	if s.columns >= 0 && float64(len(s.Rows)) < leastFilled*float64(len(s.keys())*len(s.distinctLevels(s.columns))) {
		s.heads, s.columns = vary, -1
	}
}

// pivoted is the table of the two factors that were asked for; the others that vary are row labels, so
// that each cell is one pattern.
func (t testView) pivoted() *study {
	s := &study{testView: t, heads: []int{t.pivot.rows}, columns: t.pivot.columns}
	for _, f := range t.varying() {
		if f != t.pivot.rows && f != t.pivot.columns {
			s.heads = append(s.heads, f)
		}
	}
	return s
}

// varying are the factors with several levels, by their index.
func (t *Test) varying() (out []int) {
	for f := range t.Factors {
		if len(t.distinctLevels(f)) > 1 {
			out = append(out, f)
		}
	}
	return out
}

// key is the levels that name the row of a pattern.
func (s *study) key(r *Row) []string {
	out := make([]string, len(s.heads))
	for i, f := range s.heads {
		out[i] = r.Levels[f].Value
	}
	return out
}

// keys are those of all rows of the table, in the order of the first factor's levels.
func (s *study) keys() (out [][]string) {
	for i := range s.Rows {
		if key := s.key(&s.Rows[i]); !slices.ContainsFunc(out, func(o []string) bool { return slices.Equal(o, key) }) {
			out = append(out, key)
		}
	}
	order := s.distinctLevels(s.heads[0])
	slices.SortStableFunc(out, func(a, b []string) int { return slices.Index(order, a[0]) - slices.Index(order, b[0]) })
	return out
}

// table has no columns if there is no study.
func (s *study) table() outline.Table {
	if s == nil {
		return outline.Table{}
	}
	keys := s.keys()
	out := outline.NewTable(len(keys))
	out.Whole, out.Unit = true, s.unit(s.rankUnit())
	for at, f := range s.heads {
		out.AddText(outline.Column{Name: s.Factors[f], Head: true}, func(i int) string { return cmp.Or(keys[i][at], text.Absent) })
	}
	cell := s.cell()
	of := func(i int, column string) *Row {
		for k := range s.Rows {
			if r := &s.Rows[k]; slices.Equal(s.key(r), keys[i]) && (s.columns < 0 || r.Levels[s.columns].Value == column) {
				return r
			}
		}
		return nil
	}
	if s.columns < 0 {
		name := s.estimate()
		if s.ranged() {
			name = s.metric(s.Basis.column())
		}
		out.Add(outline.Column{Name: name, Unit: out.Unit, Number: true}, func(i int) outline.Cell { return cell(of(i, "")) })
		s.addRelative(&out, func(i int) *Row { return of(i, "") })
		return out
	}
	levels := s.columnLevels()
	for _, level := range levels {
		out.Add(outline.Column{Name: cmp.Or(level, text.Absent), Number: true}, func(i int) outline.Cell {
			if r := of(i, level); r != nil {
				return cell(r)
			}
			return outline.Cell{Text: text.Absent}
		})
	}
	if len(levels) == 2 && !s.ranged() {
		if slices.ContainsFunc(s.baseline, func(l measure.Level) bool {
			return l == (measure.Level{Factor: s.Factors[s.columns], Value: levels[1]})
		}) {
			levels[0], levels[1] = levels[1], levels[0]
		}
		ratio := s.named("column.ratio", outline.Column{Number: true, Why: s.Sentence("study.second_over_first", text.Args{"First": s.level(levels[0]), "Second": s.level(levels[1])})})
		addFigures(&out, ratio, one, func(i int) *float64 { return s.over(of(i, levels[1]), of(i, levels[0])) })
	}
	return out
}

// columnLevels are the levels of the columns, in the order of the plan or, in a table that was asked
// for without a plan, by their names.
func (s *study) columnLevels() []string {
	levels := s.distinctLevels(s.columns)
	if s.pivot != nil && !s.pivot.planned {
		slices.SortStableFunc(levels, natural)
	}
	return levels
}

// cell writes the figure that ranks a row: its estimate, or of a published range its ends. Patterns
// that are not shown to be worse than any other are marked, if others are.
func (s *study) cell() func(*Row) outline.Cell {
	unit := s.rankUnit()
	if s.ranged() {
		return func(r *Row) outline.Cell { return s.testView.cell(r, s.Basis.column(), unit) }
	}
	marks, over := s.marks(), s.noted() != ""
	return func(r *Row) outline.Cell {
		c := figureCell(s.estimateOf(r.Pattern), unit, unit.text)
		c.Best = marks && s.place(r.Pattern).Best
		if l := r.Limit(s.Basis.Metric); over {
			if ratio := s.over(r, s.baselineOf(r)); ratio != nil {
				c.Note = s.Sentence("cell.over", text.Args{"Over": text.Significant(3, *ratio)})
			}
		} else if l != nil && l.Share != nil {
			c.Note = s.Sentence("cell.share", text.Args{"Share": shareText(l)})
		}
		return c
	}
}

// noted are the levels over whose figures cells have a note, or "": a table with a column for that has none.
func (s *study) noted() string {
	if s.columns < 0 || len(s.baseline) == 0 || len(s.distinctLevels(s.columns)) == 2 && s.baseline[0].Factor == s.Factors[s.columns] {
		return ""
	}
	return s.levelsText(s.baseline)
}

// marks reports whether cells of the best patterns are marked.
func (s *study) marks() bool {
	return !s.ranged() && slices.ContainsFunc(s.Ranking, func(p Place) bool { return p.RankLow > 0 && !p.Best })
}

// ranged reports whether trials are ranked by the middle of published ranges: a column of their
// ends shows what that rests on.
func (t *Test) ranged() bool { return t.Basis.column() != t.Basis.Metric }

// heading is what the table has, such as "goodput (Gbit/s) by instance type and interface".
func (s *study) heading() string {
	if s == nil {
		return ""
	}
	figure := s.estimate()
	if s.ranged() {
		figure = s.metric(s.Basis.column())
	}
	var by []string
	for i, f := range s.heads {
		if i == 0 || s.pivot == nil { // of a table that was asked for the two factors
			by = append(by, s.Factors[f])
		}
	}
	if s.columns >= 0 {
		by = append(by, s.Factors[s.columns])
	}
	return s.Capital(s.Sentence("report.study", text.Args{
		"Figure": figure, "Unit": s.unit(s.rankUnit()), "By": by, "Tuned": s.levelsText(s.Tuned), "Plateau": s.PlateauOf, "Marks": s.marks(),
		"Baseline": s.noted(), "Limited": s.noted() == "" && !s.ranged() && slices.ContainsFunc(s.Rows, func(r Row) bool { return r.Limit(s.Basis.Metric) != nil }),
	}))
}
