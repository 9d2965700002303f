package printer

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"

	"soku/internal/printable"
	"soku/internal/report/outline"
	"soku/internal/text"
)

const (
	sheetName   = 31 // UTF-16 code units that the name of a sheet may have
	mostInCell  = 32767
	widestSheet = 60 // characters of a column's width
)

// XLSX writes an outline as a workbook in a language: the sentences on the first sheet, and a sheet
// for each table, with its heading in the first row, which stays in view. Figures are numbers with
// all their digits, shown with those of the table; a range has two columns. Texts from elsewhere
// are texts, never formulas.
func XLSX(w io.Writer, d *outline.Document, c *text.Catalogue) error {
	b := &workbook{File: excelize.NewFile(), Catalogue: c, formats: map[string]int{}, names: map[string]bool{}}
	defer func() { _ = b.Close() }() // nothing of it is on the disk
	bold, err := b.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	if err != nil {
		return err
	}
	b.bold = bold
	if err := b.sentences(d); err != nil {
		return err
	}
	for i := range d.Sections {
		if err := b.section(&d.Sections[i]); err != nil {
			return err
		}
	}
	_, err = b.WriteTo(w)
	return err
}

// workbook is a file with the sheets that were written.
type workbook struct {
	*excelize.File
	*text.Catalogue
	bold    int
	formats map[string]int  // styles of numbers
	names   map[string]bool // of sheets, in lower case
}

// sheet adds a sheet whose name is as near to the wanted one as the format allows, and unique.
func (b *workbook) sheet(want string) (string, error) {
	clean := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`:\/?*[]'`, r) {
			return ' '
		}
		return r
	}, want)
	clean = printable.Words(clean)
	if clean == "" {
		clean = "-"
	}
	for i := 1; ; i++ {
		name, suffix := clean, ""
		if i > 1 {
			suffix = " " + strconv.Itoa(i)
		}
		if units := utf16.Encode([]rune(name)); len(units) > sheetName-len(suffix) {
			name = strings.TrimSuffix(string(utf16.Decode(units[:sheetName-len(suffix)])), "\uFFFD") // half a character
		}
		name = strings.TrimSpace(name) + suffix
		if key := strings.ToLower(name); !b.names[key] {
			first := len(b.names) == 0
			b.names[key] = true
			if first { // the file comes with one
				return name, b.SetSheetName(b.GetSheetName(0), name)
			}
			_, err := b.NewSheet(name)
			return name, err
		}
	}
}

// text sets a cell to a text.
func (b *workbook) text(sheet string, column, row int, s string) error {
	at, err := excelize.CoordinatesToCellName(column, row)
	if err != nil {
		return err
	}
	return b.SetCellStr(sheet, at, printable.Cut(printable.Text(s), mostInCell))
}

// sentences writes the first sheet.
func (b *workbook) sentences(d *outline.Document) error {
	sheet, err := b.sheet(b.Sentence("page.answers", text.Args{"N": 2})) // one name, by which programs find it
	if err != nil {
		return err
	}
	row := 0
	line := func(s string, heading bool) {
		if s == "" || err != nil {
			return
		}
		row++
		if err = b.text(sheet, 1, row, s); err == nil && heading {
			err = b.SetCellStyle(sheet, fmt.Sprintf("A%d", row), fmt.Sprintf("A%d", row), b.bold)
		}
	}
	line(d.Title, true)
	line(d.Subtitle, false)
	for i := range d.Sections {
		s := &d.Sections[i]
		row++
		line(s.Line(), true)
		for _, block := range s.Blocks {
			if len(block.Lines) > 0 {
				line(block.Heading, true)
			}
			for _, l := range block.Lines {
				line(l, false)
			}
		}
	}
	if err != nil {
		return err
	}
	return b.SetColWidth(sheet, "A", "A", 2*widestSheet)
}

func (b *workbook) section(s *outline.Section) error {
	for _, block := range s.Blocks {
		for _, t := range block.Tables {
			if err := b.table(s.Title+" "+block.Key, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// table writes a table to a sheet of its own.
func (b *workbook) table(name string, t outline.Table) error {
	sheet, err := b.sheet(name)
	if err != nil {
		return err
	}
	at := 0
	for i, c := range t.Columns {
		cells := make([]outline.Cell, len(t.Rows))
		ends := false
		for j, r := range t.Rows {
			cells[j] = r.Cells[i]
			ends = ends || cells[j].High != nil
		}
		if c.Number && c.Unit == "" {
			c.Unit = t.Unit
		}
		heading := c.Heading()
		at++
		if ends {
			if err := b.column(sheet, at, b.Sentence("sheet.low", text.Args{"Heading": heading}), c, cells); err != nil {
				return err
			}
			for j := range cells {
				cells[j] = outline.Cell{Text: highText(cells[j]), Value: cells[j].High}
			}
			at++
			heading = b.Sentence("sheet.high", text.Args{"Heading": heading})
		}
		if err := b.column(sheet, at, heading, c, cells); err != nil {
			return err
		}
	}
	last, err := excelize.CoordinatesToCellName(max(at, 1), 1)
	if err == nil {
		err = b.SetCellStyle(sheet, "A1", last, b.bold)
	}
	if err == nil {
		err = b.SetPanes(sheet, &excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"})
	}
	return err
}

// highText is the text of the upper end of a range, for its decimals, or the dash of none.
func highText(c outline.Cell) string {
	if c.High == nil {
		return c.Text
	}
	numbers := number.FindAllString(c.Text, -1)
	if len(numbers) == 0 {
		return ""
	}
	return numbers[len(numbers)-1]
}

var (
	number = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)?`)
	level  = regexp.MustCompile(`^(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,9})?$`)
)

// column writes a column of a sheet.
func (b *workbook) column(sheet string, at int, heading string, c outline.Column, cells []outline.Cell) error {
	if err := b.text(sheet, at, 1, printable.Words(heading)); err != nil {
		return err
	}
	widest := columnsOf(heading)
	for j, cell := range cells {
		widest = max(widest, columnsOf(cell.Text))
		name, err := excelize.CoordinatesToCellName(at, j+2)
		if err != nil {
			return err
		}
		v := cell.Value
		if level.MatchString(cell.Text) && (c.Head || c.Number) && v == nil { // such as 16 streams
			if f, err := strconv.ParseFloat(cell.Text, 64); err == nil {
				v = &f
			}
		}
		switch {
		case v != nil:
			err = b.figure(sheet, name, *v, cell.Text)
		case cell.Text != text.Absent && cell.Text != "":
			err = b.text(sheet, at, j+2, printable.Words(cell.Text))
		}
		if err != nil {
			return err
		}
	}
	name, err := excelize.ColumnNumberToName(at)
	if err != nil {
		return err
	}
	return b.SetColWidth(sheet, name, name, float64(min(widest, widestSheet)+2))
}

// figure sets a cell to a number that is shown with as many decimals as the text has, and in
// percent if it is.
func (b *workbook) figure(sheet, cell string, v float64, shown string) error {
	if err := b.SetCellFloat(sheet, cell, v, -1, 64); err != nil {
		return err
	}
	format := "0"
	if _, decimals, ok := strings.Cut(number.FindString(shown), "."); ok {
		format += "." + strings.Repeat("0", len(decimals))
	}
	if strings.HasSuffix(shown, " %") {
		format += `" %"`
	}
	style, ok := b.formats[format]
	if !ok {
		var err error
		if style, err = b.NewStyle(&excelize.Style{CustomNumFmt: &format}); err != nil {
			return err
		}
		b.formats[format] = style
	}
	return b.SetCellStyle(sheet, cell, cell, style)
}
