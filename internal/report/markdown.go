package report

import (
	"embed"
	"io"
	"strings"
	"text/template"

	"soku/internal/text"
)

//go:embed templates/report.md.tmpl
var markdownFile embed.FS

// Markdown writes the report in a language, in GitHub's dialect. Texts from results are
// escaped: they make no markup, links or mentions.
func (r *Report) Markdown(w io.Writer, c *text.Catalogue) error {
	t, err := template.New("report.md.tmpl").Funcs(template.FuncMap{
		"say": c.SentenceFunc(), "md": EscapeMarkdown, "table": markdownTable, "heatTable": heatMap.Table, "fence": fence,
	}).ParseFS(markdownFile, "templates/report.md.tmpl")
	if err != nil {
		return err
	}
	return t.Execute(w, newView(r, c))
}

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`, "$", `\$`,
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "&#64;", "://", "&#58;//", "www.", "www&#46;",
)

// EscapeMarkdown is a text from elsewhere that makes no markup, links or mentions in GitHub's
// dialect.
func EscapeMarkdown(s string) string { return markdownEscapes.Replace(clean(s)) }

func markdownTable(t table) string {
	var b strings.Builder
	row := func(cells []string) {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	var headings, rules []string
	for _, c := range t.Columns {
		headings = append(headings, EscapeMarkdown(c.heading()))
		rule := "---"
		if c.Number {
			rule = "---:"
		}
		rules = append(rules, rule)
	}
	row(headings)
	row(rules)
	for _, cells := range t.Rows {
		escaped := make([]string, len(cells))
		for i, c := range cells {
			escaped[i] = EscapeMarkdown(c)
		}
		row(escaped)
	}
	return b.String()
}

// fence puts a text in a code block that the text cannot close.
func fence(language, text string) string {
	longest, run := 2, 0
	for _, c := range text {
		if c == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	marks := strings.Repeat("`", longest+1)
	return marks + language + "\n" + strings.TrimRight(cleanLines(text), "\n") + "\n" + marks
}
