package printer

import (
	"strings"
	"testing"

	"soku/internal/report/outline"
)

// tablePage is a page of one table.
func tablePage(t *testing.T, table outline.Table) string {
	t.Helper()
	return pageOf(t, &outline.Document{Sections: []outline.Section{{ID: "s", Title: "title", Blocks: []outline.Block{{Key: "figures", Heading: "Figures", Tables: []outline.Table{table}}}}}})
}

func TestANameOfSeveralColumnsIsAlsoInOneCell(t *testing.T) {
	table := outline.Table{Columns: []outline.Column{{Name: "sku", Head: true}, {Name: "zone", Head: true}, {Name: "goodput", Number: true}}, Rows: rows([]string{"a", "1", "5"}, []string{"b", "2", "6"})}
	table.Rows[1].Name = "b in 2"
	page := tablePage(t, table)
	for _, want := range []string{
		`<span class="part">sku</span><span class="whole">sku / zone</span>`, `<th scope="col" class="part">zone</th>`,
		`<span class="part">a</span><span class="whole">a / 1</span></th><th scope="row" class="part">1</th><td class="n">5</td>`, `<span class="whole">b in 2</span>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

func TestALongTextIsWholeInItsTooltip(t *testing.T) {
	long, short := strings.Repeat("<w>", 9), strings.Repeat("s", longText)
	escaped := strings.ReplaceAll(strings.ReplaceAll(long, "<", "&lt;"), ">", "&gt;")
	page := tablePage(t, outline.Table{Columns: []outline.Column{{Name: "name", Head: true}, {Name: long}}, Rows: rows([]string{long, short})})
	for _, want := range []string{`<th scope="col" class="long" title="` + escaped + `">`, `<th scope="row" class="long" title="` + escaped + `"><span>` + escaped + `</span></th><td>` + short + `</td>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

func TestPaperLeavesOutTheLeastImportantColumnsOfAWideTable(t *testing.T) {
	for width, want := range map[int]bool{20: false, 80: true} {
		table := outline.Table{Columns: []outline.Column{{Name: "name", Head: true}, {Name: strings.Repeat("a", width), Number: true, Drop: 2}, {Name: strings.Repeat("b", width), Number: true, Drop: 1}}, Rows: rows([]string{"x", "1", "2"})}
		page := tablePage(t, table)
		if got := strings.Contains(page, `<td class="n screen">1</td><td class="n">2</td>`); got != want {
			t.Errorf("columns of %d: the first is left out: %v, want %v", width, got, want)
		}
		table.Whole = true
		if strings.Contains(tablePage(t, table), "screen\"") {
			t.Error("a column of a table that stays whole is left out")
		}
	}
}

func TestALongPageHasContents(t *testing.T) {
	d := &outline.Document{}
	for _, id := range []string{"a", "b", "c", "d"} {
		d.Sections = append(d.Sections, outline.Section{ID: id, Title: "section " + id, Blocks: []outline.Block{{Key: "t", Heading: "t", Tables: []outline.Table{{Columns: []outline.Column{{Name: "n"}}}}}}})
	}
	link := `<li><a href="#b">section b</a></li>`
	if strings.Contains(pageOf(t, d), link) {
		t.Error("a short page of four sections has contents")
	}
	table := &d.Sections[0].Blocks[0].Tables[0]
	for range 120 {
		table.Rows = append(table.Rows, outline.Row{Cells: []outline.Cell{{Text: "x"}}})
	}
	if !strings.Contains(pageOf(t, d), link) {
		t.Error("a page of 120 rows has no contents")
	}
	d.Sections[0].Blocks[0].Fold = outline.Closed
	if strings.Contains(pageOf(t, d), link) {
		t.Error("a page of which 120 rows are folded has contents")
	}
	d.Sections = append(d.Sections, outline.Section{ID: "e", Title: "section e"})
	if !strings.Contains(pageOf(t, d), link) {
		t.Error("a page of five sections has no contents")
	}
}

func TestATableAndItsChartAreAPair(t *testing.T) {
	table := outline.Table{Columns: []outline.Column{{Name: "n"}}, Rows: rows([]string{"x"})}
	block := outline.Block{Key: "curve", Heading: "Curve", Tables: []outline.Table{table}, Charts: &outline.Charts{Figures: []outline.Figure{{Charts: []outline.Chart{{ID: "c"}}}}}}
	page := func() string {
		return pageOf(t, &outline.Document{Sections: []outline.Section{{ID: "s", Title: "title", Blocks: []outline.Block{block}}}})
	}
	if !strings.Contains(page(), `<div class="pair">`) {
		t.Error("a table and a chart are no pair")
	}
	block.Charts.Panels = true
	if strings.Contains(page(), `<div class="pair">`) {
		t.Error("a table and panels are a pair")
	}
}
