package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/report/plot"
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

// evenly is at most n elements of a list, evenly spaced, the first and the last among them. n is 2 or more.
func evenly[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	out := make([]T, n)
	for i := range out {
		out[i] = list[i*(len(list)-1)/(n-1)]
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
func (t testView) sharingFigures(id string) []outline.Figure {
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
		box := outline.Box{Left: stripsLeft, Top: 6, Right: plot.Panel - stripsRight, Bottom: 10 + sharingRow*float64(len(strips))}
		p := plot.New(plot.Frame{
			Title: t.Sentence("chart.streams.title", text.Args{"Pattern": r.Pattern}), Desc: t.sharingContent(r), Width: plot.Panel, Height: box.Bottom + 38, Box: box,
			XTitle: t.Sentence("chart.streams.axis", text.Args{"Unit": t.unit(unit)}),
		}, plot.Exact(high*1.02, box.Left, box.Right, 4).Labelled(ticksIn(unit)), plot.Axis{})
		for k, s := range strips {
			t.addSharing(p, s, t.hues.of(r.Levels), box.Top+sharingRow*float64(k)+3)
		}
		caption := t.Sentence("chart.streams.caption", text.Args{"Pattern": r.Pattern, "More": len(r.sharings) - len(strips)})
		out = append(out, p.OfSeveral(id, i, caption))
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

func (t testView) addSharing(p *plot.Plot, s sharing, color int, top float64) {
	const height = 16
	low, high, median := s.bps[0], s.bps[len(s.bps)-1], stats.Median(s.bps)
	var strokes strings.Builder
	last := math.Inf(-1)
	for _, v := range s.bps {
		// Strokes of one place look as one.
		if at := math.Round(p.X.At(v)*4) / 4; at != last {
			fmt.Fprintf(&strokes, "M%.1f %.1fv%d", at, top, height)
			last = at
		}
	}
	name := t.sharingName(s)
	title := t.Sentence("chart.streams.strip", text.Args{"Trial": name, "Index": s.index, "Streams": s.count, "Median": median, "Low": low, "High": high})
	p.Band("interval", color, low, high, top, height, title)
	p.Lines = append(p.Lines, outline.Shape{Class: "stream", Series: color, D: strokes.String(), Title: title})
	p.Label(8, top+12, "start", "small", plot.Cut(name, stripsLeft-12), name)
	p.Label(plot.Panel-8, top+12, "end", "small", text.Index(s.index), title)
}
