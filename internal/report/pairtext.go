package report

import (
	"slices"
	"strconv"
	"strings"

	"soku/internal/report/outline"
	"soku/internal/stats"
	"soku/internal/text"
)

// mostContentionPairs is how many pairs a table of contention shows: those that lose most.
const mostContentionPairs = 20

// change writes a ratio as a change in percent: "−12.5 %".
func change(ratio float64) string { return changeIn(ratio) + " %" }

// changeCell is the cell of a ratio as a change, %.
func changeCell(ratio *float64) outline.Cell {
	if ratio == nil {
		return outline.Cell{Text: text.Absent}
	}
	more := *ratio - 1
	c := figureCell(&more, percent, func(float64) string { return change(*ratio) })
	return c
}

// changeIn is the same where a heading has the unit.
func changeIn(ratio float64) string {
	return strings.ReplaceAll(strconv.FormatFloat((ratio-1)*100, 'f', 1, 64), "-", "−")
}

// pairsAnswer is what the pairs of hosts of the first map have, and how far apart.
func (t testView) pairsAnswer() string {
	m := t.Pairs.Maps[0]
	best, worst := m.ends()
	with := 0
	for _, c := range m.Cells {
		if c.Estimate != nil {
			with++
		}
	}
	return t.Sentence("answer.pairs", text.Args{
		"Levels": t.levelsText(m.Levels), "Metric": t.Basis.Metric, "Noun": t.noun(), "Best": best.String(), "BestEstimate": *best.Estimate,
		"Worst": worst.String(), "WorstEstimate": *worst.Estimate, "Q1": *m.Q1, "Q3": *m.Q3, "Rounds": t.Rounds, "Behind": max(worst.RankLow-1, 0),
		"Pairs": with, "Without": len(m.Cells) - with,
	})
}

// spreadTable is how far apart the pairs are at each combination of the other factors' levels.
// It has no columns where there is one combination, which the answer describes.
func (t testView) spreadTable() outline.Table {
	if t.Pairs == nil || len(t.Pairs.Maps) < 2 {
		return outline.Table{}
	}
	maps := t.Pairs.Maps
	unit := t.rankUnit()
	out := outline.NewTable(len(maps))
	out.Unit = t.unit(unit)
	for k, l := range maps[0].Levels {
		out.AddText(outline.Column{Name: l.Factor, Head: true}, func(i int) string {
			if k < len(maps[i].Levels) {
				return t.level(maps[i].Levels[k].Value)
			}
			return text.Absent
		})
	}
	figure := func(key string, keep int, of func(m PairMap) *float64) {
		addFigures(&out, t.named(key, outline.Column{Number: true, Drop: keep}), unit, func(i int) *float64 { return of(maps[i]) })
	}
	pair := func(key string, keep int, of func(best, worst *PairCell) *PairCell) {
		out.AddText(t.named(key, outline.Column{Drop: keep}), func(i int) string {
			if c := of(maps[i].ends()); c != nil {
				return c.String()
			}
			return text.Absent
		})
	}
	estimate := func(c *PairCell) *float64 {
		if c == nil {
			return nil
		}
		return c.Estimate
	}
	figure("column.worst", 0, func(m PairMap) *float64 { _, worst := m.ends(); return estimate(worst) })
	figure("column.q1", 4, func(m PairMap) *float64 { return m.Q1 })
	figure("column.median", 1, func(m PairMap) *float64 { return m.Median })
	figure("column.q3", 4, func(m PairMap) *float64 { return m.Q3 })
	figure("column.best", 0, func(m PairMap) *float64 { best, _ := m.ends(); return estimate(best) })
	pair("column.worst_pair", 2, func(_, worst *PairCell) *PairCell { return worst })
	pair("column.best_pair", 3, func(best, _ *PairCell) *PairCell { return best })
	return out
}

// contends says what measuring all pairs concurrently does, if the two can be compared.
func (t testView) contends() []string {
	if t.Pairs == nil || t.Pairs.Contention == nil {
		return nil
	}
	c := t.Pairs.Contention
	e := c.Overall
	if e.Ratio == nil {
		return nil
	}
	args := text.Args{
		"Noun": t.noun(), "Change": *e.Ratio - 1, "Tested": e.Low != nil && e.High != nil, "Low": 0.0, "High": 0.0, "By": t.units(e.EffectRatio),
		"Decision": string(e.Decision), "SideBySide": c.SideBySide, "Threshold": t.Practical, "Pairs": len(c.Pairs), "Of": c.Of, "Worse": 0, "Most": "", "MostChange": 0.0,
	}
	if e.Low != nil && e.High != nil {
		args["Low"], args["High"] = *e.Low-1, *e.High-1
	}
	lose := slices.DeleteFunc(slices.Clone(c.Pairs), func(p PairContention) bool { return p.Decision != stats.Worse })
	if args["Worse"] = len(lose); len(lose) > 0 {
		args["Most"], args["MostChange"] = t.contentionName(lose[0]), *lose[0].Ratio-1
	}
	return []string{t.Sentence("contention", args)}
}

