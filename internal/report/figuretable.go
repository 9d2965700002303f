package report

import (
	"cmp"
	"maps"
	"slices"

	"soku/internal/measure/metric"
	"soku/internal/report/outline"
	"soku/internal/text"
)

// figureTable is the table of a test: patterns as rows, and a column for each factor.
func (t testView) figureTable() outline.Table {
	out := outline.NewTable(len(t.Rows))
	rows := t.allRows()
	t.addPatterns(&out, rows, true)
	t.addMinor(&out, rows)
	for _, f := range metric.Of(t.Test.Test).Families {
		if f != metric.UnderLoadFamily {
			t.addFamily(&out, rows, f)
		}
	}
	if len(t.varying()) == 1 && t.Pairs == nil && (len(rows) > 2 || len(t.baseline) > 0) { // of two the answer has it
		t.addRelative(&out, func(i int) *Row { return rows[i] })
	}
	if slices.Contains(metric.Of(t.Test.Test).Families, metric.PathMTUFamily) {
		t.addLimit(&out)
	}
	t.addVerdict(&out)
	out.Add(t.named("column.trials", outline.Column{Number: true, Drop: 2}), func(i int) outline.Cell {
		r := t.Rows[i]
		c := countCell(r.Trials - r.WithoutFigure)
		if r.WithoutFigure > 0 {
			c.Text = t.Sentence("cell.trials", text.Args{"With": r.Trials - r.WithoutFigure, "Of": r.Trials})
		}
		return c
	})
	if len(t.Failures) > 0 {
		addCounts(&out, t.named("column.failed", outline.Column{Number: true, Drop: 1}), func(i int) int { return t.Rows[i].Failed })
	}
	if len(t.Ingested) == 0 || slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Confidence != Confidences{} }) {
		out.AddText(t.named("column.confidence", outline.Column{Drop: 3}), func(i int) string { return t.confidences(t.Rows[i].Confidence) })
	}
	return out
}

// confidences is "3 high, 1 low", or a dash for trials that carry no label.
func (t testView) confidences(c Confidences) string {
	var parts []string
	if c.High > 0 {
		parts = append(parts, t.Sentence("cell.confidence.high", text.Args{"Trials": c.High}))
	}
	if c.Medium > 0 {
		parts = append(parts, t.Sentence("cell.confidence.medium", text.Args{"Trials": c.Medium}))
	}
	if c.Low > 0 {
		parts = append(parts, t.Sentence("cell.confidence.low", text.Args{"Trials": c.Low}))
	}
	if len(parts) == 0 {
		return text.Absent
	}
	return t.List(parts)
}

// rankTable is the ranking, best first.
func (t testView) rankTable() outline.Table {
	out := outline.NewTable(len(t.Ranking))
	unit := t.rankUnit()
	few := t.few()
	for i, p := range t.Ranking {
		out.Rows[i].Name, out.Rows[i].Minor = t.called(p.Pattern), few != nil && !few[p.Pattern]
	}
	out.Add(t.named("column.rank", outline.Column{Number: true}), func(i int) outline.Cell {
		if t.Ranking[i].Rank == 0 {
			return outline.Cell{Text: text.Absent}
		}
		return countCell(t.Ranking[i].Rank)
	})
	out.AddText(t.named("column.pattern", outline.Column{Head: true}), func(i int) string { return t.Ranking[i].Pattern })
	addFigures(&out, outline.Column{Name: t.estimate(), Unit: t.unit(unit), Number: true}, unit, func(i int) *float64 { return t.Ranking[i].Estimate })
	if slices.ContainsFunc(t.Ranking, func(p Place) bool { return p.Low != nil && p.High != nil }) {
		t.addIntervals(&out, t.named("column.interval", outline.Column{Unit: t.unit(unit), Number: true, Drop: 1}), unit, unit.text, func(i int) (low, high *float64) { return t.Ranking[i].Low, t.Ranking[i].High })
	}
	if t.ranksOverlap() {
		out.Add(t.named("column.rank_range", outline.Column{Number: true, Drop: 2}), func(i int) outline.Cell { return t.rankRange(t.Ranking[i]) })
	}
	out.AddText(t.named("column.why", outline.Column{Prose: true}), func(i int) string { return cmp.Or(t.reason(t.Ranking[i]), text.Absent) })
	return out
}

// reason is why a pattern has its place. Of those behind the best it is empty for all but the first,
// and for one that has the rank of the best as all pairs together do not tell it from them.
func (t testView) reason(p Place) string {
	behind := func(p Place) bool { return p.RankLow > 0 && !p.Best }
	if behind(p) && (p.Rank == 1 || p.Pattern != t.Ranking[slices.IndexFunc(t.Ranking, behind)].Pattern) {
		return ""
	}
	return t.because(p)
}

// because is why a pattern has its place, with the names that sentences have.
func (t testView) because(p Place) string {
	f := p.Reason
	if than := f.Text("than"); than != "" {
		f.Figures = maps.Clone(f.Figures)
		f.Figures["than"] = t.called(than)
	}
	return t.Finding(f)
}

// ranksOverlap reports whether the ranks that patterns may have are not simply those of the
// patterns with the same rank, so that a column of them adds something.
func (t testView) ranksOverlap() bool {
	return slices.ContainsFunc(t.Ranking, func(p Place) bool {
		equal := 0
		for _, o := range t.Ranking {
			if o.Rank == p.Rank {
				equal++
			}
		}
		return p.RankLow > 0 && !t.vague(p) && (p.RankLow != p.Rank || p.RankHigh != p.Rank+equal-1)
	})
}

// vague reports whether a pattern may have more than half of all ranks, which says nothing.
func (t testView) vague(p Place) bool { return 2*(p.RankHigh-p.RankLow+1) > len(t.Ranking) }

// rankRange is the ranks that a pattern may have, "2 to 4".
func (t testView) rankRange(p Place) outline.Cell {
	switch {
	case p.RankLow == 0 || p.RankLow != p.RankHigh && t.vague(p):
		return outline.Cell{Text: text.Absent}
	case p.RankLow == p.RankHigh:
		return countCell(p.RankLow)
	}
	return t.rangeCell(float64(p.RankLow), float64(p.RankHigh), one, countText)
}
