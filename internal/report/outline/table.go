package outline

// Table is rows of cells under columns.
type Table struct {
	Caption string // distinguishes it from the other tables of its block
	Unit    string // of numbers under columns without a unit: the heading of the block names it
	Note    string // says which rows are left out where there is no room for all
	Columns []Column
	Rows    []Row
	// Whole: where it is too wide, it goes on below with the columns that do not fit. Otherwise
	// columns are left out, see [Column.Drop].
	Whole bool
	// Drawn: the charts of its block show the same.
	Drawn bool
	Scale *Scale // of the colours of its cells, or nil
}

// Column is the heading of a column.
type Column struct {
	Name, Unit string
	Number     bool // aligned at the right
	Head       bool // names the row
	Prose      bool // sentences, which a format without room writes below the table
	// Drop orders what a format without room leaves out: the column with the highest value goes
	// first, and 0 always stays.
	Drop int
	With bool   // left out with the column before it
	Why  string // what the heading means, for a tooltip
}

// Heading is "goodput (Mbit/s)".
func (c Column) Heading() string {
	if c.Unit == "" {
		return c.Name
	}
	return c.Name + " (" + c.Unit + ")"
}

// Row is the cells of a row, one a column.
type Row struct {
	// Name, if it is set, stands for the columns that name the row where there is no room for
	// them.
	Name  string
	Minor bool // left out where there is no room for all rows
	Cells []Cell
}

// Cell is one figure or text.
type Cell struct {
	Text  string
	Value *float64 // the figure in the unit of the column, or, where that has none, in the base unit or %. A text has none
	High  *float64 // the upper end of a range that begins at Value
	Note  string   // stands smaller behind the figure, such as its share of a limit
	Best  bool     // nothing is shown to be better
	Title string   // what the cell says in a sentence, for a tooltip
	Shade int      // its colour: 1 to [Shades], from the best figure to the worst; 0: none
}

// Marked is the text of the cell with its mark and its note, for formats without markup.
func (c Cell) Marked() string {
	out := c.Text
	if c.Best {
		out = "• " + out
	}
	if c.Note != "" {
		out += " (" + c.Note + ")"
	}
	return out
}

// Shades is how many colours cells have.
const Shades = 9

// Scale says what the first and the last colour mean.
type Scale struct{ Best, Worst string }

// NewTable returns a table with that number of rows, without columns.
func NewTable(rows int) Table { return Table{Rows: make([]Row, rows)} }

// Add adds a column of cells.
func (t *Table) Add(c Column, cell func(row int) Cell) {
	t.Columns = append(t.Columns, c)
	for i := range t.Rows {
		t.Rows[i].Cells = append(t.Rows[i].Cells, cell(i))
	}
}

// AddText adds a column of texts.
func (t *Table) AddText(c Column, text func(row int) string) {
	t.Add(c, func(row int) Cell { return Cell{Text: text(row)} })
}
