package report

import (
	"cmp"
	"slices"

	"soku/internal/report/outline"
	"soku/internal/report/plot"
	"soku/internal/text"
)

// coverage is in which rounds a pattern has trials, from the first round on.
type coverage struct {
	*Row
	rounds  []roundCoverage
	missing int // rounds without a trial
}

type roundCoverage struct{ ran, failed int }

// coverages are the patterns with failed trials or with rounds that have none, those with the most first.
// A search leaves rounds of a level out on purpose: there rounds without a trial do not count, nor do those
// before a level was added to the plan.
func (t *Test) coverages() (out []coverage) {
	last := 0
	for i := range t.Rows {
		for _, r := range t.Rows[i].results {
			last = max(last, roundOf(r))
		}
	}
	if t.ByHand || last < 2 {
		return nil
	}
	searched := slices.ContainsFunc(t.allCurves(), func(c Curve) bool { return c.Searched })
	for i := range t.Rows {
		c := coverage{Row: &t.Rows[i], rounds: make([]roundCoverage, last)}
		for _, r := range c.results {
			at := &c.rounds[max(roundOf(r), 1)-1]
			if at.ran++; r.Error != nil {
				at.failed++
			}
		}
		for _, r := range c.rounds[t.firstRound(c.Row)-1:] {
			if r.ran == 0 && !searched {
				c.missing++
			}
		}
		if c.Failed+c.missing > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b coverage) int { return cmp.Compare(b.Failed+b.missing, a.Failed+a.missing) })
	return out
}

// firstRound is the first round whose plan had the levels of a row.
func (t *Test) firstRound(r *Row) int {
	first := 1
	for _, l := range t.later {
		if slices.Contains(r.Levels, l.Level) {
			first = max(first, l.FirstRound)
		}
	}
	return first
}

const (
	coverageRow  = 34
	coverageCell = 4 // pixels of a round, at least
)

// coverageFigure draws in which rounds patterns have trials: of all rounds that share a cell it shows
// whether one failed or has none.
func (t testView) coverageFigure(id string) *outline.Figure {
	all := t.coverages()
	if len(all) == 0 {
		return nil
	}
	rows := all[:min(len(all), mostPictured)]
	f := plot.InBothWidths(id, func(width float64) *plot.Plot { return t.coveragePlot(rows, width) })
	f.Caption = t.Sentence("chart.coverage.caption", text.Args{"Shown": len(rows), "All": len(all), "Patterns": len(t.Rows)})
	return &f
}

func (t testView) coveragePlot(rows []coverage, width float64) *plot.Plot {
	rounds, failed, missing := len(rows[0].rounds), 0, 0
	for _, c := range rows {
		failed, missing = failed+c.Failed, missing+c.missing
	}
	box := outline.Box{Left: 8, Top: 8, Right: width - 8, Bottom: 8 + coverageRow*float64(len(rows))}
	x := plot.Axis{Low: 0, High: float64(rounds), From: box.Left, To: box.Right}
	p := plot.New(plot.Frame{
		Title: t.Sentence("chart.coverage.title", text.Args{"Heading": t.heading()}),
		Desc:  t.Sentence("chart.coverage.content", text.Args{"Patterns": len(rows), "Rounds": rounds, "Failed": failed, "Missing": missing}),
		Width: width, Height: box.Bottom + 40, Box: box, XTitle: t.Sentence("chart.coverage.axis", text.Args{"Rounds": rounds}),
	}, x, plot.Axis{})
	each := 1 + int(float64(rounds)*coverageCell/(box.Right-box.Left)) // rounds of a cell
	for i, c := range rows {
		top, hue := box.Top+coverageRow*float64(i), t.hues.of(c.Levels)
		p.RowTitle(top, c.Pattern, c.Pattern, t.Sentence("chart.coverage.row", text.Args{"Failed": c.Failed, "Missing": c.missing}), 150)
		for from := 0; from < rounds; from += each {
			cell := c.rounds[from:min(from+each, rounds)]
			to, args := float64(from+len(cell)), text.Args{"Pattern": c.Pattern, "First": from + 1, "Last": from + len(cell)}
			switch {
			case slices.ContainsFunc(cell, func(r roundCoverage) bool { return r.failed > 0 }):
				p.Band("dot", hue, float64(from), to-0.2, top+18, 12, t.Sentence("chart.coverage.failed", args))
			case !slices.ContainsFunc(cell, func(r roundCoverage) bool { return r.ran == 0 }):
				p.Band("loaded", hue, float64(from), to-0.2, top+22, 4, t.Sentence("chart.coverage.ran", args))
			}
		}
	}
	return p
}

// coverageTable has the figures of the chart.
func (t testView) coverageTable() outline.Table {
	all := t.coverages()
	out := outline.NewTable(len(all))
	rows := make([]*Row, len(all))
	for i, c := range all {
		rows[i] = c.Row
	}
	t.addPatterns(&out, rows, false)
	addCounts(&out, t.named("column.trials", outline.Column{Number: true}), func(i int) int { return rows[i].Trials })
	addCounts(&out, t.named("column.failed", outline.Column{Number: true}), func(i int) int { return rows[i].Failed })
	addCounts(&out, t.named("column.missing", outline.Column{Number: true}), func(i int) int { return all[i].missing })
	return out
}
