package printer

import (
	"embed"
	"html/template"
	"io"

	"soku/internal/printable"
	"soku/internal/report/outline"
	"soku/internal/text"
)

//go:embed templates/report.html.tmpl templates/chart.svg.tmpl templates/report.css
var pageFiles embed.FS

const colours = 8 // of series in the style sheet (classes s0 to s7); dashes distinguish further ones

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
	css, err := pageFiles.ReadFile("templates/report.css")
	if err != nil {
		return err
	}
	t, err := template.New("report.html.tmpl").Funcs(template.FuncMap{
		"css":   func() template.CSS { return template.CSS(css) },
		"say":   c.SentenceFunc(),
		"lang":  c.Language,
		"clean": printable.Words,
		"lines": printable.Text,
		"dict":  text.Pairs,
		"color": func(i int) int { return i % colours },
		"dash":  func(i int) int { return (i + i/colours) % colours },
		"table": newPageTable,
		"pair":  isPair,
	}).ParseFS(pageFiles, "templates/report.html.tmpl", "templates/chart.svg.tmpl")
	if err != nil {
		return err
	}
	return t.Execute(w, page{d})
}

// page is what the templates see.
type page struct{ *outline.Document }

// Answered are the answers of the sections that have one.
func (p page) Answered() (out []answered) {
	for i := range p.Sections {
		s := &p.Sections[i]
		if answer, further := s.Answer(); answer != "" {
			out = append(out, answered{s.ID, s.Title, append([]string{answer}, further...)})
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
