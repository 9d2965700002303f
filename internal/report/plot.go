package report

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"

	"soku/internal/measure/metric"
	"soku/internal/printable"
	"soku/internal/report/outline"
	"soku/internal/text"
)

// path makes SVG path data of points, a tenth of a pixel exact.
func path(points [][2]float64) string {
	var b strings.Builder
	for i, p := range points {
		c := byte('L')
		if i == 0 {
			c = 'M'
		}
		fmt.Fprintf(&b, "%c%.1f %.1f", c, p[0], p[1])
	}
	return b.String()
}

// Widths of characters of a bold text at 12 pixels, on the safe side.
const (
	charPixels  = 7
	upperPixels = 9.5
	broadPixels = 13.5 // such as W and those of two columns
)

func pixelsOf(r rune) float64 {
	switch {
	case runewidth.RuneWidth(r) > 1 || strings.ContainsRune("MWmw@%…", r):
		return broadPixels
	case unicode.IsUpper(r):
		return upperPixels
	}
	return charPixels
}

// pixelsOfText is the width of a text.
func pixelsOfText(s string) (sum float64) {
	for _, r := range printable.Words(s) {
		sum += pixelsOf(r)
	}
	return sum
}

// leastCut is how many characters of a text stay where there is no room.
const leastCut = 3

// cutTo shortens a text to about that many pixels.
func cutTo(s string, pixels float64) string {
	runes := []rune(printable.Words(s))
	fits, used := 0, 0.0 // characters that fit with an ellipsis
	for i, r := range runes {
		if used += pixelsOf(r); used+broadPixels <= pixels || i < leastCut {
			fits = i + 1
		}
	}
	if used <= pixels || len(runes) <= leastCut+1 {
		return string(runes)
	}
	return string(runes[:fits]) + "…"
}

// tickPixels is the width of a character of an axis label.
const tickPixels = 6.5

// anchors centres the labels of a horizontal axis, keeps the outermost ones
// inside a drawing of that width, and drops the text of those that would touch
// the one before.
func anchors(ticks []outline.Tick, width float64) []outline.Tick {
	free := 0.0 // where the last label ends
	for i := range ticks {
		pixels := float64(len(ticks[i].Text)) * tickPixels
		at := ticks[i].At - pixels/2
		ticks[i].Anchor = "middle"
		switch {
		case at < 0:
			at, ticks[i].Anchor = ticks[i].At, "start"
		case at+pixels > width:
			at, ticks[i].Anchor = ticks[i].At-pixels, "end"
		}
		if at < free {
			ticks[i].Text = ""
			continue
		}
		free = at + pixels + tickPixels
	}
	return ticks
}

// Widths of the two variants of a chart as wide as the page, which shows the one that keeps
// its text readable, and of a panel, several of which stand in a row.
const (
	wideChart   = 720
	narrowChart = 328
	panelWidth  = 328
)

// plot is a chart with axes on which layers are drawn: the axes map figures to pixels and write
// the labels of their ticks; the layers are what methods add to the chart.
type plot struct {
	outline.Chart
	x, y axis
}

// frame is what a plot is made of before its axes are known.
type frame struct {
	title, desc    string
	xTitle, yTitle string
	width, height  float64     // with the labels
	box            outline.Box // between the axes
}

// newPlot draws the axes. One without ticks, such as a vertical one of names, is left out.
func newPlot(f frame, x, y axis) *plot {
	p := &plot{Chart: outline.Chart{
		Title: f.title, Desc: f.desc, Width: f.width, Height: f.height, Plot: f.box, XTitle: f.xTitle, YTitle: f.yTitle,
	}, x: x, y: y}
	for _, m := range x.marks {
		p.XTicks = append(p.XTicks, outline.Tick{At: x.at(m.at), Text: m.text})
	}
	p.XTicks = anchors(p.XTicks, f.width)
	p.addYTicks(y)
	return p
}

