package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/report/outline"
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
func (t testView) curveTable() outline.Table {
	all := t.allCurves()
	if len(all) == 0 {
		return outline.Table{}
	}
	unit := t.rankUnit()
	if len(all) > 1 {
		return t.curvesTable(all)
	}
	c := all[0]
	out := outline.NewTable(len(c.Points))
	out.Drawn = true
	most := 0.0
	for _, p := range c.Points {
		most = max(most, p.Estimate)
	}
	out.AddText(outline.Column{Name: c.Option, Head: true}, func(i int) string { return c.Points[i].Level })
	addFigures(&out, outline.Column{Name: t.estimate(), Unit: t.unit(unit), Number: true}, unit, func(i int) *float64 { return &c.Points[i].Estimate })
	t.addIntervals(&out, t.named("column.interval", outline.Column{Unit: t.unit(unit), Number: true, Drop: 2}), unit, unit.text, func(i int) (low, high *float64) { return c.Points[i].Low, c.Points[i].High })
	if c.Plateau != nil {
		out.Add(t.named("column.of_plateau", outline.Column{Number: true, Drop: 1}), func(i int) outline.Cell { return shareCell(c.Points[i].Estimate / *c.Plateau) })
	}
	out.AddText(outline.Column{Drop: 3}, func(i int) string {
		if !(most > 0) {
			return ""
		}
		return strings.Repeat("█", int(c.Points[i].Estimate/most*barColumns+0.5))
	})
	return out
}

// curvesTable has a column for each curve.
func (t testView) curvesTable(all []Curve) outline.Table {
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
	out := outline.NewTable(len(levels))
	out.Whole, out.Drawn, out.Unit = true, true, t.unit(unit)
	out.AddText(outline.Column{Name: all[0].Option, Head: true}, func(i int) string { return levels[i].Level })
	names := t.curveNames(all)
	for _, c := range all[:min(len(all), mostSweeps)] {
		addFigures(&out, outline.Column{Name: names[measure.LevelsKey(c.Levels)], Number: true}, unit, func(i int) *float64 {
			for _, p := range c.Points {
				if p.Level == levels[i].Level {
					return &p.Estimate
				}
			}
			return nil
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
	return t.Capital(t.Sentence("curve.heading", text.Args{"Figure": t.estimate(), "Unit": t.unit(t.rankUnit()), "Several": len(all) > 1, "Option": all[0].Option, "Cut": t.cutCurves(len(all))}))
}

const (
	mostKnees      = 4 // that a sentence names
	mostKneeCurves = 3 // that it names of each
)

// plateauGroup is curves that level off from the same level on, or rise to the same last one.
type plateauGroup struct {
	level  CurvePoint
	rising bool
	curves []Curve
	low    float64 // plateaus
	high   float64
}

// plateaus are the curves that have a plateau, by where it begins; those that rise to the last
// level are behind.
func plateaus(all []Curve) (out []plateauGroup) {
	for _, c := range all {
		knee := c.knee()
		if knee == nil || c.Plateau == nil {
			continue
		}
		if c.Rising {
			knee = &c.Points[len(c.Points)-1]
		}
		same := func(g plateauGroup) bool { return g.rising == c.Rising && g.level.Value == knee.Value }
		g := findOrAdd(&out, same, plateauGroup{level: *knee, rising: c.Rising, low: math.Inf(1), high: math.Inf(-1)})
		g.curves, g.low, g.high = append(g.curves, c), min(g.low, *c.Plateau), max(g.high, *c.Plateau)
	}
	order := func(g plateauGroup) int { // those that level off first
		if g.rising {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b plateauGroup) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.level.Value, b.level.Value))
	})
	return out
}

// levelingOff is the sentence of where the curves level off; empty without one that does.
func (t testView) levelingOff() string {
	all := t.allCurves()
	if len(all) > 0 && all[0].Highest != nil {
		return t.highest(all)
	}
	if len(all) == 1 {
		return t.levelsOff(all[0])
	}
	groups := plateaus(all)
	switch {
	case len(groups) == 0:
		return ""
	case len(groups) == 1 && len(groups[0].curves) == len(all):
		return t.allLevelOff(all, groups[0])
	case len(groups) > mostKnees:
		return t.levelOffApart(all[0].Option, groups)
	}
	names := t.curveNames(all)
	var level, rise []string
	for _, g := range groups {
		var with []string
		for _, c := range g.curves {
			with = append(with, names[measure.LevelsKey(c.Levels)])
		}
		args := text.Args{"Level": g.level.Level, "With": with, "Curves": len(with), "Named": len(with) <= mostKneeCurves, "Metric": t.Basis.Metric, "Low": g.low, "High": g.high}
		if g.rising {
			rise = append(rise, t.Sentence("curve.group.rising", args))
		} else {
			level = append(level, t.Sentence("curve.group", args))
		}
	}
	return t.Sentence("curve.groups", text.Args{"Factors": t.curveFactors(all), "Noun": t.noun(), "Option": all[0].Option, "Level": level, "Rise": rise})
}

