package printer

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"

	"soku/internal/report/outline"
	"soku/internal/text"
)

// opened is the workbook of a document.
func opened(t *testing.T, d *outline.Document) *excelize.File {
	t.Helper()
	var b bytes.Buffer
	if err := XLSX(&b, d, text.English()); err != nil {
		t.Fatal(err)
	}
	f, err := excelize.OpenReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// raw is a cell as it is stored, or with shown as a reader sees it, and whether it is a number.
func raw(t *testing.T, f *excelize.File, sheet, cell string, shown bool) (value string, isNumber bool) {
	t.Helper()
	value, err := f.GetCellValue(sheet, cell, excelize.Options{RawCellValue: !shown})
	if err != nil {
		t.Fatal(err)
	}
	kind, err := f.GetCellType(sheet, cell)
	if err != nil {
		t.Fatal(err)
	}
	return value, kind == excelize.CellTypeUnset || kind == excelize.CellTypeNumber
}

func TestAWorkbookHasNumbersWithAllDigits(t *testing.T) {
	figure, low, high, share := 123.456789, 100.25, 150.5, 12.3456
	table := outline.Table{
		Columns: []outline.Column{{Name: "streams", Head: true}, {Name: "goodput", Unit: "Mbit/s", Number: true}, {Name: "range", Number: true}, {Name: "loss", Number: true}, {Name: "why"}},
		Rows: []outline.Row{
			{Cells: []outline.Cell{{Text: "16"}, {Text: "123.5", Value: &figure}, {Text: "100.2 to 150.5", Value: &low, High: &high}, {Text: "12.3 %", Value: &share}, {Text: "007"}}},
			{Cells: []outline.Cell{{Text: "0x10"}, {Text: text.Absent}, {Text: text.Absent}, {Text: text.Absent}, {Text: text.Absent}}, Minor: true},
		},
	}
	f := opened(t, &outline.Document{Title: "title", Sections: []outline.Section{{Title: "tcp", Blocks: []outline.Block{
		{Lines: []string{"answer", "more"}, Style: outline.Answers}, {Key: "figures", Heading: "Figures", Tables: []outline.Table{table, table}},
	}}}})
	if got := f.GetSheetList(); !slices.Equal(got, []string{"Answers", "tcp figures", "tcp figures 2"}) {
		t.Errorf("sheets %q", got)
	}
	for cell, want := range map[string]string{
		"A1": "streams", "B1": "goodput (Mbit/s)", "C1": "range, from", "D1": "range, to", "E1": "loss", "A2": "16 n", "B2": "123.456789 n", "C2": "100.25 n", "D2": "150.5 n", "E2": "12.3456 n",
		"F2": "007", "A3": "0x10", "B3": " n", "C3": " n", "D3": " n", "E3": " n",
	} {
		value, isNumber := raw(t, f, "tcp figures", cell, false)
		if isNumber {
			value += " n"
		}
		if value != want {
			t.Errorf("%s is %q, want %q", cell, value, want)
		}
	}
	for cell, want := range map[string]string{"B2": "123.5", "C2": "100.3", "D2": "150.5", "E2": "12.3 %"} {
		if got, _ := raw(t, f, "tcp figures", cell, true); got != want {
			t.Errorf("%s is shown as %q, want %q", cell, got, want)
		}
	}
	if panes, err := f.GetPanes("tcp figures"); err != nil || !panes.Freeze || panes.YSplit != 1 {
		t.Errorf("panes %+v %v", panes, err)
	}
	if got, _ := raw(t, f, "Answers", "A4", false); got != "answer" {
		t.Errorf("the answer is %q", got)
	}
}

func TestTextsOfAWorkbookAreNoFormulas(t *testing.T) {
	for _, evil := range []string{"=1+2", "+1", "-1+1|cmd", "@SUM(A1)", "a\x1b[31m\nb", "\u202eright", "<t>&\"", strings.Repeat("名", 300), "it's [a]: b/c?*\\"} {
		f := opened(t, document(evil))
		sheets := f.GetSheetList()
		if len(sheets) != 3 {
			t.Fatalf("%q: sheets %q", evil, sheets)
		}
		for _, sheet := range sheets {
			rows, err := f.GetRows(sheet)
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			for i, row := range rows {
				for j, value := range row {
					cell, _ := excelize.CoordinatesToCellName(j+1, i+1)
					formula, err := f.GetCellFormula(sheet, cell)
					if _, isNumber := raw(t, f, sheet, cell, false); formula != "" || err != nil || value != "" && isNumber {
						t.Errorf("%q: %s of %q is %q, formula %q", evil, cell, sheet, value, formula)
					}
					if strings.ContainsAny(value, "\x1b\u202e") {
						t.Errorf("%q: %s has control characters: %q", evil, cell, value)
					}
					if value != "" {
						found++
					}
				}
			}
			if found < 3 {
				t.Errorf("%q: %d cells on %q", evil, found, sheet)
			}
		}
	}
}

// Names of sheets are unique whatever their case.
func TestNamesOfSheetsAreUnique(t *testing.T) {
	table := outline.Table{Columns: []outline.Column{{Name: "a"}}}
	var d outline.Document
	for _, title := range []string{"answers", "", strings.Repeat("x", 40), strings.Repeat("x", 41), "'", "History", strings.Repeat("😀", 40)} {
		d.Sections = append(d.Sections, outline.Section{Title: title, Blocks: []outline.Block{{Key: "k", Tables: []outline.Table{table, table}}}})
	}
	seen := map[string]bool{}
	for _, name := range opened(t, &d).GetSheetList() {
		if key := strings.ToLower(name); seen[key] || len(utf16.Encode([]rune(name))) > sheetName || strings.Contains(name, "\uFFFD") {
			t.Errorf("sheet %q", name)
		} else {
			seen[key] = true
		}
	}
	if len(seen) != 15 {
		t.Errorf("%d sheets", len(seen))
	}
}
