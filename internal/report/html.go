package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"

	"soku/internal/text"
)

//go:embed templates/report.html.tmpl templates/chart.svg.tmpl templates/report.css
var pageFiles embed.FS

// HTML writes one self-contained page: no script, no external resource, every
// text from results escaped. It prints on A4 and fits a telephone.
func (r *Report) HTML(w io.Writer) error {
	css, err := pageFiles.ReadFile("templates/report.css")
	if err != nil {
		return err
	}
	t, err := template.New("report.html.tmpl").Funcs(template.FuncMap{
		"css":   func() template.CSS { return template.CSS(css) },
		"clean": clean,
		"dict":  dict,
		"color": color,
		"dash":  func(i int) int { return (i + i/colours) % colours },
	}).ParseFS(pageFiles, "templates/report.html.tmpl", "templates/chart.svg.tmpl")
	if err != nil {
		return err
	}
	return t.Execute(w, newView(r, text.English()).withCharts())
}

// dict gives a template that is called several arguments: names and values in turn.
func dict(pairs ...any) (map[string]any, error) {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("argument %d of dict is no name", i)
		}
		out[name] = pairs[i+1]
	}
	return out, nil
}
