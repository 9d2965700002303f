package report

import (
	"math"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/report/outline"
	"soku/internal/stats"
	"soku/internal/text"
)

// familyView is the patterns of one test with the language that its texts are made in. The embedded
// view is that of the first pattern, which has what all share.
type familyView struct {
	comparedView
	tests []ComparedTest
	rows  []comparedRow // the comparisons of all patterns
}

// comparedRow is one comparison of one pattern.
type comparedRow struct {
	comparedView
	ComparedPair
}

// familyViews are the tests in their order.
func (c *Comparisons) familyViews(in *text.Catalogue) (out []familyView) {
	for from := 0; from < len(c.Tests); {
		f := familyView{comparedView: comparedView{c, &c.Tests[from], in}}
		for from < len(c.Tests) && c.Tests[from].family == f.family {
			v := comparedView{c, &c.Tests[from], in}
			for _, p := range v.Pairs {
				f.rows = append(f.rows, comparedRow{v, p})
			}
			f.tests = append(f.tests, c.Tests[from])
			from++
		}
		out = append(out, f)
	}
	return out
}

// title names the test and its figure.
func (v familyView) title() string {
	b := v.basis()
	return v.Sentence("compare.heading", text.Args{"Label": b.label(), "Basis": b.basis()})
}

// pattern is the name of the levels that all choices of the test share.
func (v comparedView) pattern() string { return measure.JoinLevels(v.Same) }

// campaign is that of the choices if all are patterns of one, named as CAMPAIGN:FACTOR=LEVEL.
func (v comparedView) campaign() (campaign string) {
	for i, c := range v.Choices {
		name, levels, selected := strings.Cut(c.Name, ":")
		if !selected || !strings.Contains(levels, "=") || strings.Contains(name, " ") || i > 0 && name != campaign {
			return ""
		}
		campaign = name
	}
	return campaign
}

// called are names of choices, without the campaign of all.
func (v comparedView) called(names ...string) (out []string) {
	campaign := v.campaign()
	for _, name := range names {
		if campaign != "" {
			name = strings.TrimPrefix(name, campaign+":")
		}
		out = append(out, name)
	}
	return out
}

// overall is the sentence on two choices in all patterns.
func (v familyView) overall(o ComparedOverall) string {
	names := v.called(o.A, o.B)
	change := v.Sentence("compare.change", text.Args{
		"A": names[0], "B": names[1], "Noun": v.basis().noun(), "Carried": v.Metric == metric.Goodput, "Ratio": o.Ratio, "Low": finite(o.Low), "High": finite(o.High), "Tested": o.tested(),
	})
	if i := slices.IndexFunc(v.rows, func(r comparedRow) bool { return r.Choices[r.A].Name == o.A && r.Choices[r.B].Name == o.B }); o.total() == 1 {
		return v.rows[i].answer(change)
	}
	if o.Patterns == 0 {
		return v.Sentence("compare.no_ratios", text.Args{"A": names[0], "B": names[1], "Noun": v.basis().noun()})
	}
	return v.Sentence("compare.overall", text.Args{
		"Change": change, "Patterns": o.Patterns, "Rounds": o.Rounds, "Tested": o.tested(), "Shown": o.Shown(), "Few": !o.Enough && (o.Low > 1 || o.High < 1),
		"Better": o.Better, "Worse": o.Worse, "Same": o.Same, "NotShown": o.NotShown, "SeenBetter": o.SeenBetter, "SeenWorse": o.SeenWorse, "Without": o.total() - o.Patterns,
	})
}

// answer is the sentence on the only pattern of two choices.
func (r comparedRow) answer(change string) string {
	if r.Untested != "" {
		return r.decision(r.ComparedPair)
	}
	more := ""
	if r.Decision == stats.NotShown {
		more = r.more(r.ComparedPair)
	}
	return r.Sentence("compare.pattern", text.Args{
		"Change": change, "Paired": r.Rounds, "A": r.Choices[r.A].Rounds, "B": r.Choices[r.B].Rounds,
		"Decision": string(r.Decision), "Seen": string(r.Seen), "Practical": r.all.Practical, "More": more,
	})
}

// mostCompared is how many rows a terminal has room for, and a chart.
const mostCompared = 30

