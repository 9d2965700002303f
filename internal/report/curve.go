package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
)

// leastCurve is how many levels of a factor make a curve.
const leastCurve = 4

// Curve is the figure that ranks over the increasing levels of a factor that are numbers.
type Curve struct {
	Option string          `json:"option"` // the factor, named as the option that it sets
	Levels []measure.Level `json:"levels,omitempty"`
	Points []CurvePoint    `json:"points"` // ascending, those that have a figure
	// Knee is the first level that reaches 95 % of the best, and Plateau the mean over the
	// levels within 3 % of the best, with its 95 % interval, as by [stats.KneeOf]. All are nil
	// where a lower figure is better.
	Knee    *float64 `json:"knee,omitempty"`
	Plateau *float64 `json:"plateau,omitempty"`
	Low     *float64 `json:"low,omitempty"`
	High    *float64 `json:"high,omitempty"`
	// Searched is set if the levels were chosen while the campaign ran: those above the plateau
	// were not measured.
	Searched bool `json:"searched,omitempty"`
	Rising   bool `json:"rising,omitempty"` // the last level is the best by 2 % or more: the knee may lie beyond
	// Highest is what a search with a threshold found, in place of the knee and the plateau; nil
	// for another curve.
	Highest *Highest `json:"highest,omitempty"`

	plateau []pattern // of a search: the levels of the plateau, with their trials after the search
}

// Highest is the highest level at which a threshold holds in every trial, below the lowest at which
// it does not.
type Highest struct {
	While  string `json:"while"`
	Level  string `json:"level,omitempty"`  // absent if it holds at none
	Rounds int    `json:"rounds,omitempty"` // in which it held at this level
	Fails  string `json:"fails,omitempty"`  // the lowest level at which it does not hold; absent if it holds at all
}

// CurvePoint is a level of a curve and the estimate of its pattern.
type CurvePoint struct {
	Level    string   `json:"level"` // as the plan writes it
	Value    float64  `json:"value"` // in bit/s, bytes or ns where the level has such a unit
	Estimate float64  `json:"estimate"`
	Low      *float64 `json:"low,omitempty"`
	High     *float64 `json:"high,omitempty"`
	Limit    *float64 `json:"limit,omitempty"` // the documented limit of the figure
}

// knee is the point of the knee; nil without one.
func (c *Curve) knee() *CurvePoint {
	return find(c.Points, func(p *CurvePoint) bool { return c.Knee != nil && p.Value == *c.Knee })
}

// findCurves makes the curves of the factor with the most levels that are numbers, or of the
// one whose levels were searched: one for each combination of the other factors' levels.
func (t *Test) findCurves(patterns []pattern, rounds map[int]int, by Design) {
	if t.ByHand {
		return
	}
	searched := by.Searched
	swept, values := t.sweptFactor(searched)
	if swept < 0 {
		return
	}
	type line struct {
		levels   []measure.Level
		patterns []pattern
		values   []float64
	}
	var lines []line
	varied := map[string]map[string]bool{}
	for _, p := range patterns {
		levels := alignLevels(p.levels, t.Factors)
		value := levels[swept].Value
		if _, measured := values[value]; !measured {
			continue
		}
		levels = slices.Delete(levels, swept, swept+1)
		for _, l := range levels {
			if varied[l.Factor] == nil {
				varied[l.Factor] = map[string]bool{}
			}
			varied[l.Factor][l.Value] = true
		}
		l := findOrAdd(&lines, func(l line) bool { return slices.Equal(l.levels, levels) }, line{levels: levels})
		l.patterns, l.values = append(l.patterns, p), append(l.values, values[value])
	}
	limits := make(map[string]*float64, len(t.Rows))
	for i := range t.Rows {
		if l := t.Rows[i].Limit(t.Basis.Metric); l != nil {
			limits[t.Rows[i].Pattern] = &l.Value
		}
	}
	places := make(map[string]Place, len(t.Ranking))
	for _, p := range t.Ranking {
		places[p.Pattern] = p
	}
	for _, l := range lines {
		c := Curve{Option: t.Factors[swept], Levels: slices.DeleteFunc(l.levels, func(l measure.Level) bool { return len(varied[l.Factor]) < 2 })}
		var means [][]float64
		var drawn []pattern
		order := make([]int, len(l.patterns))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.values[a], l.values[b]) })
		for _, i := range order {
			place := places[l.patterns[i].name]
			if place.Estimate == nil {
				continue
			}
			level := levelOf(l.patterns[i].levels, c.Option)
			c.Points = append(c.Points, CurvePoint{Level: level, Value: l.values[i], Estimate: *place.Estimate, Low: place.Low, High: place.High, Limit: limits[l.patterns[i].name]})
			means = append(means, roundMeans(t.group(l.patterns[i], rounds)))
			drawn = append(drawn, l.patterns[i])
		}
		if c.Searched = c.Option == searched; c.Searched {
			withoutSearch(means, rounds)
		} else if len(c.Points) < leastCurve {
			continue
		}
		if c.Searched && by.While.Text != "" {
			if t.Label == by.While.Test {
				c.Highest = highest(by.While, searched, l.patterns, order)
			}
		} else if plateau := c.findKnee(means, t.Basis.Metric); c.Searched {
			c.plateau = afterSearch(drawn, plateau)
		}
		t.Curves = append(t.Curves, c)
	}
	if len(t.Curves) == 1 {
		t.Curve, t.Curves = &t.Curves[0], nil
	}
}

