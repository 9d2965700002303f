package printer

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"strconv"

	"soku/internal/printable"
	"soku/internal/report/outline"
	"soku/internal/text"
)

//go:embed templates/report.html.tmpl templates/chart.svg.tmpl templates/chart.css templates/report.css
var pageFiles embed.FS

// A page has a table of contents if it has more than fewSections or is higher than fewScreens.
const (
	fewSections  = 4
	fewScreens   = 4
	screenHeight = 900 // in pixels, as the following
	lineHeight   = 34
	panelsInRow  = 3
)

// HTML writes one self-contained page in a language: no script, no external resource, every
// text escaped. It prints on A4 and fits a telephone.
func HTML(w io.Writer, d *outline.Document, c *text.Catalogue) error {
	css, err := StyleSheet()
	if err != nil {
		return err
	}
	functions := chartFunctions()
	functions["css"] = func() template.CSS { return template.CSS(css) }
	functions["say"] = c.SentenceFunc()
	functions["lang"] = c.Language
	functions["lines"] = printable.Text
	functions["dict"] = text.Pairs
	functions["table"] = newPageTable
	functions["pair"] = isPair
	t, err := template.New("report.html.tmpl").Funcs(functions).ParseFS(pageFiles, "templates/report.html.tmpl", "templates/chart.svg.tmpl")
	if err != nil {
		return err
	}
	return t.Execute(w, page{d})
}

// StyleSheet is the style of a page, for other pages that are to look like it.
func StyleSheet() ([]byte, error) {
	css, err := styles("chart.css", "report.css")
	return []byte(css), err
}

// StyleSource is the source by which a Content-Security-Policy allows the style of a page and no other.
func StyleSource() (string, error) {
	css, err := StyleSheet()
	sum := sha256.Sum256(css)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'", err
}

// hueClass is the class of the style sheet for the colour of a series: s0 to s7, or sn.
func hueClass(series int) string {
	if series == outline.NoHue {
		return "sn"
	}
	return "s" + strconv.Itoa(series%outline.Hues)
}

// marks are the shapes of the series, as path data from the middle on: circle, square, triangle up,
// diamond, triangle down, plus, cross and star.
var marks = [outline.Hues]string{
	"m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
	"m-4-4h8v8h-8z",
	"m0-5.2l5 8.7h-10z",
	"m0-5.6l5.6 5.6l-5.6 5.6l-5.6-5.6z",
	"m0 5.2l5-8.7h-10z",
	"m-1.7-5.2h3.4v3.5h3.5v3.4h-3.5v3.5h-3.4v-3.5h-3.5v-3.4h3.5z",
	"m0-2.4l2.5-2.5l2.4 2.4l-2.5 2.5l2.5 2.5l-2.4 2.4l-2.5-2.5l-2.5 2.5l-2.4-2.4l2.5-2.5l-2.5-2.5l2.4-2.4z",
	"m0-6l1.5 4h4.2l-3.4 2.6l1.3 4.1l-3.6-2.5l-3.6 2.5l1.3-4.1l-3.4-2.6h4.2z",
}

// styles are style sheets, one after another.
func styles(names ...string) (all template.CSS, err error) {
	for _, name := range names {
		css, err := pageFiles.ReadFile("templates/" + name)
		if err != nil {
			return "", err
		}
		all += template.CSS(css)
	}
	return all, nil
}

// chartFunctions are the functions of the template of charts, for charts in a page.
func chartFunctions() template.FuncMap {
	return template.FuncMap{
		"clean": printable.Words,
		"hue":   hueClass,
		"mark":  func(series int) string { return marks[max(series, 0)%outline.Hues] },
		"root":  func(outline.Chart) template.HTMLAttr { return "" }, // attributes of the element
		"style": func() template.HTML { return "" },                  // after its description
	}
}

// page is what the templates see.
type page struct{ *outline.Document }

// Answered are the answers of the sections that have one; of several the first sentences alone, the
// others are in the sections.
func (p page) Answered() (out []answered) {
	for i := range p.Sections {
		s := &p.Sections[i]
		if answer, further := s.Answer(); answer != "" {
			out = append(out, answered{s.ID, s.Title, append([]string{answer}, further...)})
		}
	}
	if len(out) > 1 {
		for i := range out {
			out[i].Lines = out[i].Lines[:1]
		}
	}
	return out
}

// Contents are the sections of a page that has many of them or is long, otherwise none.
func (p page) Contents() []outline.Section {
	height := 0.0
	for _, s := range p.Sections {
		for _, b := range s.Blocks {
			height += blockHeight(b)
		}
	}
	if len(p.Sections) <= fewSections && height <= fewScreens*screenHeight {
		return nil
	}
	return p.Sections
}

// blockHeight is about the height of what is shown of a block, in pixels, on a wide screen.
func blockHeight(b outline.Block) float64 {
	if b.Fold == outline.Closed || b.Fold == outline.Hidden {
		return lineHeight
	}
	lines := len(b.Lines)
	for _, t := range b.Tables {
		lines += len(t.Rows)
	}
	height := lineHeight * float64(lines)
	if b.Charts != nil {
		for _, f := range b.Charts.Figures {
			for _, c := range f.Charts[:min(len(f.Charts), 1)] { // the others are variants
				if b.Charts.Panels {
					c.Height /= panelsInRow
				}
				height += c.Height
			}
		}
	}
	return height
}

// isPair reports whether a block is a table and a chart, which stand side by side where there is
// room.
func isPair(b outline.Block) bool {
	return len(b.Tables) == 1 && !b.Tables[0].Drawn && b.Charts != nil && !b.Charts.Panels && len(b.Charts.Figures) == 1
}

type answered struct {
	ID, Title string
	Lines     []string
}
