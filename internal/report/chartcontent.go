package report

import (
	"cmp"
	"math"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
	"soku/internal/text"
)

// namedFigure is a figure of a chart.
type namedFigure struct {
	name  string
	value float64
}

// content is the text alternative of a chart: what it shows, and the ends of its figures.
func (t testView) content(what string, figures []namedFigure, write func(float64) string) string {
	if len(figures) == 0 {
		return what
	}
	byValue := func(a, b namedFigure) int { return cmp.Compare(a.value, b.value) }
	low, high := slices.MinFunc(figures, byValue), slices.MaxFunc(figures, byValue)
	return t.Sentence("chart.content", text.Args{"What": what, "Low": write(low.value), "LowName": low.name, "High": write(high.value), "HighName": high.name, "Same": len(figures) == 1})
}

// roundTrip writes a round trip with its unit.
func (t testView) roundTrip(ns float64) string { return t.Figure(metric.RTTP50, ns) }

func (t testView) stripContent(rows []*Row) string {
	var figures []namedFigure
	trials := 0
	for _, r := range rows {
		trials += len(r.Values)
		for _, v := range r.Values {
			figures = append(figures, namedFigure{r.Pattern, v.Value})
		}
	}
	what := t.Sentence("chart.trials.content", text.Args{"Noun": t.noun(), "Trials": trials, "Patterns": len(rows)})
	return t.content(what, figures, t.value)
}

func (t testView) percentileContent(rows []*Row) string {
	var figures []namedFigure
	for _, r := range rows {
		figures = append(figures, namedFigure{r.Pattern, percentile(r.Histogram(metric.RoundTrips), 50)})
	}
	return t.content(t.SentenceFor(t.test(), "chart.curves.content", text.Args{"Patterns": len(rows)}), figures, t.roundTrip)
}

func (t testView) loadContent(rows []*Row) string {
	medians := func(what string, d *metric.Distribution) string {
		var figures []namedFigure
		for _, r := range rows {
			if h := r.Histogram(d); h != nil {
				figures = append(figures, namedFigure{r.Pattern, percentile(h, 50)})
			}
		}
		return t.content(what, figures, t.roundTrip)
	}
	return t.Sentence("chart.load.content", text.Args{
		"Idle":   medians(t.Sentence("chart.load.content_idle", text.Args{"Patterns": len(rows)}), metric.IdleRoundTrips),
		"Loaded": medians(t.Sentence("chart.load.content_loaded", nil), metric.LoadedRoundTrips),
	})
}

func (t testView) timeContent(trials [][]series, roundTrips bool) string {
	var figures []namedFigure
	for _, s := range slices.Concat(trials...) {
		for _, p := range s.points {
			figures = append(figures, namedFigure{tickText(math.Round(p.at*10)/10, one) + " s", p.value})
		}
	}
	write := t.value
	if roundTrips {
		write = t.roundTrip
	}
	return t.content(t.Sentence("chart.time.content", text.Args{"Trials": len(trials)}), figures, write)
}

func (t testView) sharingContent(r *Row) string {
	var figures []namedFigure
	for _, s := range r.sharings {
		figures = append(figures, namedFigure{t.sharingName(s), s.index})
	}
	return t.content(t.Sentence("chart.streams.content", text.Args{"Trials": len(r.sharings)}), figures, text.Index)
}

func (t testView) sharingName(s sharing) string {
	return t.Sentence("chart.streams.trial", text.Args{"Round": s.round, "Repeat": s.repeat, "ByHand": t.ByHand, "Direction": string(s.direction)})
}

func (t testView) sweepContent(c Curve) string {
	var figures []namedFigure
	for _, p := range c.Points {
		figures = append(figures, namedFigure{t.levelNamed(c.Option, p.Level), p.Estimate})
	}
	what := t.Sentence("chart.sweep.content", text.Args{"Noun": t.noun(), "Option": c.Option, "Levels": len(c.Points)})
	return t.Sentence("chart.sweep.desc", text.Args{"Content": t.content(what, figures, t.value), "Plateau": t.levelsOff(c)})
}

func (t testView) copyContent(s *copySeries) string {
	rate := func(bps float64) string {
		if bps <= 0 {
			return ""
		}
		return t.Figure(metric.Goodput, bps)
	}
	return t.Sentence("chart.copy.content", text.Args{"Read": rate(s.source.meanBps()), "Network": rate(s.networkBps), "Written": rate(s.sink.meanBps())})
}

// meanIn is the mean of the points of lines whose time is in a part of the axis, or nil if there is none.
func meanIn(lines []series, from, to float64) *float64 {
	var values []float64
	for _, s := range lines {
		for _, p := range s.points {
			if p.at >= from && p.at < to {
				values = append(values, p.value)
			}
		}
	}
	if len(values) == 0 {
		return nil
	}
	return finite(stats.Mean(values))
}

// quantileOf is a percentile of a histogram, or nil if it has too few round trips.
func quantileOf(h *measure.Histogram, p float64) *float64 {
	if h == nil || !measure.SupportsPercentile(h.Count(), p/100) {
		return nil
	}
	v := percentile(h, p)
	return &v
}
