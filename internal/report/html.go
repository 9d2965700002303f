package report

import (
	"embed"
	"io"

	"soku/internal/template"
	"soku/internal/text"
)

//go:embed templates/report.html.tmpl templates/chart.svg.tmpl templates/report.css
var pageFiles embed.FS

// HTML writes one self-contained page in a language: no script, no external resource, every
// text from results escaped. It prints on A4 and fits a telephone.
//
// Values are escaped for text and for attributes within quotes: the template may write them
// nowhere else, which a test checks.
func (r *Report) HTML(w io.Writer, c *text.Catalogue) error {
	functions, err := pageFunctions(c)
	if err != nil {
		return err
	}
	t, err := template.Settings{Functions: functions, Escape: template.EscapeHTML}.ParseFiles(pageFiles, "templates/report.html.tmpl", "templates/chart.svg.tmpl")
	if err != nil {
		return err
	}
	return t.Execute(w, newView(r, c).withCharts())
}

// pageFunctions are what the page calls.
func pageFunctions(c *text.Catalogue) (template.Functions, error) {
	css, err := pageFiles.ReadFile("templates/report.css")
	return template.Functions{
		"css":   func() template.Verbatim { return template.Verbatim(css) },
		"say":   c.SentenceFunc(),
		"lang":  c.Language,
		"clean": clean,
		"dict":  text.Pairs,
		"color": color,
		"dash":  func(i int) int { return (i + i/colours) % colours },
	}, err
}
