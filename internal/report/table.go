package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// column is one column of a table; every written form draws the same tables.
type column struct {
	Name, Unit string
	Number     bool // aligned at the right
	Head       bool // names the row
	// keep orders what a narrow terminal loses: the column with the highest
	// value goes first, 0 always stays.
	keep int
	Why  string // what the heading means, for a tooltip
}

// heading is "goodput (Mbit/s)".
func (c column) heading() string {
	if c.Unit == "" {
		return c.Name
	}
	return c.Name + " (" + c.Unit + ")"
}

// table is rows of text under columns.
type table struct {
	Columns []column
	Rows    [][]string
}

func (t *table) add(c column, cell func(i int) string) {
	t.Columns = append(t.Columns, c)
	for i := range t.Rows {
		t.Rows[i] = append(t.Rows[i], cell(i))
	}
}

// figureTable is the table of a test: patterns as rows. With factors the levels
// are columns of their own, otherwise the pattern's name is one.
func (t *Test) figureTable(factors bool) table {
	out := table{Rows: make([][]string, len(t.Rows))}
	if factors && len(t.Factors) > 0 {
		for f, name := range t.Factors {
			out.add(column{Name: name, Head: true}, func(i int) string { return t.Rows[i].Levels[f].Value })
		}
	} else {
		out.add(column{Name: "pattern", Head: true}, func(i int) string { return t.Rows[i].Pattern })
	}
	t.connectColumns(&out)
	switch {
	case t.Basis.Figure == mtuFigure:
		t.mtuColumns(&out)
	case t.Basis.HigherIsBetter && t.Basis.Figure != connectionsFigure:
		t.goodputColumns(&out)
	default:
		t.roundTripColumns(&out)
	}
	out.add(column{Name: "trials", Number: true, keep: 2, Why: "trials that succeeded"}, func(i int) string { return strconv.Itoa(t.Rows[i].Trials) })
	if len(t.Failures) > 0 {
		out.add(column{Name: "failed", Number: true, keep: 1, Why: "trials that failed; their figures are not counted"}, func(i int) string { return strconv.Itoa(t.Rows[i].Failed) })
	}
	out.add(column{Name: "confidence", keep: 3, Why: "how far each trial's own figure can be trusted, by number of trials"}, func(i int) string { return t.Rows[i].Confidence.String() })
	return out
}

// spreads is one figure of every row, and whether any row has it.
func (t *Test) spreads(pick func(*Row) *Spread) (list []*Spread, found bool) {
	for i := range t.Rows {
		s := pick(&t.Rows[i])
		list, found = append(list, s), found || s != nil
	}
	return list, found
}

func (t *Test) goodputColumns(out *table) {
	goodput, _ := t.spreads(func(r *Row) *Spread { return r.Goodput })
	unit := scaleFor(rateScales, means(goodput)...)
	out.add(column{Name: "goodput", Unit: unit.unit, Number: true, Why: "mean of the round means, counted at the receiver"}, func(i int) string { return meanText(goodput[i], unit) })
	if slices.ContainsFunc(goodput, func(s *Spread) bool { return s != nil && s.N > 1 }) {
		out.add(column{Name: "range", Unit: unit.unit, Number: true, keep: 4, Why: "smallest and largest trial"}, func(i int) string { return rangeText(goodput[i], unit) })
		out.add(column{Name: "CV", Number: true, keep: 7, Why: "standard deviation divided by the mean, over trials"}, func(i int) string {
			if goodput[i] == nil || goodput[i].N < 2 {
				return "–"
			}
			return fmt.Sprintf("%.1f %%", goodput[i].CV*100)
		})
	}
	if list, found := t.spreads(func(r *Row) *Spread { return r.Duration }); found {
		unit := scaleFor(timeScales, means(list)...)
		out.add(column{Name: "time", Unit: unit.unit, Number: true, keep: 3, Why: "that the fixed amount of bytes took, mean"}, func(i int) string { return meanText(list[i], unit) })
	}
	if list, found := t.spreads(func(r *Row) *Spread { return r.Forward }); found {
		out.add(column{Name: "forward", Unit: unit.unit, Number: true, keep: 5}, func(i int) string { return meanText(list[i], unit) })
	}
	if list, found := t.spreads(func(r *Row) *Spread { return r.Reverse }); found {
		out.add(column{Name: "reverse", Unit: unit.unit, Number: true, keep: 5}, func(i int) string { return meanText(list[i], unit) })
	}
	t.packetColumns(out)
	t.fairnessColumn(out)
	if list, found := t.spreads(func(r *Row) *Spread { return r.CPU }); found {
		out.add(column{Name: "CPU", Unit: "s/GB", Number: true, keep: 8, Why: "processor seconds of both ends on a GB of payload, mean"}, func(i int) string {
			if list[i] == nil {
				return "–"
			}
			return digits(list[i].Mean, 3)
		})
	}
}

