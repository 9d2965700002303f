package printer

import (
	"io"
	"strings"

	"soku/internal/printable"
	"soku/internal/report/outline"
)

// Markdown writes an outline in GitHub's dialect, without its charts. Texts are escaped: they make
// no markup, links or mentions.
func Markdown(w io.Writer, d *outline.Document) error {
	p := &markdown{}
	if d.Title != "" {
		p.part("# " + EscapeMarkdown(d.Title))
	}
	if d.Subtitle != "" {
		p.part(EscapeMarkdown(d.Subtitle))
	}
	for i := range d.Sections {
		s := &d.Sections[i]
		if heading := s.Line(); heading != "" {
			p.part("## " + EscapeMarkdown(heading))
		}
		for j := range s.Blocks {
			b := s.Blocks[j]
			if b.Heading != "" && s.Description != "" { // several tests have the same headings
				b.Heading = s.Title + ": " + b.Heading
			}
			p.block(&b)
		}
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// markdown is a text of parts with an empty line between each two.
type markdown struct{ strings.Builder }

func (p *markdown) part(s string) {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
	p.WriteString(strings.TrimRight(s, "\n") + "\n")
}

func (p *markdown) block(b *outline.Block) {
	if len(b.Lines)+len(b.Tables) == 0 {
		return
	}
	if b.Style == outline.Tags {
		p.tags(b)
		return
	}
	folded := b.Fold == outline.Closed || b.Fold == outline.Hidden
	switch {
	case b.Heading == "":
	case folded:
		p.part("<details><summary>" + EscapeMarkdown(b.Heading) + "</summary>")
	default:
		p.part("### " + EscapeMarkdown(b.Heading))
	}
	p.lines(b)
	for _, t := range b.Tables {
		if t.Caption != "" {
			p.part("**" + EscapeMarkdown(t.Caption) + "**")
		}
		p.part(markdownTable(t))
	}
	if folded && b.Heading != "" {
		p.part("</details>")
	}
}

// tags writes short texts behind their heading.
func (p *markdown) tags(b *outline.Block) {
	parts := []string{"**" + EscapeMarkdown(b.Heading) + "**"}
	for _, l := range b.Lines {
		parts = append(parts, EscapeMarkdown(l))
	}
	p.part(strings.Join(parts, " · "))
}

func (p *markdown) lines(b *outline.Block) {
	switch b.Style {
	case outline.Paragraphs:
		for _, l := range b.Lines {
			p.part(EscapeMarkdown(l))
		}
		return
	case outline.Code:
		for _, l := range b.Lines {
			p.part(fence("yaml", l))
		}
		return
	}
	var list strings.Builder
	for i, l := range b.Lines {
		l = EscapeMarkdown(l)
		switch {
		case b.Style != outline.Answers:
			list.WriteString("- " + l + "\n")
		case i == 0:
			p.part("**" + l + "**")
		default:
			list.WriteString("- **" + l + "**\n")
		}
	}
	if list.Len() > 0 {
		p.part(list.String())
	}
}

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`, "$", `\$`,
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "&#64;", "://", "&#58;//", "www.", "www&#46;",
)

// EscapeMarkdown is a text from elsewhere that makes no markup, links or mentions in GitHub's
// dialect.
func EscapeMarkdown(s string) string { return markdownEscapes.Replace(printable.Words(s)) }

func markdownTable(t outline.Table) string {
	var b strings.Builder
	row := func(cells []string) {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	var headings, rules []string
	for _, c := range t.Columns {
		headings = append(headings, EscapeMarkdown(c.Heading()))
		rule := "---"
		if c.Number {
			rule = "---:"
		}
		rules = append(rules, rule)
	}
	row(headings)
	row(rules)
	for _, r := range t.Rows {
		escaped := make([]string, len(r.Cells))
		for i, c := range r.Cells {
			escaped[i] = EscapeMarkdown(c.Marked())
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
	return marks + language + "\n" + strings.TrimRight(printable.Text(text), "\n") + "\n" + marks
}
