package report

import (
	"math"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/report/outline"
	"soku/internal/stats"
	"soku/internal/text"
)

const (
	leastHeat     = 0.10 // the difference of full colour, where figures lie closer together
	mostHeatHosts = 40   // of the rows or columns of a map; more do not read
	mostHeatMaps  = 12   // of a test
	mostHeatRows  = 40   // of pairs below each other
	narrowHeat    = 12   // columns from which cells have three digits
	otherSize     = 2    // the ratio of the best figures of two pairs from which on hosts are of different sizes
)

// heatScale gives figures their colours: by the logarithm, from the best to the worst.
type heatScale struct {
	best, worst float64
	narrow      bool // cells, which have three digits
}

// scaleOfHeat spans figures, which may be nil.
func (t *Test) scaleOfHeat(figures []*float64) heatScale {
	var all []float64
	for _, v := range figures {
		if v != nil && *v > 0 {
			all = append(all, *v)
		}
	}
	low, high := stats.Range(all)
	if t.Basis.Metric.Better == metric.Higher {
		return heatScale{best: high, worst: min(low, high/(1+leastHeat))}
	}
	return heatScale{best: low, worst: max(high, low*(1+leastHeat))}
}

// shade is the colour of a cell with that figure.
func (s heatScale) shade(v *float64) int {
	switch {
	case v == nil || math.IsNaN(s.best):
		return 0
	case *v <= 0:
		return outline.Shades
	}
	share := math.Log(*v/s.best) / math.Log(s.worst/s.best)
	return 1 + int(math.Round(min(max(share, 0), 1)*(outline.Shades-1)))
}

// hosts are the clients and the servers of the pairs, each once, in natural order.
func (p *Pairs) hosts() (from, to []string) {
	for _, m := range p.Maps {
		for _, c := range m.Cells {
			from, to = addOnce(from, c.From), addOnce(to, c.To)
		}
	}
	slices.SortFunc(from, natural)
	slices.SortFunc(to, natural)
	return from, to
}

// meshed reports whether most hosts have several partners, so that pairs read better as rows
// and columns of hosts than below each other.
func (p *Pairs) meshed() bool {
	from, to := p.hosts()
	most := max(len(from), len(to))
	return p.Pairs >= 2*most && most <= mostHeatHosts
}

// heatMaps are the figures of the pairs of hosts: a map of clients and servers for each
// combination of the other factors' levels, or, where hosts have one partner each, one map of
// pairs and these combinations. None where there is one column, which the table of the
// figures has, or only the two of contention, which has a table of its own.
func (t testView) heatMaps() []outline.Table {
	p := t.Pairs
	if p == nil {
		return nil
	}
	var all []*float64
	for _, m := range p.Maps {
		for _, c := range m.Cells {
			all = append(all, c.Estimate)
		}
	}
	scale := t.scaleOfHeat(all)
	ends := &outline.Scale{Best: t.value(scale.best), Worst: t.value(scale.worst)}
	if !p.meshed() {
		if len(p.Maps) < 2 || p.Contention != nil && len(p.Maps[0].Levels) == 1 {
			return nil
		}
		scaleOf := func(string) heatScale { return scale }
		if within, worst := t.scalesOfPairs(); within != nil {
			scaleOf = func(pair string) heatScale { return within[pair] }
			ends = &outline.Scale{Best: t.Sentence("heat.best_of_row", nil), Worst: change(worst)}
		}
		out := t.pairList(scaleOf)
		out.Scale, out.Unit = ends, t.unit(t.rankUnit())
		return []outline.Table{out}
	}
	_, to := p.hosts()
	scale.narrow = len(to) >= narrowHeat
	var out []outline.Table
	for _, m := range p.Maps[:min(len(p.Maps), mostHeatMaps)] {
		cells := map[[2]string]outline.Cell{}
		figures := map[[2]string]*float64{}
		for _, c := range m.Cells {
			at := [2]string{c.From, c.To}
			cells[at], figures[at] = t.heatCell(c, m, scale), c.Estimate
		}
		h := t.matrix(cells)
		h.Caption, h.Scale, h.Unit = t.levelsText(m.Levels), ends, t.unit(t.rankUnit())
		t.addMedians(&h, figures, scale)
		out = append(out, h)
	}
	return out
}

// scalesOfPairs are, where hosts are of different sizes, colours that compare the figures of each pair with
// its own best one, and the ratio of the worst colour; otherwise nil.
func (t testView) scalesOfPairs() (out map[string]heatScale, worst float64) {
	figures := map[string][]*float64{}
	for _, m := range t.Pairs.Maps {
		for _, c := range m.Cells {
			figures[c.String()] = append(figures[c.String()], c.Estimate)
		}
	}
	out, worst = map[string]heatScale{}, 1
	var best []float64
	for pair, all := range figures {
		s := t.scaleOfHeat(all)
		if out[pair] = s; !math.IsNaN(s.best) {
			best = append(best, s.best)
			if math.Abs(math.Log(s.worst/s.best)) > math.Abs(math.Log(worst)) {
				worst = s.worst / s.best
			}
		}
	}
	if low, high := stats.Range(best); len(best) == 0 || high < low*otherSize {
		return nil, 0
	}
	for pair, s := range out {
		s.worst = s.best * worst
		out[pair] = s
	}
	return out, worst
}

// notMeasured is the cell of a pair without trials.
var notMeasured = outline.Cell{Text: text.Absent}