func (t *Test) packetColumns(out *table) {
	if list, found := t.spreads(func(r *Row) *Spread { return r.Loss }); found {
		out.add(column{Name: "loss", Number: true, keep: 1, Why: "lost divided by sent, mean"}, func(i int) string {
			if list[i] == nil {
				return "–"
			}
			return ratioText(list[i].Mean)
		})
	}
	if list, found := t.spreads(func(r *Row) *Spread { return r.Jitter }); found {
		unit := scaleFor(timeScales, means(list)...)
		out.add(column{Name: "jitter", Unit: unit.unit, Number: true, keep: 5, Why: "RFC 3550 interarrival jitter, mean"}, func(i int) string { return meanText(list[i], unit) })
	}
	if list, found := t.spreads(func(r *Row) *Spread { return r.PPS }); found {
		out.add(column{Name: "packets/s", Number: true, keep: 6, Why: "received, mean"}, func(i int) string { return countText(list[i]) })
	}
	if list, found := t.spreads(func(r *Row) *Spread { return r.Retrans }); found {
		out.add(column{Name: "resent", Number: true, keep: 6, Why: "TCP segments sent again in a trial, mean"}, func(i int) string { return countText(list[i]) })
	}
}

func (t *Test) roundTripColumns(out *table) {
	var figures []float64
	for _, r := range t.Rows {
		switch {
		case r.RTT != nil && r.RTT.Count > 0:
			figures = append(figures, r.RTT.P50)
		case r.Reported != nil && r.Reported.P50 != nil:
			figures = append(figures, r.Reported.P50.Min)
		case r.Reported != nil && r.Reported.Mean != nil:
			figures = append(figures, r.Reported.Mean.Mean)
		}
	}
	unit := scaleFor(timeScales, figures...)
	for _, c := range []struct {
		name string
		keep int
		pick func(*RTT) float64
		told func(*Reported) *Spread
	}{
		{"min", 7, func(p *RTT) float64 { return p.Min }, func(p *Reported) *Spread { return least(p.Min) }},
		{"mean", 4, func(p *RTT) float64 { return p.Mean }, func(p *Reported) *Spread { return p.mean() }},
		{"p50", 0, func(p *RTT) float64 { return p.P50 }, func(p *Reported) *Spread { return p.P50 }},
		{"p90", 8, func(p *RTT) float64 { return p.P90 }, func(p *Reported) *Spread { return p.P90 }},
		{"p95", 9, func(p *RTT) float64 { return p.P95 }, func(p *Reported) *Spread { return p.P95 }},
		{"p99", 1, func(p *RTT) float64 { return p.P99 }, func(p *Reported) *Spread { return p.P99 }},
		{"p99.9", 6, func(p *RTT) float64 { return p.P999 }, func(p *Reported) *Spread { return p.P999 }},
		{"p99.99", 10, func(p *RTT) float64 { return p.P9999 }, func(p *Reported) *Spread { return p.P9999 }},
		{"max", 5, func(p *RTT) float64 { return p.Max }, func(p *Reported) *Spread { return largest(p.Max) }},
	} {
		if !t.hasRoundTrips(c.told) {
			continue
		}
		keep := c.keep
		if c.name == t.rankedColumn() {
			keep = 0
		}
		out.add(column{Name: c.name, Unit: unit.unit, Number: true, keep: keep, Why: "of the " + t.waits() + " of all trials together"}, func(i int) string {
			if r := t.Rows[i].RTT; r != nil && r.Count > 0 {
				return unit.text(c.pick(r))
			}
			if r := t.Rows[i].Reported; r != nil {
				return reportedText(c.told(r), unit)
			}
			return "–"
		})
	}
	t.runMeans(out, unit)
	out.add(column{Name: "loss", Number: true, keep: 2, Why: t.lossText()}, func(i int) string {
		if r := t.Rows[i].RTT; r != nil {
			return ratioText(r.LossRatio)
		}
		return "–"
	})
}

