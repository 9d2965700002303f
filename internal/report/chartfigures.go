package report

import (
	"math"
	"slices"

	"soku/internal/measure/metric"
	"soku/internal/report/outline"
	"soku/internal/report/plot"
	"soku/internal/stats"
)

// stripTable is what the chart of every trial shows of each pattern.
func (t testView) stripTable() outline.Table {
	rows := t.pictured()
	out, unit := outline.NewTable(len(rows)), t.rankUnit()
	t.addPatterns(&out, rows, false)
	addCounts(&out, t.named("column.trials", outline.Column{Number: true}), func(i int) int { return len(rows[i].Values) })
	ranges := make([][2]float64, len(rows))
	for i, r := range rows {
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range r.Values {
			low, high = min(low, v.Value), max(high, v.Value)
		}
		ranges[i] = [2]float64{low, high}
	}
	addFigures(&out, t.named("column.lowest", outline.Column{Unit: t.unit(unit), Number: true}), unit, func(i int) *float64 { return &ranges[i][0] })
	addFigures(&out, outline.Column{Name: t.estimate(), Unit: t.unit(unit), Number: true}, unit, func(i int) *float64 { return t.place(rows[i].Pattern).Estimate })
	addFigures(&out, t.named("column.highest", outline.Column{Unit: t.unit(unit), Number: true}), unit, func(i int) *float64 { return &ranges[i][1] })
	if slices.ContainsFunc(t.Ranking, func(p Place) bool { return p.Low != nil && p.High != nil }) {
		t.addIntervals(&out, t.named("column.interval", outline.Column{Unit: t.unit(unit), Number: true}), unit, unit.text, func(i int) (low, high *float64) {
			p := t.place(rows[i].Pattern)
			return p.Low, p.High
		})
	}
	t.addLimitOf(&out, rows, t.Basis.Metric, unit)
	return out
}

// percentileTable is points of the curves of percentiles.
func (t testView) percentileTable() outline.Table {
	rows, _ := t.withRoundTrips()
	out := outline.NewTable(len(rows))
	var medians []float64
	for _, r := range rows {
		medians = append(medians, percentile(r.Histogram(metric.RoundTrips), 50))
	}
	unit := scaleFor(timeScales, medians...)
	t.addPatterns(&out, rows, false)
	for _, p := range []float64{50, 90, 99, 99.9, 99.99} {
		addFigures(&out, outline.Column{Name: "p" + tickText(p, one), Unit: t.unit(unit), Number: true}, unit, func(i int) *float64 {
			return quantileOf(rows[i].Histogram(metric.RoundTrips), p)
		})
	}
	return out
}

// sharingTable is how the streams of the pictured patterns shared.
func (t testView) sharingTable() outline.Table {
	var rows []*Row
	for _, r := range t.panels() {
		if len(r.sharings) > 0 {
			rows = append(rows, r)
		}
	}
	out := outline.NewTable(len(rows))
	lows, medians, highs, least := make([]float64, len(rows)), make([]float64, len(rows)), make([]float64, len(rows)), make([]float64, len(rows))
	for i, r := range rows {
		var all []float64
		least[i] = 1
		for _, s := range r.sharings {
			all, least[i] = append(all, s.bps...), min(least[i], s.index)
		}
		lows[i], highs[i] = stats.Range(all)
		medians[i] = stats.Median(all)
	}
	unit := scaleFor(rateScales, medians...)
	t.addPatterns(&out, rows, false)
	addCounts(&out, t.named("column.trials", outline.Column{Number: true}), func(i int) int { return len(rows[i].sharings) })
	for _, c := range []struct {
		column  outline.Column
		figures []float64
	}{{t.named("column.lowest", outline.Column{}), lows}, {t.named("column.median", outline.Column{}), medians}, {t.named("column.highest", outline.Column{}), highs}} {
		c.column.Unit, c.column.Number = t.unit(unit), true
		addFigures(&out, c.column, unit, func(i int) *float64 { return &c.figures[i] })
	}
	out.Add(t.named("column.least_index", outline.Column{Number: true}), func(i int) outline.Cell { return figureCell(&least[i], one, formOf(metric.QuantityIndex).cell) })
	return out
}

// timeParts is how many parts of the time a table of charts over time has.
const timeParts = 10

// timeTable is what the charts of lines over time show: the mean of all trials of a pattern in
// each tenth of the time.
func (t testView) timeTable(roundTrips bool, lines func(*Row) [][]series) outline.Table {
	var rows []*Row
	end := 0.0
	for _, r := range t.panels() {
		all := slices.Concat(lines(r)...)
		if len(all) == 0 {
			continue
		}
		rows = append(rows, r)
		for _, s := range all {
			for _, p := range s.points {
				end = max(end, p.at)
			}
		}
	}
	if end == 0 {
		return outline.Table{}
	}
	out, cells := outline.NewTable(len(rows)), make([][timeParts]*float64, len(rows))
	step := plot.NiceStep(end / timeParts)
	var figures []float64
	for i, r := range rows {
		for k := range cells[i] {
			if cells[i][k] = meanIn(slices.Concat(lines(r)...), step*float64(k), step*float64(k+1)); cells[i][k] != nil {
				figures = append(figures, *cells[i][k])
			}
		}
	}
	_, high := stats.Range(figures)
	scales := formOf(t.Basis.Metric.Quantity).scales
	if roundTrips {
		scales = timeScales
	}
	unit := scaleFor(scales, high/2)
	t.addPatterns(&out, rows, false)
	for k := range int(math.Ceil(end / step)) {
		name := t.between(tickText(step*float64(k), one), tickText(step*float64(k+1), one)) + " s"
		addFigures(&out, outline.Column{Name: name, Number: true}, unit, func(i int) *float64 { return cells[i][k] })
	}
	out.Caption = t.unit(unit)
	return out
}
