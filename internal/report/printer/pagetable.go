package printer

import (
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/report/outline"
)

const (
	tallNames   = 8   // columns of colours from which long names stand upright, and how long these are
	manyColumns = 12  // of colours from which cells are narrow
	longText    = 24  // columns of a terminal; a longer text of a cell may be cut, and is whole in a tooltip
	paperWidth  = 150 // of a sheet, in columns of a terminal
)

// pageTable is a table as a page has it. Screens of computers have a column for each part of a
// row's name; phones and paper have the whole name in the first.
type pageTable struct {
	outline.Table
	By    string   // ID of its heading
	Class string   // names by which the style sheet knows it
	Names []string // headings of the parts of a name, if it has parts
	cells []string // classes of the cells of each column
}

func newPageTable(key, by string, t outline.Table) pageTable {
	out := pageTable{Table: t, By: by, Class: tableClass(key, t), Names: nameColumns(t), cells: make([]string, len(t.Columns))}
	paper := out.onPaper()
	for i, c := range t.Columns {
		var classes []string
		if c.Number {
			classes = append(classes, "n")
		}
		if i > 0 && i < len(out.Names) {
			classes = append(classes, "part")
		}
		if !paper[i] {
			classes = append(classes, "screen")
		}
		out.cells[i] = strings.Join(classes, " ")
	}
	return out
}

// onPaper reports which columns a sheet has room for.
func (t pageTable) onPaper() []bool {
	need := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		need[i] = columnsOf(heading(c))
		for _, r := range t.Rows {
			need[i] = max(need[i], columnsOf(printable.Words(r.Cells[i].Text)))
		}
		if i > 0 && i < len(t.Names) {
			need[i] = -gutter // in the first
		}
	}
	if t.Whole {
		return fitting(t.Columns, need, 1<<20)
	}
	return fitting(t.Columns, need, paperWidth)
}

// WholeName is the heading of names that are in one cell.
func (t pageTable) WholeName() string { return strings.Join(t.Names, measure.LevelSeparator) }

// WholeRow is the name of a row in one cell.
func (t pageTable) WholeRow(r outline.Row) string {
	if r.Name != "" {
		return r.Name
	}
	parts := make([]string, len(t.Names))
	for i := range parts {
		parts[i] = r.Cells[i].Text
	}
	return strings.Join(parts, measure.LevelSeparator)
}

// HeadClass are the classes of a column's heading.
func (t pageTable) HeadClass(column int) string {
	class := t.cells[column]
	if column == slices.IndexFunc(t.Columns, func(c outline.Column) bool { return c.Head }) {
		class += " key"
	}
	if t.Long(t.HeadText(column)) {
		class += " long"
	}
	return strings.TrimSpace(class)
}

// HeadText is the longest text of a column's heading.
func (t pageTable) HeadText(column int) string {
	if column == 0 && len(t.Names) > 0 {
		return t.WholeName()
	}
	return t.Columns[column].Name
}

// CellClass are the classes of a cell of a column.
func (t pageTable) CellClass(column int, c outline.Cell) string {
	class := t.cells[column]
	if c.Shade > 0 {
		class += " h" + strconv.Itoa(c.Shade-1)
	}
	if t.Long(c.Text) {
		class += " long"
	}
	return strings.TrimSpace(class)
}

// Tooltip is the tooltip of a cell: what it says in a sentence, or a text that may be cut.
func (t pageTable) Tooltip(c outline.Cell) string {
	if c.Title == "" && t.Long(c.Text) {
		return c.Text
	}
	return c.Title
}

// Long reports whether a text may be cut where there is no room.
func (pageTable) Long(s string) bool { return columnsOf(printable.Words(s)) > longText }

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