// runMeans is the column of the smallest and the largest mean of a trial.
func (t *Test) runMeans(out *table, unit scale) {
	keep := 8
	if t.rankedColumn() == "run means" {
		keep = 0
	}
	if !slices.ContainsFunc(t.Rows, func(r Row) bool {
		return len(t.Ingested) == 0 || r.RTT != nil && r.RTT.Count > 0 || r.Reported != nil && r.Reported.Mean != nil && r.Reported.Mean.N > 1
	}) {
		return
	}
	out.add(column{Name: "run means", Unit: unit.unit, Number: true, keep: keep, Why: "smallest and largest mean of a single trial"}, func(i int) string {
		if r := t.Rows[i].RTT; r != nil && r.Count > 0 {
			return unit.text(r.MeanLow) + " to " + unit.text(r.MeanHigh)
		}
		if r := t.Rows[i].Reported; r != nil && r.Mean != nil {
			return unit.text(r.Mean.Min) + " to " + unit.text(r.Mean.Max)
		}
		return "–"
	})
}

// hasRoundTrips tells whether any row has the figure. A test of soku's own always
// has all of them.
func (t *Test) hasRoundTrips(told func(*Reported) *Spread) bool {
	return len(t.Ingested) == 0 || slices.ContainsFunc(t.Rows, func(r Row) bool {
		return r.RTT != nil && r.RTT.Count > 0 || r.Reported != nil && told(r.Reported) != nil
	})
}

// rankedColumn is the column of the figure that the ranking rests on.
func (t *Test) rankedColumn() string {
	switch t.Basis.Figure {
	case meanFigure:
		return "mean"
	case middleFigure:
		return "run means"
	}
	return "p50"
}

// rankTable is the ranking, best first. A terminal has no room for the reasons
// beside the figures.
func (t *Test) rankTable(reasons bool) table {
	out := table{Rows: make([][]string, len(t.Ranking))}
	var figures []float64
	for _, p := range t.Ranking {
		if p.Estimate != nil {
			figures = append(figures, *p.Estimate)
		}
	}
	scales, name := timeScales, t.middle()
	if t.Basis.HigherIsBetter {
		scales, name = t.higherScales(), t.noun()
	}
	unit := scaleFor(scales, figures...)
	optional := func(v *float64) string {
		if v == nil {
			return "–"
		}
		return unit.text(*v)
	}
	out.add(column{Name: "rank", Number: true, Why: "equal ranks: no difference shown"}, func(i int) string {
		if t.Ranking[i].Rank == 0 {
			return "–"
		}
		return strconv.Itoa(t.Ranking[i].Rank)
	})
	out.add(column{Name: "pattern", Head: true}, func(i int) string { return t.Ranking[i].Pattern })
	out.add(column{Name: name, Unit: unit.unit, Number: true}, func(i int) string { return optional(t.Ranking[i].Estimate) })
	if slices.ContainsFunc(t.Ranking, func(p Place) bool { return p.Low != nil && p.High != nil }) {
		out.add(column{Name: "95 % interval", Unit: unit.unit, Number: true, keep: 1, Why: "of this pattern's own estimate; ranks come from paired comparisons"}, func(i int) string {
			if p := t.Ranking[i]; p.Low != nil && p.High != nil {
				return unit.text(*p.Low) + " to " + unit.text(*p.High)
			}
			return "–"
		})
	}
	if reasons {
		out.add(column{Name: "why"}, func(i int) string { return t.Ranking[i].Reason })
	}
	return out
}

func means(list []*Spread) []float64 {
	var out []float64
	for _, s := range list {
		if s != nil {
			out = append(out, s.Mean)
		}
	}
	return out
}

func meanText(s *Spread, unit scale) string {
	if s == nil {
		return "–"
	}
	return unit.text(s.Mean)
}

func rangeText(s *Spread, unit scale) string {
	if s == nil {
		return "–"
	}
	return unit.text(s.Min) + " to " + unit.text(s.Max)
}

func countText(s *Spread) string {
	if s == nil {
		return "–"
	}
	return strconv.FormatFloat(s.Mean, 'f', 0, 64)
}

func ratioText(ratio float64) string {
	if ratio == 0 {
		return "0 %"
	}
	return digits(ratio*100, 3) + " %"
}

// String is "3 high, 1 low", or a dash for trials that carry no label.
func (c Confidences) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		name string
	}{{c.High, "high"}, {c.Medium, "medium"}, {c.Low, "low"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.name))
		}
	}
	if len(parts) == 0 {
		return "–"
	}
	return strings.Join(parts, ", ")
}
