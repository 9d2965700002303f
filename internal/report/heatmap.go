package report

import (
	"math"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
	"soku/internal/text"
)

const (
	heatSteps     = 8    // of colour, from the best figure at 0 to the worst; report.css has them
	leastHeat     = 0.10 // the difference of full colour, where figures lie closer together
	mostHeatHosts = 40   // of the rows or columns of a map; more do not read
	mostHeatMaps  = 12   // of a test
	mostHeatRows  = 40   // of pairs below each other
	tallNames     = 8    // columns from which long names stand upright
	manyColumns   = 12   // from which cells are narrow and have three digits
)

// heatMap is a table of one figure with a colour for each cell.
type heatMap struct {
	Caption     string // what distinguishes it from the other maps, if there are any
	Corner      string // over the names of rows
	Columns     []string
	Rows        []heatRow
	Best, Worst string // figures of the first and the last colour
	Tall        bool   // names of columns are long
	Many        bool   // columns: cells are narrow
}

type heatRow struct {
	Name  string
	Cells []heatCell
}

// heatCell is a figure. Step is its colour, -1 for none.
type heatCell struct {
	Text, Title string
	Step        int
}

// Table is the map for forms without colour.
func (h heatMap) Table() table {
	out := table{Rows: make([][]string, len(h.Rows))}
	out.add(column{Name: h.Corner, Head: true}, func(i int) string { return h.Rows[i].Name })
	for k, name := range h.Columns {
		out.add(column{Name: name, Number: true}, func(i int) string { return h.Rows[i].Cells[k].Text })
	}
	return out
}

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

