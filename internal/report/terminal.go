package report

import (
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"soku/internal/printable"
	"soku/internal/text"
)

// clean makes a text from outside fit for one line of a terminal or a page: without control
// characters, and with runs of white space as one space.
func clean(s string) string { return strings.Join(strings.Fields(printable.Line(s)), " ") }

// cleanLines is clean for a text of several lines whose indentation matters.
func cleanLines(s string) string { return printable.Text(s) }

const (
	defaultWidth = 80
	leastWidth   = 40
	gutter       = 2
	leastName    = 8 // columns a name keeps when a table is too wide
)

// columnsOf is how wide a text is on a terminal. Characters whose width depends
// on the font's region count as one, whatever the locale, so that output is the
// same everywhere.
func columnsOf(s string) int { return (&runewidth.Condition{}).StringWidth(s) }

// split makes tables that are no wider than width, each with all columns that name the rows and
// at least one other. Of several, each has the rows with a figure in its columns.
func (t table) split(width int) []table {
	widths := make([]int, len(t.Columns))
	named := 0 // columns that name the rows
	used := -gutter
	for i, c := range t.Columns {
		widths[i] = columnsOf(clean(c.heading()))
		for _, row := range t.Rows {
			widths[i] = max(widths[i], columnsOf(clean(row[i])))
		}
		if c.Head {
			named = i + 1
			used += min(widths[i], max(leastName, width/3)) + gutter
		}
	}
	var out []table
	for from := named; from < len(t.Columns); {
		to, total := from, used
		for to < len(t.Columns) && (to == from || total+gutter+widths[to] <= width) {
			total += gutter + widths[to]
			to++
		}
		part := table{Columns: slices.Concat(t.Columns[:named], t.Columns[from:to])}
		for _, row := range t.Rows {
			whole := to-from == len(t.Columns)-named
			if whole || slices.ContainsFunc(row[from:to], func(cell string) bool { return cell != text.Absent }) {
				part.Rows = append(part.Rows, slices.Concat(row[:named], row[from:to]))
			}
		}
		out = append(out, part)
		from = to
	}
	return out
}

type terminal struct {
	strings.Builder
	width int
}

func (p *terminal) line(s string) {
	p.WriteString(strings.TrimRight(s, " "))
	p.WriteByte('\n')
}

// wrap writes a paragraph; lines after the first are indented by two more.
func (p *terminal) wrap(indent, s string) {
	line, used := indent, columnsOf(indent)
	empty := true
	for _, word := range unbreakable(clean(s)) {
		for {
			n := columnsOf(word)
			space := 1
			if empty {
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

// unbreakable are the parts of a text that belong on one line: words, numbers with their
// percent sign.
func unbreakable(s string) (parts []string) {
	for _, word := range strings.Fields(s) {
		if n := len(parts); n > 0 && strings.HasPrefix(word, "%") {
			parts[n-1] += " " + word
			continue
		}
		parts = append(parts, word)
	}
	return parts
}

// wide writes a table that goes on below with the columns that do not fit.
func (p *terminal) wide(t table) {
	for i, part := range t.split(p.width - 2) {
		if i > 0 {
			p.line("")
		}
		p.table(part)
	}
}

// section writes a table below its heading, or nothing if the table has no columns.
func (p *terminal) section(heading string, t table) {
	if len(t.Columns) > 0 {
		p.line("")
		p.wrap("  ", heading)
		p.table(t)
	}
}

// table writes a table indented by two.
func (p *terminal) table(t table) {
	cells, columns := fit(t, p.width-2)
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = columnsOf(c.heading())
		for _, row := range cells {
			widths[i] = max(widths[i], columnsOf(row[i]))
		}
	}
	shrink(widths, columns, p.width-2)
	write := func(row []string) {
		line := " "
		for i, text := range row {
			text = (&runewidth.Condition{}).Truncate(text, widths[i], "…")
			pad := strings.Repeat(" ", widths[i]-columnsOf(text))
			if columns[i].Number {
				text = pad + text
			} else {
				text += pad
			}
			line += strings.Repeat(" ", min(i, 1)*(gutter-1)+1) + text
		}
		p.line(line)
	}
	var headings []string
	for _, c := range columns {
		headings = append(headings, c.heading())
	}
	write(headings)
	for _, row := range cells {
		write(row)
	}
}

// fit leaves out columns, the one with the highest keep first, until the table
// is no wider than width or only those remain that always stay. Names count
// with what they can be cut to.
func fit(t table, width int) ([][]string, []column) {
	keep := make([]bool, len(t.Columns))
	for i := range keep {
		keep[i] = true
	}
	rows := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		for _, cell := range row {
			rows[i] = append(rows[i], clean(cell))
		}
	}
	need := func(i int) int {
		n := columnsOf(t.Columns[i].heading())
		for _, row := range rows {
			n = max(n, columnsOf(row[i]))
		}
		if !t.Columns[i].Number && t.Columns[i].keep == 0 {
			n = min(n, max(leastName, width/3))
		}
		return n
	}
	for {
		total, worst := -gutter, -1
		for i, c := range t.Columns {
			if !keep[i] {
				continue
			}
			total += need(i) + gutter
			if c.keep > 0 && (worst < 0 || c.keep > t.Columns[worst].keep) {
				worst = i
			}
		}
		if total <= width || worst < 0 {
			break
		}
		keep[worst] = false
	}
	var columns []column
	out := make([][]string, len(rows))
	for i, c := range t.Columns {
		if !keep[i] {
			continue
		}
		columns = append(columns, c)
		for j := range rows {
			out[j] = append(out[j], rows[j][i])
		}
	}
	return out, columns
}

// shrink cuts the widest name columns until the table fits.
func shrink(widths []int, columns []column, width int) {
	total := -gutter
	for _, n := range widths {
		total += n + gutter
	}
	for total > width {
		widest := -1
		for i, c := range columns {
			if !c.Number && widths[i] > leastName && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
		total--
	}
}