func (p *plot) addYTicks(y axis) {
	for _, m := range y.marks {
		p.YTicks = append(p.YTicks, outline.Tick{At: y.at(m.at), Text: m.text})
	}
}

// label adds a text at a place in pixels.
func (p *plot) label(x, y float64, anchor, class, text, title string) {
	p.Texts = append(p.Texts, outline.ChartText{X: x, Y: y, Anchor: anchor, Class: class, Text: text, Title: title})
}

// rowTitle adds the name at the left end of a strip and the value at its right end, which has
// the given room.
func (p *plot) rowTitle(top float64, name, pattern, value string, room float64) {
	p.label(p.Plot.Left, top+14, "start", "name", cutTo(name, p.Plot.Right-p.Plot.Left-room), pattern)
	p.label(p.Plot.Right, top+14, "end", "value", value, "")
}

// band adds a rectangle between two figures of the horizontal axis.
func (p *plot) band(class string, color int, from, to, top, height float64, title string) {
	left, right := p.x.at(from), p.x.at(to)
	p.Bands = append(p.Bands, outline.Shape{Class: class, Series: color, X: left, Y: top, W: max(right-left, 1), H: height, Title: title})
}

// line adds a line through points in pixels.
func (p *plot) line(class string, color int, title string, points ...[2]float64) {
	p.Lines = append(p.Lines, outline.Shape{Class: class, Series: color, D: path(points), Title: title})
}

// dashed adds a curve with dashes.
func (p *plot) dashed(color, dash int, title string, points ...[2]float64) {
	p.Lines = append(p.Lines, outline.Shape{Class: "curve", Series: color, Dash: dash, D: path(points), Title: title})
}

// sayBetter writes above the plot whether a higher or a lower figure is better.
func (p *plot) sayBetter(t testView, m *metric.Definition) {
	p.label(p.Plot.Right, p.Plot.Top-7, "end", "small", t.Sentence("chart.better", text.Args{"Higher": m.Better == metric.Higher}), "")
}

// stroke adds a vertical line at a figure of the horizontal axis.
func (p *plot) stroke(class string, color int, at, top, bottom float64, title string) {
	x := p.x.at(at)
	p.line(class, color, title, [2]float64{x, top}, [2]float64{x, bottom})
}

// inBothWidths is a figure of a chart as wide as the page.
func inBothWidths(id string, draw func(width float64) *plot) outline.Figure {
	var f outline.Figure
	for _, v := range []struct {
		class string
		width float64
	}{{"wide", wideChart}, {"narrow", narrowChart}} {
		c := draw(v.width).Chart
		c.ID, c.Class = id+"-"+v.class, v.class
		f.Charts = append(f.Charts, c)
	}
	return f
}

// panel is a figure of one plot of several.
func panel(id string, i int, caption string, p *plot) outline.Figure {
	p.ID = fmt.Sprintf("%s-%d", id, i)
	return outline.Figure{Caption: caption, Charts: []outline.Chart{p.Chart}}
}

// panelBox is the room between the axes of a panel over time.
var panelBox = outline.Box{Left: 64, Top: 8, Right: panelWidth - 8, Bottom: panelHeight - 36}

const panelHeight = 150

// overTime is a panel over the seconds of a trial.
func (t testView) overTime(title, desc, yTitle string, box outline.Box, x, y axis) *plot {
	return newPlot(frame{title: title, desc: desc, width: panelWidth, height: box.Bottom + 36, box: box, xTitle: t.Sentence("chart.time.axis", nil), yTitle: yTitle}, x, y)
}

// basisAxis is the vertical axis of the figure that ranks: logarithmic for times, from zero for
// others.
func (t testView) basisAxis(low, high float64, box outline.Box, ticks int) (y axis, unit scale) {
	unit = scaleFor(formOf(t.Basis.Metric.Quantity).scales, high/2)
	if t.Basis.isTime() {
		return logAxis(low, high, box.Bottom, box.Top, 6).labels(timeText), unit
	}
	return exactAxis(high*1.05, box.Bottom, box.Top, ticks).in(unit), unit
}
