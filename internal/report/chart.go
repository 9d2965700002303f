package report

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
)

// chart is a drawing in pixels; templates/chart.svg.tmpl writes it. Colours,
// strokes and fonts are the style sheet's.
type chart struct {
	ID            string
	Class         string // "wide" or "narrow" where both exist and the page shows one
	Title, Desc   string
	Width, Height float64
	Plot          box
	XTicks        []tick
	YTicks        []tick
	XTitle        string
	YTitle        string
	Bands         []shape
	Lines         []shape
	Marks         []shape
	Texts         []chartText
}

type box struct{ Left, Top, Right, Bottom float64 }

type tick struct {
	At     float64
	Text   string
	Anchor string
}

// shape is a rectangle, path or mark; Series picks the colour.
type shape struct {
	Class      string
	Series     int
	Title      string // tooltip
	X, Y, W, H float64
	D          string // path data
}

type chartText struct {
	X, Y          float64
	Anchor, Class string
	Text, Title   string
}

// figure is one or two variants of a chart with its caption.
type figure struct {
	Caption string
	Charts  []chart
	Legend  []legend
}

type legend struct {
	Series int
	Text   string
}

// colours is the number of colours in the style sheet (classes s0 to s7); dashes
// distinguish further patterns, and all patterns for readers who do not see colours.
const colours = 8

func color(i int) int { return i % colours }

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

// charPixels is the width of a column of text at 12 pixels, on the safe side.
const charPixels = 7

// cutTo shortens a text to about that many pixels.
func cutTo(s string, pixels float64) string {
	return (&runewidth.Condition{}).Truncate(clean(s), max(int(pixels/charPixels), 4), "…")
}

// tickPixels is the width of a character of an axis label.
const tickPixels = 6.5

// anchors centres the labels of a horizontal axis, keeps the outermost ones
// inside a drawing of that width, and drops the text of those that would touch
// the one before.
func anchors(ticks []tick, width float64) []tick {
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
