package printer

import (
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/report/outline"
	"soku/internal/text"
)

const (
	gutter    = 2
	leastName = 8 // columns a name keeps when a table is too wide
)

// grid is a table as a terminal has it: clean texts under columns.
type grid struct {
	columns []outline.Column
	rows    [][]string
}

// table writes a table below its caption, indented by two, and below it what its rows say in
// sentences.
func (p *terminal) table(t outline.Table) {
	p.wrap(indent, t.Caption)
	if slices.ContainsFunc(t.Rows, func(r outline.Row) bool { return r.Minor }) {
		p.wrap(indent, t.Note)
		t.Rows = slices.DeleteFunc(slices.Clone(t.Rows), func(r outline.Row) bool { return r.Minor })
	}
	g := gridOf(p.joined(t))
	width := p.width - len(indent)
	if t.Whole {
		for i, part := range g.split(width) {
			if i > 0 {
				p.line("")
			}
			p.grid(part)
		}
	} else {
		p.grid(g.fit(width))
	}
	for i, c := range t.Columns {
		if c.Prose {
			p.prose(t, i)
		}
	}
}

// joined returns the table with one column for those that name its rows, if the rows have a name
// for that. What the name has is written once a section.
func (p *terminal) joined(t outline.Table) outline.Table {
	if names := nameColumns(t); len(names) > 0 && len(t.Rows) > 0 && t.Rows[0].Name != "" {
		n := len(names)
		if factors := strings.Join(names, measure.LevelSeparator); factors != p.factors {
			p.factors = factors
			p.wrap(indent, p.Sentence("text.patterns", text.Args{"Factors": factors}))
		}
		out := outline.Table{Columns: slices.Concat([]outline.Column{{Name: p.Heading("column.pattern"), Head: true}}, t.Columns[n:])}
		for _, r := range t.Rows {
			out.Rows = append(out.Rows, outline.Row{Cells: slices.Concat([]outline.Cell{{Text: r.Name}}, r.Cells[n:])})
		}
		return out
	}
	return t
}

// nameColumns are the headings of the columns that name a row, if there are several.
func nameColumns(t outline.Table) (names []string) {
	for _, c := range t.Columns {
		if c.Head {
			names = append(names, c.Name)
		}
	}
	if len(names) < 2 {
		return nil
	}
	return names
}

// gridOf has all columns but those of sentences.
func gridOf(t outline.Table) grid {
	g := grid{rows: make([][]string, len(t.Rows))}
	for i, c := range t.Columns {
		if c.Prose {
			continue
		}
		g.columns = append(g.columns, c)
		for j, r := range t.Rows {
			g.rows[j] = append(g.rows[j], printable.Words(r.Cells[i].Marked()))
		}
	}
	return g
}

// prose writes a column of sentences, once if all rows have one sentence.
func (p *terminal) prose(t outline.Table, column int) {
	of := func(r outline.Row) string { return r.Cells[column].Text }
	same := !slices.ContainsFunc(t.Rows, func(r outline.Row) bool { return of(r) != of(t.Rows[0]) })
	for i, r := range t.Rows {
		switch s := of(r); {
		case s == text.Absent || same && i > 0:
		case same:
			p.wrap("    ", s)
		default:
			p.wrap("    ", p.Sentence("text.place", text.Args{"Pattern": r.Name, "Reason": s}))
		}
	}
}

// heading is the clean heading of a column.
func heading(c outline.Column) string { return printable.Words(c.Heading()) }

// needed is how many columns of the terminal a column needs.
func (g grid) needed(i int) int {
	n := columnsOf(heading(g.columns[i]))
	for _, row := range g.rows {
		n = max(n, columnsOf(row[i]))
	}
	return n
}

// split makes grids that are no wider than width, each with all columns that name the rows and
// at least one other. Of several, each has the rows with a figure in its columns.
func (g grid) split(width int) []grid {
	widths := make([]int, len(g.columns))
	named := 0 // columns that name the rows
	used := -gutter
	for i, c := range g.columns {
		widths[i] = g.needed(i)
		if c.Head {
			named = i + 1
			used += min(widths[i], max(leastName, width/3)) + gutter
		}
	}
	var out []grid
	for from := named; from < len(g.columns); {
		to, total := from, used
		for to < len(g.columns) && (to == from || total+gutter+widths[to] <= width) {
			total += gutter + widths[to]
			to++
		}
		part := grid{columns: slices.Concat(g.columns[:named], g.columns[from:to])}
		for _, row := range g.rows {
			whole := to-from == len(g.columns)-named
			if whole || slices.ContainsFunc(row[from:to], func(cell string) bool { return cell != text.Absent }) {
				part.rows = append(part.rows, slices.Concat(row[:named], row[from:to]))
			}
		}
		out = append(out, part)
		from = to
	}
	return out
}

// fit leaves out columns until the grid is no wider than width or only those remain that always
// stay.
func (g grid) fit(width int) grid {
	need := make([]int, len(g.columns))
	for i := range g.columns {
		need[i] = g.needed(i)
	}
	keep := fitting(g.columns, need, width)
	out := grid{rows: make([][]string, len(g.rows))}
	for i, c := range g.columns {
		if !keep[i] {
			continue
		}
		out.columns = append(out.columns, c)
		for j := range g.rows {
			out.rows[j] = append(out.rows[j], g.rows[j][i])
		}
	}
	return out
}

// fitting reports which columns have room in that width: those with the highest Drop go first.
// need is the width of each; names count with what they can be cut to.
func fitting(columns []outline.Column, need []int, width int) []bool {
	keep := make([]bool, len(columns))
	for i, c := range columns {
		keep[i] = true
		if !c.Number && c.Drop == 0 {
			need[i] = min(need[i], max(leastName, width/3))
		}
	}
	for {
		total, worst := -gutter, -1
		for i, c := range columns {
			if !keep[i] {
				continue
			}
			total += need[i] + gutter
			if c.Drop > 0 && (worst < 0 || c.Drop > columns[worst].Drop) {
				worst = i
			}
		}
		if total <= width || worst < 0 {
			return keep
		}
		keep[worst] = false
		for i := worst + 1; i < len(columns) && columns[i].With; i++ {
			keep[i] = false
		}
	}
}

// grid writes a grid; names are cut until it fits.
func (p *terminal) grid(g grid) {
	widths := make([]int, len(g.columns))
	for i := range g.columns {
		widths[i] = g.needed(i)
	}
	shrink(widths, g.columns, p.width-len(indent))
	write := func(cell func(i int) string) {
		line := " "
		for i, c := range g.columns {
			text := cut(cell(i), widths[i])
			pad := strings.Repeat(" ", widths[i]-columnsOf(text))
			if c.Number {
				text = pad + text
			} else {
				text += pad
			}
			line += strings.Repeat(" ", min(i, 1)*(gutter-1)+1) + text
		}
		p.line(line)
	}
	write(func(i int) string { return heading(g.columns[i]) })
	for _, row := range g.rows {
		write(func(i int) string { return row[i] })
	}
}

// shrink cuts the widest name columns until the table fits.
func shrink(widths []int, columns []outline.Column, width int) {
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