// contentionName is the pair with the levels of the other factors.
func (t testView) contentionName(p PairContention) string {
	name := PairCell{From: p.From, To: p.To}.String()
	if len(p.Levels) > 0 {
		name += " (" + t.levelsText(p.Levels) + ")"
	}
	return name
}

func (t testView) contentionTitle(p PairContention) string {
	args := text.Args{"Pair": t.contentionName(p), "SideBySide": t.Pairs.Contention.SideBySide, "Isolated": text.Absent, "Together": text.Absent, "Decision": t.Sentence("cell.decision."+string(p.Decision), nil)}
	if p.Isolated != nil && p.Together != nil {
		args["Isolated"], args["Together"] = t.value(*p.Isolated), t.value(*p.Together)
	}
	return t.Sentence("contention.pair", args)
}

// contentionTable is what contention does to each pair, that which loses most first.
func (t testView) contentionTable() outline.Table {
	if t.Pairs == nil || t.Pairs.Contention == nil {
		return outline.Table{}
	}
	pairs := t.Pairs.Contention.Pairs
	pairs = pairs[:min(len(pairs), mostContentionPairs)]
	unit := t.rankUnit()
	out := outline.NewTable(len(pairs))
	out.AddText(t.named("column.pair", outline.Column{Head: true}), func(i int) string { return t.contentionName(pairs[i]) })
	isolated := "column.isolated"
	if t.Pairs.Contention.SideBySide {
		isolated = "column.side_by_side"
	}
	addFigures(&out, t.named(isolated, outline.Column{Unit: t.unit(unit), Number: true, Drop: 1}), unit, func(i int) *float64 { return pairs[i].Isolated })
	addFigures(&out, t.named("column.together", outline.Column{Unit: t.unit(unit), Number: true, Drop: 1}), unit, func(i int) *float64 { return pairs[i].Together })
	out.Add(t.named("column.change", outline.Column{Number: true}), func(i int) outline.Cell { return changeCell(pairs[i].Ratio) })
	out.Add(t.named("column.change_interval", outline.Column{Number: true, Drop: 2}), func(i int) outline.Cell {
		low, high := changeCell(pairs[i].Low), changeCell(pairs[i].High)
		if low.Value == nil || high.Value == nil {
			return outline.Cell{Text: text.Absent}
		}
		return outline.Cell{Text: t.between(low.Text, high.Text), Value: low.Value, High: high.Value}
	})
	out.AddText(t.named("column.change_decision", outline.Column{}), func(i int) string { return t.Sentence("cell.decision."+string(pairs[i].Decision), nil) })
	return out
}

// contentionCut reports whether the table of contention leaves pairs out.
func (t testView) contentionCut() bool {
	return t.Pairs != nil && t.Pairs.Contention != nil && len(t.Pairs.Contention.Pairs) > mostContentionPairs
}

// startSkew says how far apart the trials of groups started; empty without groups.
func (t testView) startSkew() string {
	if t.Pairs == nil || t.Pairs.Start == nil {
		return ""
	}
	s := t.Pairs.Start
	if s.ErrorNs > s.LargestNs {
		return t.Sentence("pairs.start_bound", text.Args{"Groups": s.Groups, "Bound": s.LargestNs + s.ErrorNs})
	}
	return t.Sentence("pairs.start", text.Args{"Groups": s.Groups, "Median": s.MedianNs, "Largest": s.LargestNs, "Error": s.ErrorNs})
}

// spreadHeading says of what the table of spreads is.
func (t testView) spreadHeading() string {
	return t.Capital(t.Sentence("pairs.spread", text.Args{"Figure": t.estimate(), "Unit": t.unit(t.rankUnit())}))
}

// heatHeading is what the maps have.
func (t testView) heatHeading() string {
	if t.Pairs == nil {
		return ""
	}
	return t.Capital(t.Sentence("heat.heading", text.Args{"Figure": t.estimate(), "Unit": t.unit(t.rankUnit()), "Meshed": t.Pairs.meshed()}))
}
