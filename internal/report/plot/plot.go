// Package plot draws charts of an outline: axes that map figures to pixels, layers of marks, lines and
// bands on them, and texts that cover neither each other nor a mark. It knows widths of texts and no
// sentences: the caller has these. All lengths are pixels of the chart, from its upper left corner.
package plot

import (
	"fmt"
	"strings"

	"soku/internal/report/outline"
)

// Widths of the two variants of a chart as wide as the page, which shows the one that keeps
// its text readable, and of a panel, several of which stand in a row.
const (
	Wide   = 720
	Narrow = 328
	Panel  = 328
)

// Plot is a chart with axes on which layers are drawn: the layers are what methods add to the chart.
type Plot struct {
	outline.Chart
	X, Y Axis
}

// Frame is what a plot is made of before its axes are known.
type Frame struct {
	Title, Desc    string
	XTitle, YTitle string
	Width, Height  float64     // with the labels
	Box            outline.Box // between the axes
}

// New draws the axes. One without ticks, such as a vertical one of names, is left out.
func New(f Frame, x, y Axis) *Plot {
	p := &Plot{Chart: outline.Chart{
		Title: f.Title, Desc: f.Desc, Width: f.Width, Height: f.Height, Plot: f.Box, XTitle: f.XTitle, YTitle: f.YTitle,
	}, X: x, Y: y}
	for _, m := range x.Marks {
		p.XTicks = append(p.XTicks, outline.Tick{At: x.At(m.At), Text: m.Text})
	}
	p.XTicks = anchors(p.XTicks, f.Width)
	p.AddYTicks(y)
	return p
}

// AddYTicks adds the ticks of a further vertical axis.
func (p *Plot) AddYTicks(y Axis) {
	for _, m := range y.Marks {
		p.YTicks = append(p.YTicks, outline.Tick{At: y.At(m.At), Text: m.Text})
	}
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

// Label adds a text at a place. Its anchor is start, middle or end, its title a tooltip.
func (p *Plot) Label(x, y float64, anchor, class, text, title string) {
	p.Texts = append(p.Texts, outline.ChartText{X: x, Y: y, Anchor: anchor, Class: class, Text: text, Title: title})
}

// RowTitle adds the name at the left end of a strip and the value at its right end, which has
// the given room.
func (p *Plot) RowTitle(top float64, name, title, value string, room float64) {
	p.Label(p.Plot.Left, top+14, "start", "name", Cut(name, p.Plot.Right-p.Plot.Left-room), title)
	p.Label(p.Plot.Right, top+14, "end", "value", value, "")
}

// Mark adds a mark at a figure of the horizontal axis.
func (p *Plot) Mark(class string, hue int, at, y float64, title string) {
	p.Marks = append(p.Marks, outline.Shape{Class: class, Series: hue, X: p.X.At(at), Y: y, Title: title})
}

// Band adds a rectangle between two figures of the horizontal axis.
func (p *Plot) Band(class string, hue int, from, to, top, height float64, title string) {
	left, right := p.X.At(from), p.X.At(to)
	p.Bands = append(p.Bands, outline.Shape{Class: class, Series: hue, X: left, Y: top, W: max(right-left, 1), H: height, Title: title})
}

// Interval adds a band between two figures of the horizontal axis, with an arrow where it goes on
// beyond the axis. half is half of its height.
func (p *Plot) Interval(low, high, middle, half float64, hue int, title string) {
	p.Band("interval", hue, low, high, middle-half, 2*half, title)
	if low < p.X.Low {
		p.arrow(p.X.At(low), middle, -1, hue, title)
	}
	if high > p.X.High {
		p.arrow(p.X.At(high), middle, 1, hue, title)
	}
}

// arrow marks the end of an axis beyond which an interval goes on, to the right or, with
// -1, to the left.
func (p *Plot) arrow(x, y, direction float64, hue int, title string) {
	p.Line("cut", hue, title, [2]float64{x - 7*direction, y - 7}, [2]float64{x, y}, [2]float64{x - 7*direction, y + 7})
}

// Line adds a line through points.
func (p *Plot) Line(class string, hue int, title string, points ...[2]float64) {
	p.Lines = append(p.Lines, outline.Shape{Class: class, Series: hue, D: path(points), Title: title})
}

// Span adds a horizontal line between two figures.
func (p *Plot) Span(hue int, from, to, y float64) {
	p.Line("span", hue, "", [2]float64{p.X.At(from), y}, [2]float64{p.X.At(to), y})
}

// Dashed adds a curve with dashes.
func (p *Plot) Dashed(hue, dash int, title string, points ...[2]float64) {
	p.Lines = append(p.Lines, outline.Shape{Class: "curve", Series: hue, Dash: dash, D: path(points), Title: title})
}

// Stroke adds a vertical line at a figure of the horizontal axis.
func (p *Plot) Stroke(class string, hue int, at, top, bottom float64, title string) {
	x := p.X.At(at)
	p.Line(class, hue, title, [2]float64{x, top}, [2]float64{x, bottom})
}

// Whisker adds the interval of a figure of the vertical axis.
func (p *Plot) Whisker(hue int, at, low, high float64) {
	x, bottom, top := p.X.At(at), p.Y.At(low), p.Y.At(high)
	d := path([][2]float64{{x, bottom}, {x, top}}) + path([][2]float64{{x - 4, bottom}, {x + 4, bottom}}) + path([][2]float64{{x - 4, top}, {x + 4, top}})
	p.Lines = append(p.Lines, outline.Shape{Class: "whisker", Series: hue, D: d})
}

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

// InBothWidths is a figure of a chart as wide as the page.
func InBothWidths(id string, draw func(width float64) *Plot) outline.Figure {
	var f outline.Figure
	for _, v := range []struct {
		class string
		width float64
	}{{"wide", Wide}, {"narrow", Narrow}} {
		c := draw(v.width).Chart
		c.ID, c.Class = id+"-"+v.class, v.class
		f.Charts = append(f.Charts, c)
	}
	return f
}

// OfSeveral is a figure of one plot of several, the one with that index.
func (p *Plot) OfSeveral(id string, i int, caption string) outline.Figure {
	p.ID = fmt.Sprintf("%s-%d", id, i)
	return outline.Figure{Caption: caption, Charts: []outline.Chart{p.Chart}}
}
