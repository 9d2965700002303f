package printer

import (
	"io"
	"strings"

	"soku/internal/printable"
	"soku/internal/report/outline"
	"soku/internal/text"
)

// MarkdownOptions are what a file of Markdown may have.
type MarkdownOptions struct {
	Plain bool // no folds: nothing but Markdown
	// Picture is the file of a picture with a name, relative to that of the Markdown. Nil: there are
	// no pictures.
	Picture func(name string) string
}

// Markdown writes an outline in GitHub's dialect, the answers of all sections first. Texts are
// escaped: they make no markup, links or mentions.
func Markdown(w io.Writer, d *outline.Document, c *text.Catalogue, o MarkdownOptions) error {
	p := &markdown{MarkdownOptions: o}
	if d.Title != "" {
		p.part("# " + EscapeMarkdown(d.Title))
	}
	if d.Subtitle != "" {
		p.part(EscapeMarkdown(d.Subtitle))
	}
	if d.DataURL != "" {
		p.part("[" + c.Sentence("page.data", nil) + "](<" + strings.NewReplacer("<", "%3C", ">", "%3E", `\`, "%5C").Replace(printable.Line(d.DataURL)) + ">)")
	}
	if d.Title != "" { // a part of another document has no head
		p.head(page{d}.Answered(), c)
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
type markdown struct {
	strings.Builder
	MarkdownOptions
	answers int // of sections, that the head has
}

// head writes the answers of all sections.
func (p *markdown) head(all []answered, c *text.Catalogue) {
	if p.answers = len(all); p.answers == 0 {
		return
	}
	p.part("## " + c.Sentence("page.answers", text.Args{"N": len(all)}))
	for _, a := range all {
		p.part("**" + EscapeMarkdown(a.Title) + ":** " + EscapeMarkdown(a.Lines[0]))
		p.list(a.Lines[1:])
	}
}

func (p *markdown) part(s string) {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
	p.WriteString(strings.TrimRight(s, "\n") + "\n")
}

func (p *markdown) block(b *outline.Block) {
	pictures := p.pictures(b)
	if len(b.Lines)+len(b.Tables)+len(pictures) == 0 {
		return
	}
	if b.Style == outline.Tags {
		p.tags(b)
		return
	}
	folded := !p.Plain && (b.Fold == outline.Closed || b.Fold == outline.Hidden)
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
	for _, picture := range pictures {
		p.part("![" + EscapeMarkdown(picture.chart.Desc) + "](" + p.Picture(picture.Name) + ")")
		p.part(EscapeMarkdown(picture.Caption))
	}
	if folded && b.Heading != "" {
		p.part("</details>")
	}
}

// pictures are those of a block, if the format has them.
func (p *markdown) pictures(b *outline.Block) []Picture {
	if p.Picture == nil {
		return nil
	}
	return picturesOf(b.Charts)
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
	case outline.Code:
		for _, l := range b.Lines {
			p.part(fence("yaml", l))
		}
	case outline.Answers:
		if p.answers != 1 { // one is in the head
			p.part("**" + EscapeMarkdown(b.Lines[0]) + "**")
			p.list(b.Lines[1:])
		}
	default:
		p.list(b.Lines)
	}
}

// list writes the items of a list, nothing if there are none.
func (p *markdown) list(items []string) {
	var list strings.Builder
	for _, item := range items {
		list.WriteString("- " + EscapeMarkdown(item) + "\n")
	}
	if len(items) > 0 {
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
