package printer

import (
	"embed"
	"html/template"
	"io"
	"slices"

	"soku/internal/printable"
	"soku/internal/report/outline"
	"soku/internal/text"
)

//go:embed templates/report.html.tmpl templates/chart.svg.tmpl templates/chart.css templates/report.css
var pageFiles embed.FS

const (
	colours     = 8  // of series in the style sheet (classes s0 to s7); dashes distinguish further ones
	tallNames   = 8  // columns of colours from which long names stand upright, and how long these are
	manyColumns = 12 // of colours from which cells are narrow
)

// HTML writes one self-contained page in a language: no script, no external resource, every
// text escaped. It prints on A4 and fits a telephone.
func HTML(w io.Writer, d *outline.Document, c *text.Catalogue) error {
	css, err := styles("chart.css", "report.css")
	if err != nil {
		return err
	}
	functions := chartFunctions()
	functions["css"] = func() template.CSS { return css }
	functions["say"] = c.SentenceFunc()
	functions["lang"] = c.Language
	functions["lines"] = printable.Text
	functions["dict"] = text.Pairs
	functions["class"] = tableClass
	functions["before"] = func(i int) int { return i - 1 }
	t, err := template.New("report.html.tmpl").Funcs(functions).ParseFS(pageFiles, "templates/report.html.tmpl", "templates/chart.svg.tmpl")
	if err != nil {
		return err
	}
	return t.Execute(w, page{d})
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
		"color": func(i int) int { return i % colours },
		"dash":  func(i int) int { return (i + i/colours) % colours },
		"root":  func(outline.Chart) template.HTMLAttr { return "" }, // attributes of the element
		"style": func() template.HTML { return "" },                  // after its description
	}
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

type answered struct {
	ID, Title string
	Lines     []string
}

// tableClass are the names by which the style sheet knows a table.
func tableClass(key string, t outline.Table) string {
	if t.Scale == nil {
		return key
	}
	class := key + " heat"
	figures := t.Columns[1:]
	if len(figures) >= tallNames && slices.ContainsFunc(figures, func(c outline.Column) bool { return columnsOf(c.Name) >= tallNames }) {
		class += " tall"
	}
	if len(figures) >= manyColumns {
		class += " many"
	}
	return class
}
