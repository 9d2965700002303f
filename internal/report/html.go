package report

import (
	"embed"
	"html/template"
	"io"

	"soku/internal/text"
)

//go:embed templates/report.html.tmpl templates/chart.svg.tmpl templates/report.css
var pageFiles embed.FS

// HTML writes one self-contained page in a language: no script, no external resource, every
// text from results escaped. It prints on A4 and fits a telephone.
func (r *Report) HTML(w io.Writer, c *text.Catalogue) error {
	t, err := pageTemplate(c)
	if err != nil {
		return err
	}
	return t.Execute(w, newView(r, c).withCharts())
}

// pageTemplate parses the templates of the page, in a language.
func pageTemplate(c *text.Catalogue) (*template.Template, error) {
	css, err := pageFiles.ReadFile("templates/report.css")
	if err != nil {
		return nil, err
	}
	return template.New("report.html.tmpl").Funcs(template.FuncMap{
		"css":   func() template.CSS { return template.CSS(css) },
		"say":   c.SentenceFunc(),
		"lang":  c.Language,
		"clean": clean,
		"dict":  text.Pairs,
		"color": color,
		"dash":  func(i int) int { return (i + i/colours) % colours },
	}).ParseFS(pageFiles, "templates/report.html.tmpl", "templates/chart.svg.tmpl")
}
