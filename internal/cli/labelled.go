package cli

import (
	"fmt"
	"io"
	"strings"

	"soku/internal/text"
)

// rowPrinter writes a line for a person: a name, and what it is.
type rowPrinter func(name, format string, args ...any)

const (
	nameColumns = 11 // of the names in a summary
	leastText   = 24 // columns for which it is worth while to break lines
)

// labelColumns is the width of the names in a summary, which some languages need more of.
func labelColumns(c *text.Catalogue) int {
	return max(nameColumns, terminal.StringWidth(c.Sentence("label.goodput", nil)), terminal.StringWidth(c.Sentence("label.client", nil)))
}

// terminal counts columns.
var terminal = &text.Terminal

// cells is a line of a table. A width is in columns of a terminal; a cell ends at the
// right of it, or begins at the left where it is negative.
func cells(widths []int, texts ...string) string {
	var line strings.Builder
	for i, s := range texts {
		if i > 0 {
			line.WriteByte(' ')
		}
		if widths[i] < 0 {
			s = terminal.FillRight(s, -widths[i])
		}
		line.WriteString(terminal.FillLeft(s, widths[i]))
	}
	return line.String()
}

// labelled writes rows to w, with labels of name columns. On a terminal of that many columns, a
// longer text continues below its beginning. With 0 or very few columns it stays one line.
func labelled(w io.Writer, name, columns int) rowPrinter {
	room := columns - name - 1
	return func(label, format string, args ...any) {
		for _, line := range broken(fmt.Sprintf(format, args...), room) {
			fmt.Fprintln(w, cells([]int{-name, 0}, label, line))
			label = ""
		}
	}
}

// broken is a text in lines of at most room columns, broken at spaces but those
// between a number and its unit, and between Japanese characters; what is longer
// stays whole. Without room for a few words it is one line.
func broken(text string, room int) []string {
	width := terminal.StringWidth
	if room < leastText || width(text) <= room {
		return []string{text}
	}
	var lines []string
	line, rest := "", strings.TrimRight(text, " ")
	for rest != "" {
		n := unbreakable(rest)
		if line != "" && width(line)+width(rest[:n]) > room {
			lines = append(lines, line)
			line, rest = "", strings.TrimLeft(rest, " ")
			continue
		}
		line, rest = line+rest[:n], rest[n:]
	}
	return append(lines, line)
}

// unbreakable is the length of what begins s and belongs on one line: spaces, a
// word or a part of it, and its unit where it is a number.
func unbreakable(s string) int {
	const digits = "0123456789"
	for n := 0; ; {
		n += len(s[n:]) - len(strings.TrimLeft(s[n:], " "))
		word, _, more := strings.Cut(s[n:], " ")
		part := text.BreakIn(word)
		if n += part; part < len(word) || !more || !strings.ContainsRune(digits, rune(s[n-1])) {
			return n
		}
	}
}