// table has a row a comparison.
func (v familyView) table(full bool) outline.Table {
	out := outline.NewTable(len(v.rows))
	b, unit := v.basis(), v.unit()
	v.addNames(&out)
	figure := func(c func(r comparedRow) float64) func(i int) outline.Cell {
		return func(i int) outline.Cell {
			value := c(v.rows[i])
			return figureCell(&value, unit, func(f float64) string { return v.form().cellText(f, unit) })
		}
	}
	out.Unit = b.unitOf(v.form(), unit)
	out.Add(b.named("column.compare_old", outline.Column{Number: true, Drop: 1}), figure(func(r comparedRow) float64 { return r.Choices[r.B].Value }))
	out.Add(b.named("column.compare_new", outline.Column{Number: true}), figure(func(r comparedRow) float64 { return r.Choices[r.A].Value }))
	times := b.unit(scale{"×", 1})
	out.Add(b.named("column.compare_change", outline.Column{Unit: times, Number: true}), func(i int) outline.Cell { return v.rows[i].change() })
	out.Add(b.named("column.compare_interval", outline.Column{Unit: times, Number: true, Drop: 2}), func(i int) outline.Cell { return v.rows[i].interval() })
	out.AddText(b.named("column.compare_decision", outline.Column{}), func(i int) string { return v.rows[i].decided() })
	sizes := make([]float64, len(v.rows))
	for i, r := range v.rows {
		sizes[i] = r.size()
	}
	if few := largest(sizes); few != nil && !full {
		out.Note = v.Sentence("compare.few", text.Args{"Shown": mostCompared, "All": len(v.rows), "Left": len(v.rows) - mostCompared})
		for i := range out.Rows {
			out.Rows[i].Minor = !few[i]
		}
	}
	return out
}

// addNames adds columns that name the pattern, if there are several, and the choices, if there are
// more than two. The caption names the choices that have no column.
func (v familyView) addNames(out *outline.Table) {
	several := len(v.Choices) > 2
	for i, r := range v.rows {
		names := v.called(r.Choices[r.A].Name, r.Choices[r.B].Name)
		var parts []string
		if len(r.Same) > 0 {
			parts = append(parts, r.pattern())
		}
		if several && v.all.AllPairs {
			parts = append(parts, names...)
		} else if several {
			parts = append(parts, names[0])
		}
		out.Rows[i].Name = strings.Join(parts, measure.LevelSeparator)
	}
	for f, l := range v.Same {
		c := outline.Column{Name: l.Factor, Head: true}
		if l.Factor == "" {
			c = v.basis().named("column.pattern", c)
		}
		out.AddText(c, func(i int) string { return v.rows[i].Same[f].Value })
	}
	choice := func(key string, of func(comparedRow) int) {
		out.AddText(v.basis().named(key, outline.Column{Head: true}), func(i int) string { return v.called(v.rows[i].Choices[of(v.rows[i])].Name)[0] })
	}
	if several {
		choice("column.choice", func(r comparedRow) int { return r.A })
	}
	if several && v.all.AllPairs {
		choice("column.compare_against", func(r comparedRow) int { return r.B })
		return
	}
	p := v.rows[0]
	names := v.called(p.Choices[p.A].Name, p.Choices[p.B].Name)
	out.Caption = v.Sentence("compare.choices", text.Args{"Old": names[1], "New": names[0], "Several": several})
}

// form and unit are how the figure is written in the table.
func (v familyView) form() form { return formOf(v.Metric.Quantity) }
func (v familyView) unit() scale {
	var figures []float64
	for _, t := range v.tests {
		for _, c := range t.Choices {
			figures = append(figures, c.Value)
		}
	}
	return scaleFor(v.form().scales, figures...)
}

// size is how large the change is, the same for twice and half as much; −1 without a ratio.
func (r comparedRow) size() float64 {
	if finite(r.Ratio) == nil || r.Ratio <= 0 {
		return -1
	}
	return math.Abs(math.Log(r.Ratio))
}

// largest reports which of some changes are the largest that there is room for; nil: all.
func largest(sizes []float64) []bool {
	if len(sizes) <= mostCompared {
		return nil
	}
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if sizes[a] > sizes[b] {
			return -1
		}
		return 1
	})
	out := make([]bool, len(sizes))
	for _, i := range order[:mostCompared] {
		out[i] = true
	}
	return out
}

// change is the ratio of new to old.
func (r comparedRow) change() outline.Cell {
	ratio := finite(r.Ratio)
	if ratio == nil {
		return outline.Cell{Text: text.Absent}
	}
	return outline.Cell{Text: r.Sentence("compare.cell.change", text.Args{"Ratio": ratio, "Low": finite(r.Low), "High": finite(r.High)}), Value: ratio}
}

// interval is that of the change; a dash if there is none, or if all rounds have the same change.
func (r comparedRow) interval() outline.Cell {
	low, high := finite(r.Low), finite(r.High)
	if low == nil || high == nil {
		return outline.Cell{Text: text.Absent}
	}
	s := r.Sentence("compare.cell.interval", text.Args{"Ratio": r.Ratio, "Low": low, "High": high})
	if s == "" {
		return outline.Cell{Text: text.Absent}
	}
	return outline.Cell{Text: s, Value: low, High: high}
}

// decided is what the comparison shows, in a word or two.
func (r comparedRow) decided() string {
	return r.Sentence("compare.cell.decision", text.Args{"Decision": string(r.Decision), "Seen": string(r.Seen), "Untested": r.Untested != ""})
}