// highest says what searches with a threshold found.
func (t testView) highest(all []Curve) string {
	var out []string
	for _, c := range all[:min(len(all), mostSweeps)] {
		args := text.Args{
			"Levels": t.levelsText(t.impliedLevels().telling(c.Levels)), "Option": c.Option, "While": c.Highest.While, "Level": c.Highest.Level, "Rounds": c.Highest.Rounds, "Fails": c.Highest.Fails,
		}
		out = append(out, t.Sentence("curve.highest", args))
	}
	return t.Paragraph(out...)
}

// allLevelOff is the sentence of curves of which all level off, or rise, at one level.
func (t testView) allLevelOff(all []Curve, g plateauGroup) string {
	return t.Sentence("curve.all", text.Args{
		"Noun": t.noun(), "Option": all[0].Option, "Level": g.level.Level, "Curves": len(all), "Metric": t.Basis.Metric, "Low": g.low, "High": g.high,
		"Rising": g.rising, "AtFirst": g.level.Value == g.curves[0].Points[0].Value,
	})
}

// levelOffApart is the sentence of curves that level off at many levels.
func (t testView) levelOffApart(option string, groups []plateauGroup) string {
	curves, rising, first, last, low, high := 0, 0, "", "", math.Inf(1), math.Inf(-1)
	for _, g := range groups {
		if g.rising {
			rising += len(g.curves)
			continue
		}
		first, last = cmp.Or(first, g.level.Level), g.level.Level
		curves, low, high = curves+len(g.curves), min(low, g.low), max(high, g.high)
	}
	return t.Sentence("curve.apart", text.Args{
		"Noun": t.noun(), "Option": option, "Metric": t.Basis.Metric, "Curves": curves, "Rising": rising, "First": first, "Last": last, "Low": low, "High": high,
	})
}

// curveNames are the curves as sentences name them, by their levels.
func (t testView) curveNames(all []Curve) map[string]string {
	implied := t.impliedLevels()
	out, uses := make(map[string]string, len(all)), map[string]int{}
	for _, c := range all {
		name := joinPresent(implied.telling(c.Levels))
		out[measure.LevelsKey(c.Levels)] = name
		uses[name]++
	}
	for _, c := range all {
		if key := measure.LevelsKey(c.Levels); out[key] == "" || uses[out[key]] > 1 {
			out[key] = joinAligned(c.Levels)
		}
	}
	return out
}

// curveFactors are the factors by which the curves differ.
func (t testView) curveFactors(all []Curve) string {
	var names []string
	for _, l := range all[0].Levels {
		names = append(names, l.Factor)
	}
	return strings.Join(names, measure.LevelSeparator)
}

// plateauTable is where each of several curves levels off. It has no columns for one curve,
// which a sentence describes.
func (t testView) plateauTable() outline.Table {
	all := t.levelledCurves()
	if len(all) == 0 {
		return outline.Table{}
	}
	all = all[:min(len(all), mostSweeps)]
	unit := t.rankUnit()
	out := outline.NewTable(len(all))
	for k, l := range all[0].Levels {
		out.AddText(outline.Column{Name: l.Factor, Head: true}, func(i int) string { return t.level(all[i].Levels[k].Value) })
	}
	out.AddText(outline.Column{Name: t.Sentence("column.levels_off", text.Args{"Option": all[0].Option}), Why: t.Sentence("column_note.levels_off", nil), Number: true}, func(i int) string {
		if c := all[i]; c.Rising {
			return t.Sentence("cell.rising", text.Args{"Level": c.Points[len(c.Points)-1].Level})
		}
		return all[i].knee().Level
	})
	addFigures(&out, t.named("column.plateau", outline.Column{Unit: t.unit(unit), Number: true}), unit, func(i int) *float64 { return all[i].Plateau })
	t.addIntervals(&out, t.named("column.interval", outline.Column{Unit: t.unit(unit), Number: true, Drop: 2}), unit, unit.text, func(i int) (low, high *float64) { return all[i].Low, all[i].High })
	out.Add(outline.Column{Name: t.Sentence("column.first_level", text.Args{"Level": all[0].Points[0].Level}), Why: t.Sentence("column_note.first_level", nil), Number: true, Drop: 1}, func(i int) outline.Cell {
		if c := all[i]; c.Points[0].Level == all[0].Points[0].Level {
			return shareCell(c.Points[0].Estimate / *c.Plateau)
		}
		return outline.Cell{Text: text.Absent}
	})
	return out
}

// levelledCurves are those of several curves that have a plateau.
func (t testView) levelledCurves() []Curve {
	return slices.DeleteFunc(slices.Clone(t.Curves), func(c Curve) bool { return c.knee() == nil || c.Plateau == nil })
}

// plateauHeading says what the table of plateaus has.
func (t testView) plateauHeading() string {
	return t.Sentence("curve.plateaus", text.Args{"Noun": t.noun(), "Cut": t.cutCurves(len(t.levelledCurves()))})
}

// cutCurves says that not all curves are shown, or returns "" if they are.
func (t testView) cutCurves(curves int) string {
	if curves <= mostSweeps {
		return ""
	}
	return t.Sentence("curve.cut", text.Args{"Shown": mostSweeps, "Of": curves})
}