// highest finds the highest level at which a threshold holds; order is that of the patterns' levels.
func highest(while While, option string, patterns []pattern, order []int) *Highest {
	out := &Highest{While: while.Text}
	for _, i := range order {
		p, held := patterns[i], map[int]bool{}
		level := levelOf(p.levels, option)
		for _, r := range p.results {
			if !while.Holds(r) {
				out.Fails = level
				return out
			}
			held[roundOf(r)] = true
		}
		out.Level, out.Rounds = level, len(held)
	}
	return out
}

// allCurves are the curves of the test.
func (t *Test) allCurves() []Curve {
	if t.Curve != nil {
		return []Curve{*t.Curve}
	}
	return t.Curves
}

// findKnee sets the knee and the plateau, and returns the points of the plateau.
func (c *Curve) findKnee(means [][]float64, m *metric.Definition) []int {
	if m.Better != metric.Higher {
		return nil
	}
	k, plateau := stats.KneeOf(means)
	if k.Level < 0 {
		return nil
	}
	c.Knee, c.Rising = &c.Points[k.Level].Value, k.Rising
	c.Plateau, c.Low, c.High = finite(k.Plateau), finite(max(plateau.Low, 0)), finite(plateau.High)
	return plateau.Levels
}

// roundMeans are the means of the values of each round; NaN without any.
func roundMeans(g stats.Group) []float64 {
	out := make([]float64, len(g.Rounds))
	for i, values := range g.Rounds {
		out[i] = stats.Mean(values)
	}
	return out
}

// firstRound is the round of a search in which it chooses its levels.
const firstRound = 1

// withoutSearch takes the value of the search out of the round means of levels that were
// measured again: a level that the search chose for a high value had luck, too.
func withoutSearch(means [][]float64, rounds map[int]int) {
	search, known := rounds[firstRound]
	if !known {
		return
	}
	for _, row := range means {
		if search >= len(row) {
			continue
		}
		first := row[search]
		row[search] = math.NaN()
		if !slices.ContainsFunc(row, func(v float64) bool { return !math.IsNaN(v) }) {
			row[search] = first
		}
	}
}

// afterSearch are the patterns of some points with their trials after the search, or with all
// if no point has such trials.
func afterSearch(points []pattern, plateau []int) (out []pattern) {
	searching := func(r *measure.Result) bool { return roundOf(r) == firstRound }
	for _, i := range plateau {
		p := points[i]
		if p.results = slices.DeleteFunc(slices.Clone(p.results), searching); len(successful(p.results)) > 0 {
			out = append(out, p)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, i := range plateau {
		out = append(out, points[i])
	}
	return out
}

// sweptFactor returns the index and the values of the factor with the most numeric levels, at
// least four, or of the searched one. The index is -1 if there is none.
func (t *Test) sweptFactor(searched string) (factor int, values map[string]float64) {
	factor = -1
	for f := range t.Factors {
		var levels []string
		for _, r := range t.Rows {
			if l := r.Levels[f].Value; l != "" && !slices.Contains(levels, l) {
				levels = append(levels, l)
			}
		}
		numbers := numbersOf(levels)
		if t.Factors[f] == searched && len(numbers) > 0 {
			return f, numbers
		}
		if len(numbers) >= leastCurve && len(numbers) > len(values) {
			factor, values = f, numbers
		}
	}
	return factor, values
}

// numbersOf reads levels as plain numbers, rates, sizes or durations, all as the same of
// these; nil unless all are, and all are different.
func numbersOf(levels []string) map[string]float64 {
	for _, read := range []func(string) (float64, bool){
		func(s string) (float64, bool) {
			v, err := strconv.ParseFloat(s, 64)
			return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
		},
		func(s string) (float64, bool) { v, err := measure.ParseRate(s); return float64(v), err == nil },
		func(s string) (float64, bool) { v, err := measure.ParseSize(s); return float64(v), err == nil },
		func(s string) (float64, bool) { v, err := measure.ParseDuration(s); return float64(v), err == nil },
	} {
		out, distinct := make(map[string]float64, len(levels)), make(map[float64]bool, len(levels))
		for _, l := range levels {
			v, ok := read(l)
			if !ok {
				break
			}
			out[l], distinct[v] = v, true
		}
		if len(out) == len(levels) && len(distinct) == len(levels) {
			return out
		}
	}
	return nil
}
