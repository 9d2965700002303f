package printer

import (
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"soku/internal/printable"
	"soku/internal/report/outline"
	"soku/internal/text"
)

const (
	defaultWidth = 80
	leastWidth   = 40
	indent       = "  "
)

// Text writes an outline in a language, without its charts, for a terminal of that many columns
// (0 for 80); wide characters count as two columns. See [outline.Table] for what is left out of a
// table that is too wide; after that names are cut.
func Text(w io.Writer, d *outline.Document, c *text.Catalogue, width int) error {
	if width <= 0 {
		width = defaultWidth
	}
	p := &terminal{width: max(width, leastWidth), Catalogue: c}
	p.wrap("", d.Title)
	p.wrap("", d.Subtitle)
	for i := range d.Sections {
		p.section(&d.Sections[i])
	}
	_, err := io.WriteString(w, p.String())
	return err
}

type terminal struct {
	strings.Builder
	*text.Catalogue
	width   int
	drawn   bool   // the last block ended with a table or a drawing
	factors string // what the names of patterns are made of, as it was written in the section
}

// room reports whether a terminal has room for the block.
func room(b *outline.Block) bool {
	return b.Place != outline.Details && len(b.Lines)+len(b.Tables) > 0
}

func (p *terminal) section(s *outline.Section) {
	if !slices.ContainsFunc(s.Blocks, func(b outline.Block) bool { return room(&b) }) {
		return
	}
	if p.Len() > 0 {
		p.line("")
	}
	p.wrap("", s.Line())
	p.drawn, p.factors = false, ""
	for i := range s.Blocks {
		if b := &s.Blocks[i]; room(b) {
			p.block(b)
		}
	}
}

func (p *terminal) block(b *outline.Block) {
	lines := indent
	if b.Heading != "" || p.drawn || len(b.Lines) == 0 {
		p.line("")
	}
	if b.Heading != "" {
		p.wrap(indent, b.Heading)
		lines += indent
	}
	for _, l := range b.Lines {
		p.wrap(lines, l)
	}
	for i, t := range b.Tables {
		if i > 0 {
			p.line("")
		}
		p.table(t)
	}
	p.drawn = len(b.Tables) > 0
}

func (p *terminal) line(s string) {
	p.WriteString(strings.TrimRight(s, " "))
	p.WriteByte('\n')
}

// wrap writes a paragraph; lines after the first are indented by two more.
func (p *terminal) wrap(indent, s string) {
	line, used := indent, columnsOf(indent)
	empty := true
	for _, part := range unbreakable(printable.Words(s), p.WithoutSpaces()) {
		word := part.text
		for {
			n := columnsOf(word)
			space := 1
			if empty || part.joined {
				space = 0
			}
			if used+space+n <= p.width {
				line, used, empty = line+strings.Repeat(" ", space)+word, used+space+n, false
				break
			}
			if empty { // longer than a line
				head := (&runewidth.Condition{}).Truncate(word, p.width-used, "")
				if head == "" || head == word {
					p.line(line + word)
					word = ""
				} else {
					p.line(line + head)
					word = word[len(head):]
				}
			} else {
				p.line(line)
			}
			line, used, empty = indent+"  ", columnsOf(indent)+2, true
			if word == "" {
				break
			}
		}
	}
	if !empty {
		p.line(line)
	}
}

// part is a part of a text that belongs on one line.
type part struct {
	text   string
	joined bool // to the part before it, without a space
}

// unbreakable are the parts of a text: words, numbers with their percent sign. In a language
// without spaces words have parts, and a number stays with its unit.
func unbreakable(s string, withoutSpaces bool) (parts []part) {
	for _, word := range strings.Fields(s) {
		at := len(word)
		if withoutSpaces {
			at = text.BreakIn(word)
		}
		if n := len(parts); n > 0 && (strings.HasPrefix(word, "%") || withoutSpaces && text.BeginsWide(word) && endsInDigit(parts[n-1].text)) {
			parts[n-1].text += " " + word[:at]
		} else {
			parts = append(parts, part{text: word[:at]})
		}
		for rest := word[at:]; rest != ""; rest = rest[at:] {
			at = text.BreakIn(rest)
			parts = append(parts, part{rest[:at], true})
		}
	}
	return parts
}

func endsInDigit(s string) bool { return s[len(s)-1] >= '0' && s[len(s)-1] <= '9' }

// columnsOf is how wide a text is on a terminal. Characters whose width depends
// on the font's region count as one, whatever the locale, so that output is the
// same everywhere.
func columnsOf(s string) int { return (&runewidth.Condition{}).StringWidth(s) }

// cut shortens a text to that number of columns.
func cut(s string, columns int) string { return (&runewidth.Condition{}).Truncate(s, columns, "…") }