// matrix has the cells of pairs by client and server.
func (t testView) matrix(cells map[[2]string]outline.Cell) outline.Table {
	from, to := t.Pairs.hosts()
	h := outline.NewTable(len(from))
	h.Whole = true
	h.AddText(outline.Column{Name: t.Sentence("heat.corner", nil), Head: true}, func(i int) string { return from[i] })
	for _, s := range to {
		h.Add(outline.Column{Name: s, Number: true}, func(i int) outline.Cell {
			if c, measured := cells[[2]string{from[i], s}]; measured {
				return c
			}
			return notMeasured
		})
	}
	return h
}

// addMedians adds the median of each row, and of each column, of a map.
func (t testView) addMedians(h *outline.Table, figures map[[2]string]*float64, scale heatScale) {
	median := func(take func(pair [2]string) bool) outline.Cell {
		var all []float64
		for pair, v := range figures {
			if v != nil && take(pair) {
				all = append(all, *v)
			}
		}
		if len(all) == 0 {
			return notMeasured
		}
		m := stats.Median(all)
		return t.heatFigure(&m, scale)
	}
	last := outline.Row{Cells: []outline.Cell{{Text: t.Sentence("heat.median", nil)}}}
	for _, c := range h.Columns[1:] {
		last.Cells = append(last.Cells, median(func(pair [2]string) bool { return pair[1] == c.Name }))
	}
	h.Add(outline.Column{Name: t.Sentence("heat.median", nil), Number: true}, func(i int) outline.Cell {
		name := h.Rows[i].Cells[0].Text
		return median(func(pair [2]string) bool { return pair[0] == name })
	})
	last.Cells = append(last.Cells, median(func([2]string) bool { return true }))
	h.Rows = append(h.Rows, last)
}

// pairList has a row for each pair, that with the worst figure of the first map first if they
// are many, and a column for each combination of the other factors' levels.
func (t testView) pairList(scaleOf func(pair string) heatScale) outline.Table {
	maps := t.Pairs.Maps[:min(len(t.Pairs.Maps), mostHeatMaps)]
	cells := make([]map[string]outline.Cell, len(maps))
	var names []string
	for k, m := range maps {
		cells[k] = map[string]outline.Cell{}
		for _, c := range slices.Backward(m.Cells) {
			name := c.String()
			cells[k][name] = t.heatCell(c, m, scaleOf(name))
			names = addOnce(names, name)
		}
	}
	names = names[:min(len(names), mostHeatRows)]
	slices.SortFunc(names, natural)
	h := outline.NewTable(len(names))
	h.Whole = true
	h.AddText(outline.Column{Name: t.Sentence("heat.pair", nil), Head: true}, func(i int) string { return names[i] })
	for k, m := range maps {
		h.Add(outline.Column{Name: measure.JoinLevels(m.Levels), Number: true}, func(i int) outline.Cell {
			if c, measured := cells[k][names[i]]; measured {
				return c
			}
			return notMeasured
		})
	}
	return h
}

// heatCell is the figure of a pair.
func (t testView) heatCell(c PairCell, m PairMap, scale heatScale) outline.Cell {
	if c.Estimate == nil {
		return outline.Cell{Text: t.Sentence("heat.failed", nil), Title: c.String()}
	}
	args := text.Args{"Pair": c.String(), "Levels": t.levelsText(m.Levels), "Value": t.value(*c.Estimate), "Interval": "", "Trials": c.Trials, "Failed": c.Failed}
	if c.Low != nil && c.High != nil {
		args["Interval"] = t.between(t.value(*c.Low), t.value(*c.High))
	}
	cell := t.heatFigure(c.Estimate, scale)
	cell.Title = t.Sentence("heat.cell", args)
	return cell
}

// heatFigure is a figure in its colour.
func (t testView) heatFigure(v *float64, scale heatScale) outline.Cell {
	unit := t.rankUnit()
	cell := figureCell(v, unit, func(v float64) string {
		if scale.narrow {
			return text.Significant(3, v/unit.per)
		}
		return unit.text(v)
	})
	cell.Shade = scale.shade(v)
	return cell
}

// contentionMaps is the loss by contention of every pair of a mesh, a map for each combination of
// the other factors' levels.
func (t testView) contentionMaps() []outline.Table {
	if t.Pairs == nil || t.Pairs.Contention == nil || !t.Pairs.meshed() {
		return nil
	}
	none := 1.0
	ratios := []*float64{&none}
	type group struct {
		levels []measure.Level
		pairs  []PairContention
	}
	var groups []group
	for _, p := range t.Pairs.Contention.Pairs {
		ratios = append(ratios, p.Ratio)
		g := findOrAdd(&groups, func(g group) bool { return slices.Equal(g.levels, p.Levels) }, group{levels: p.Levels})
		g.pairs = append(g.pairs, p)
	}
	scale := t.scaleOfHeat(ratios)
	scale.best = 1
	var out []outline.Table
	for _, g := range groups[:min(len(groups), mostHeatMaps)] {
		cells := map[[2]string]outline.Cell{}
		for _, p := range g.pairs {
			c := notMeasured
			if p.Ratio != nil {
				c = changeCell(p.Ratio)
				c.Text, c.Title, c.Shade = changeIn(*p.Ratio), t.contentionTitle(p), scale.shade(p.Ratio)
			}
			cells[[2]string{p.From, p.To}] = c
		}
		h := t.matrix(cells)
		h.Unit, h.Scale = percent.unit, &outline.Scale{Best: change(1), Worst: change(scale.worst)}
		if len(groups) > 1 {
			h.Caption = t.levelsText(g.levels)
		}
		out = append(out, h)
	}
	return out
}