func (s heatScale) step(v *float64) int {
	switch {
	case v == nil || math.IsNaN(s.best):
		return -1
	case *v <= 0:
		return heatSteps
	}
	share := math.Log(*v/s.best) / math.Log(s.worst/s.best)
	return int(math.Round(min(max(share, 0), 1) * heatSteps))
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
func (t testView) heatMaps() []heatMap {
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
	if !p.meshed() {
		if len(p.Maps) < 2 || p.Contention != nil && len(p.Maps[0].Levels) == 1 {
			return nil
		}
		return []heatMap{t.pairList(scale)}
	}
	_, to := p.hosts()
	scale.narrow = len(to) >= manyColumns
	var out []heatMap
	for _, m := range p.Maps[:min(len(p.Maps), mostHeatMaps)] {
		cells := map[[2]string]heatCell{}
		figures := map[[2]string]*float64{}
		for _, c := range m.Cells {
			at := [2]string{c.From, c.To}
			cells[at], figures[at] = t.heatCell(c, m, scale), c.Estimate
		}
		h := t.matrix(cells)
		h.Caption = t.levelsText(m.Levels)
		h.Best, h.Worst = t.value(scale.best), t.value(scale.worst)
		t.addMedians(&h, figures, scale)
		out = append(out, h)
	}
	return out
}

// matrix has the cells of pairs by client and server.
func (t testView) matrix(cells map[[2]string]heatCell) heatMap {
	from, to := t.Pairs.hosts()
	h := heatMap{Corner: t.Sentence("heat.corner", nil), Columns: to}
	h.Many = len(to) >= manyColumns
	h.Tall = len(to) >= tallNames && slices.ContainsFunc(to, func(name string) bool { return columnsOf(name) >= tallNames })
	for _, f := range from {
		row := heatRow{Name: f}
		for _, s := range to {
			c, measured := cells[[2]string{f, s}]
			if !measured {
				c = heatCell{Text: text.Absent, Step: -1}
			}
			row.Cells = append(row.Cells, c)
		}
		h.Rows = append(h.Rows, row)
	}
	return h
}

// addMedians adds the median of each row, and of each column, of a map.
func (t testView) addMedians(h *heatMap, figures map[[2]string]*float64, scale heatScale) {
	median := func(take func(pair [2]string) bool) heatCell {
		var all []float64
		for pair, v := range figures {
			if v != nil && take(pair) {
				all = append(all, *v)
			}
		}
		if len(all) == 0 {
			return heatCell{Text: text.Absent, Step: -1}
		}
		m := stats.Median(all)
		return heatCell{Text: t.heatText(m, scale), Step: scale.step(&m)}
	}
	last := heatRow{Name: t.Sentence("heat.median", nil)}
	for _, name := range h.Columns {
		last.Cells = append(last.Cells, median(func(pair [2]string) bool { return pair[1] == name }))
	}
	last.Cells = append(last.Cells, median(func([2]string) bool { return true }))
	for i := range h.Rows {
		name := h.Rows[i].Name
		h.Rows[i].Cells = append(h.Rows[i].Cells, median(func(pair [2]string) bool { return pair[0] == name }))
	}
	h.Columns = append(slices.Clone(h.Columns), t.Sentence("heat.median", nil))
	h.Rows = append(h.Rows, last)
}

// pairList has a row for each pair, that with the worst figure of the first map first if they
// are many, and a column for each combination of the other factors' levels.
func (t testView) pairList(scale heatScale) heatMap {
	maps := t.Pairs.Maps[:min(len(t.Pairs.Maps), mostHeatMaps)]
	h := heatMap{Corner: t.Sentence("heat.pair", nil), Best: t.value(scale.best), Worst: t.value(scale.worst)}
	cells := make([]map[string]heatCell, len(maps))
	var names []string
	for k, m := range maps {
		h.Columns = append(h.Columns, measure.JoinLevels(m.Levels))
		cells[k] = map[string]heatCell{}
		for _, c := range slices.Backward(m.Cells) {
			name := c.String()
			cells[k][name] = t.heatCell(c, m, scale)
			names = addOnce(names, name)
		}
	}
	names = names[:min(len(names), mostHeatRows)]
	slices.SortFunc(names, natural)
	for _, name := range names {
		row := heatRow{Name: name}
		for k := range maps {
			c, measured := cells[k][name]
			if !measured {
				c = heatCell{Text: text.Absent, Step: -1}
			}
			row.Cells = append(row.Cells, c)
		}
		h.Rows = append(h.Rows, row)
	}
	return h
}

// heatCell is the figure of a pair.
func (t testView) heatCell(c PairCell, m PairMap, scale heatScale) heatCell {
	if c.Estimate == nil {
		return heatCell{Text: t.Sentence("heat.failed", nil), Title: c.String(), Step: -1}
	}
	args := text.Args{"Pair": c.String(), "Levels": t.levelsText(m.Levels), "Value": t.value(*c.Estimate), "Interval": "", "Trials": c.Trials, "Failed": c.Failed}
	if c.Low != nil && c.High != nil {
		args["Interval"] = t.between(t.value(*c.Low), t.value(*c.High))
	}
	return heatCell{Text: t.heatText(*c.Estimate, scale), Title: t.Sentence("heat.cell", args), Step: scale.step(c.Estimate)}
}

// heatText writes a figure in a cell.
func (t testView) heatText(v float64, scale heatScale) string {
	unit := t.rankUnit()
	if scale.narrow {
		return text.Significant(3, v/unit.per)
	}
	return unit.text(v)
}

// contentionMaps is the loss by contention of every pair of a mesh, a map for each combination of
// the other factors' levels.
func (t testView) contentionMaps() []heatMap {
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
	var out []heatMap
	for _, g := range groups[:min(len(groups), mostHeatMaps)] {
		cells := map[[2]string]heatCell{}
		for _, p := range g.pairs {
			c := heatCell{Text: text.Absent, Step: -1}
			if p.Ratio != nil {
				c = heatCell{Text: changeIn(*p.Ratio), Title: t.contentionTitle(p), Step: scale.step(p.Ratio)}
			}
			cells[[2]string{p.From, p.To}] = c
		}
		h := t.matrix(cells)
		h.Best, h.Worst = change(1), change(scale.worst)
		if len(groups) > 1 {
			h.Caption = t.levelsText(g.levels)
		}
		out = append(out, h)
	}
	return out
}
