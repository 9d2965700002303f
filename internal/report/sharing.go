package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/stats"
	"soku/internal/text"
)

// sharingOf is each direction of a trial whose streams shared something.
func sharingOf(r *measure.Result, allTrials int) []sharing {
	if r.Error != nil {
		return nil
	}
	var out []sharing
	for _, f := range r.Flows {
		bps := slices.DeleteFunc(f.StreamBps(), func(v float64) bool { return !plausible(v) })
		index := stats.Jain(bps)
		if len(bps) < 2 || math.IsNaN(index) {
			continue
		}
		slices.Sort(bps)
		s := sharing{round: roundOf(r), repeat: repeatOf(r), index: index, bps: evenly(bps, pointsFor(allTrials)), count: len(bps)}
		if len(r.Flows) > 1 {
			s.direction = f.Direction
		}
		out = append(out, s)
	}
	return out
}

// evenly is at most n values of a sorted list, the first and the last among them.
func evenly(sorted []float64, n int) []float64 {
	if len(sorted) <= n {
		return sorted
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = sorted[i*(len(sorted)-1)/(n-1)]
	}
	return out
}

const (
	sharingRow  = 22
	mostStrips  = 12 // of a pattern; more are no picture
	stripsLeft  = 84 // pixels for the names
	stripsRight = 48 // and for the indices
)

// sharingFigures draws what each stream got, a panel a pattern, a strip a trial, in
// which every stream is a stroke. Each panel has an axis of its own from zero: what
// compares is how wide the strokes lie in relation to their distance from zero.
func (t testView) sharingFigures(id string, series map[string]int) []outline.Figure {
	var out []outline.Figure
	for i, r := range t.panels() {
		strips := leastFair(r.sharings)
		if len(strips) == 0 {
			continue
		}
		high := 0.0
		for _, s := range strips {
			high = max(high, s.bps[len(s.bps)-1])
		}
		unit := scaleFor(rateScales, high/2)
		box := outline.Box{Left: stripsLeft, Top: 6, Right: panelWidth - stripsRight, Bottom: 10 + sharingRow*float64(len(strips))}
		p := t.describeAxes(newPlot(frame{
			title: t.Sentence("chart.streams.title", text.Args{"Pattern": r.Pattern}), width: panelWidth, height: box.Bottom + 38, box: box,
			xTitle: t.Sentence("chart.streams.axis", text.Args{"Unit": t.unit(unit)}),
		}, exactAxis(high*1.02, box.Left, box.Right, 4).in(unit), axis{}))
		for k, s := range strips {
			t.addSharing(p, s, series[r.Pattern], box.Top+sharingRow*float64(k)+3)
		}
		caption := t.Sentence("chart.streams.caption", text.Args{"Pattern": r.Pattern, "More": len(r.sharings) - len(strips)})
		out = append(out, panel(id, i, caption, p))
	}
	return out
}

// leastFair are the strips of a panel: all, or those least evenly shared, in their order.
func leastFair(all []sharing) []sharing {
	if len(all) <= mostStrips {
		return all
	}
	indices := make([]float64, len(all))
	for i, s := range all {
		indices[i] = s.index
	}
	slices.Sort(indices)
	var out []sharing
	for _, s := range all {
		if s.index <= indices[mostStrips-1] && len(out) < mostStrips {
			out = append(out, s)
		}
	}
	return out
}

func (t testView) addSharing(p *plot, s sharing, color int, top float64) {
	const height = 16
	low, high, median := s.bps[0], s.bps[len(s.bps)-1], stats.Median(s.bps)
	var strokes strings.Builder
	last := math.Inf(-1)
	for _, v := range s.bps {
		// Strokes of one place look as one.
		if at := math.Round(p.x.at(v)*4) / 4; at != last {
			fmt.Fprintf(&strokes, "M%.1f %.1fv%d", at, top, height)
			last = at
		}
	}
	name := t.Sentence("chart.streams.trial", text.Args{"Round": s.round, "Repeat": s.repeat, "ByHand": t.ByHand, "Direction": string(s.direction)})
	title := t.Sentence("chart.streams.strip", text.Args{"Trial": name, "Index": s.index, "Streams": s.count, "Median": median, "Low": low, "High": high})
	p.band("interval", color, low, high, top, height, title)
	p.Lines = append(p.Lines, outline.Shape{Class: "stream", Series: color, D: strokes.String(), Title: title})
	p.label(8, top+12, "start", "small", cutTo(name, stripsLeft-12), "")
	p.label(panelWidth-8, top+12, "end", "small", text.Index(s.index), title)
}
