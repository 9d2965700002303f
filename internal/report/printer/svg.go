package printer

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode/utf8"

	"soku/internal/printable"
	"soku/internal/report/outline"
)

// Picture is a chart that stands alone.
type Picture struct {
	Name    string // unique in the document; letters, digits and dashes
	Caption string
	chart   outline.Chart
}

// Pictures are the charts of a document in its order, each in the variant of a wide page.
func Pictures(d *outline.Document) (out []Picture) {
	for _, s := range d.Sections {
		for _, b := range s.Blocks {
			out = append(out, picturesOf(b.Charts)...)
		}
	}
	return out
}

// picturesOf are the charts of a block. Each has the legend that a page writes once.
func picturesOf(charts *outline.Charts) (out []Picture) {
	if charts == nil {
		return nil
	}
	for _, f := range charts.Figures {
		for _, c := range f.Charts {
			if c.Class == "narrow" {
				continue
			}
			name := strings.TrimSuffix(c.ID, "-"+c.Class)
			c.Class, c.Desc = "", cmp.Or(c.Desc, f.Caption, c.Title)
			addLegend(&c, charts.Legend)
			addLegend(&c, f.Legend)
			out = append(out, Picture{Name: name, Caption: f.Caption, chart: c})
		}
	}
	return out
}

const (
	legendRow  = 20 // pixels
	legendLeft = 8
	legendLine = 28
	charPixels = 7 // the width of a column of text, on the safe side
)

// addLegend adds below a chart what its colours are: as many in a row as there is room for.
func addLegend(c *outline.Chart, legend []outline.Legend) {
	if len(legend) == 0 {
		return
	}
	lines, texts := c.Lines[:len(c.Lines):len(c.Lines)], c.Texts[:len(c.Texts):len(c.Texts)]
	x, y := float64(legendLeft), c.Height+legendRow/2
	for _, l := range legend {
		const margins = 2*legendLeft + legendLine
		shown := cut(printable.Words(l.Text), int((c.Width-margins)/charPixels))
		width := float64(margins + columnsOf(shown)*charPixels)
		if x > legendLeft && x+width > c.Width {
			x, y = legendLeft, y+legendRow
		}
		lines = append(lines, outline.Shape{Class: "curve", Series: l.Series, D: fmt.Sprintf("M%.1f %.1fh%d", x, y, legendLine)})
		texts = append(texts, outline.ChartText{X: x + legendLine + legendLeft, Y: y + 4, Anchor: "start", Text: shown, Title: l.Text})
		x += width + legendLeft
	}
	c.Lines, c.Texts, c.Height = lines, texts, y+legendRow/2+4
}

// SVG writes a picture as a file of its own, for a page that shows it as an image: with the style
// of the charts in a page, light or dark as the system is, and without script or request.
func SVG(w io.Writer, p Picture) error {
	css, err := styles("chart.css")
	if err != nil {
		return err
	}
	functions := chartFunctions()
	functions["root"] = func(c outline.Chart) template.HTMLAttr {
		return template.HTMLAttr(fmt.Sprintf(` xmlns="http://www.w3.org/2000/svg" width="%g" height="%g"`, c.Width, c.Height)) //nolint:gosec // numbers
	}
	functions["style"] = func() template.HTML {
		return template.HTML("\n<style>" + css + "svg { background: var(--paper); }\n</style>") //nolint:gosec // a file of this package
	}
	t, err := template.New("chart.svg.tmpl").Funcs(functions).ParseFS(pageFiles, "templates/chart.svg.tmpl")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "chart", p.chart); err != nil {
		return err
	}
	_, err = w.Write(append(bytes.Map(inXML, bytes.TrimSpace(b.Bytes())), '\n'))
	return err
}

// inXML replaces the two characters that HTML may have and XML may not.
func inXML(r rune) rune {
	if r == 0xFFFE || r == 0xFFFF {
		return utf8.RuneError
	}
	return r
}
