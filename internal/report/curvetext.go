package report

import (
	"cmp"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/text"
)

const barColumns = 14 // of the longest bar on a terminal

// levelsOff says where a curve levels off, or returns "" if its figure has no plateau.
func (t testView) levelsOff(c Curve) string {
	knee := c.knee()
	if knee == nil || c.Plateau == nil {
		return ""
	}
	first := c.Points[0]
	args := text.Args{
		"Levels": t.levelsText(t.impliedLevels().telling(c.Levels)), "Option": c.Option, "Noun": t.noun(), "Metric": t.Basis.Metric, "Plateau": *c.Plateau, "Knee": knee.Level, "Tested": c.Low != nil && c.High != nil,
		"Low": 0.0, "High": 0.0, "Rising": c.Rising, "Last": c.Points[len(c.Points)-1].Level, "First": first.Level, "FirstEstimate": first.Estimate, "Share": first.Estimate / *c.Plateau,
		"AtFirst": knee.Value == first.Value,
	}
	if c.Low != nil && c.High != nil {
		args["Low"], args["High"] = *c.Low, *c.High
	}
	return t.Sentence("curve", args)
}

// curveTable is one curve with a bar for each level, or of several the figures, with their
// levels as rows. It has no columns without a curve.
func (t testView) curveTable() table {
	all := t.allCurves()
	if len(all) == 0 {
		return table{}
	}
	unit := t.rankUnit()
	if len(all) > 1 {
		return t.curvesTable(all)
	}
	c := all[0]
	out := table{Rows: make([][]string, len(c.Points))}
	most := 0.0
	for _, p := range c.Points {
		most = max(most, p.Estimate)
	}
	out.add(column{Name: c.Option, Head: true}, func(i int) string { return c.Points[i].Level })
	out.add(column{Name: t.estimate(), Unit: t.unit(unit), Number: true}, func(i int) string { return unit.text(c.Points[i].Estimate) })
	out.add(t.named("column.interval", column{Unit: t.unit(unit), Number: true, keep: 2}), func(i int) string {
		if p := c.Points[i]; p.Low != nil && p.High != nil {
			return t.between(unit.text(*p.Low), unit.text(*p.High))
		}
		return text.Absent
	})
	if c.Plateau != nil {
		out.add(t.named("column.of_plateau", column{Number: true, keep: 1}), func(i int) string { return inPercent(c.Points[i].Estimate / *c.Plateau) + " %" })
	}
	out.add(column{keep: 3}, func(i int) string {
		if !(most > 0) {
			return ""
		}
		return strings.Repeat("█", int(c.Points[i].Estimate/most*barColumns+0.5))
	})
	return out
}

// curvesTable has a column for each curve.
func (t testView) curvesTable(all []Curve) table {
	unit := t.rankUnit()
	var levels []CurvePoint
	for _, c := range all {
		for _, p := range c.Points {
			if !slices.ContainsFunc(levels, func(l CurvePoint) bool { return l.Level == p.Level }) {
				levels = append(levels, p)
			}
		}
	}
	slices.SortStableFunc(levels, func(a, b CurvePoint) int { return cmp.Compare(a.Value, b.Value) })
	out := table{Rows: make([][]string, len(levels))}
	out.add(column{Name: all[0].Option, Head: true}, func(i int) string { return levels[i].Level })
	names := t.curveNames(all)
	for _, c := range all[:min(len(all), mostSweeps)] {
		out.add(column{Name: names[measure.LevelsKey(c.Levels)], Number: true}, func(i int) string {
			for _, p := range c.Points {
				if p.Level == levels[i].Level {
					return unit.text(p.Estimate)
				}
			}
			return text.Absent
		})
	}
	return out
}

// curveHeading says what the table of curves has.
func (t testView) curveHeading() string {
	all := t.allCurves()
	if len(all) == 0 {
		return ""
	}
	return t.Sentence("curve.heading", text.Args{"Figure": t.estimate(), "Unit": t.unit(t.rankUnit()), "Several": len(all) > 1, "Option": all[0].Option, "Cut": t.cutCurves(len(all))})
}
