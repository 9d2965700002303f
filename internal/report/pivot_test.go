package report

import (
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/text"
)

func TestAPivotHasEachPatternInOneCellInTheOrderOfThePlan(t *testing.T) {
	in := fourPatterns().input()
	for _, p := range fourPatterns().patterns {
		in.Patterns = append(in.Patterns, []measure.Level{{Factor: "gateway SKU", Value: p.sku}, {Factor: "zone", Value: p.zone}})
	}
	whole := build(t, in)
	r, err := whole.Pivoted("zone, gateway SKU")
	if err != nil {
		t.Fatal(err)
	}
	test := testView{&r.Tests[0], text.English()}
	table := test.pivotTable()
	var columns []string
	for _, c := range table.Columns {
		columns = append(columns, c.Name)
	}
	want := []string{"zone"}
	for _, p := range fourPatterns().patterns {
		want = append(want, p.sku)
	}
	if !slices.Equal(columns, want) || len(table.Rows) != 4 || table.Rows[0][0] != "none" || table.Rows[3][0] != "3" {
		t.Errorf("%q %q", columns, table.Rows)
	}
	for i, row := range table.Rows {
		figures := slices.DeleteFunc(slices.Clone(row[1:]), func(cell string) bool { return cell == text.Absent })
		if len(figures) != 1 || row[1+i] == text.Absent {
			t.Errorf("row %d: %q", i, row)
		}
	}
	if whole.Tests[0].pivot != nil || written(t, r.JSON) != written(t, whole.JSON) || written(t, r.CSV) != written(t, whole.CSV) {
		t.Error("a pivot changes the report that it was made of, or its documents")
	}
	for _, form := range []string{"html", "md", "txt"} {
		if got := written(t, forms(r)[form]); !strings.Contains(got, "goodput (Mbit/s) by zone and gateway SKU") {
			t.Errorf("%s has no table", form)
		}
	}
}

func TestAPivotThatIsTooWideIsSplitIntoTablesThatFit(t *testing.T) {
	wide := table{Columns: []column{{Name: "row", Head: true}, {Name: "aaaaaaaa", Number: true}, {Name: "bbbbbbbb", Number: true}, {Name: "cccccccccccccccccccccccc", Number: true}},
		Rows: [][]string{{"x", "1", "2", text.Absent}, {"y", "3", text.Absent, "4"}}}
	if parts := wide.split(60); len(parts) != 1 || len(parts[0].Rows) != 2 {
		t.Errorf("%+v", parts)
	}
	parts := wide.split(24)
	if len(parts) != 2 || len(parts[0].Columns) != 3 || len(parts[0].Rows) != 2 || len(parts[1].Columns) != 2 || !slices.Equal(parts[1].Rows[0], []string{"y", "4"}) {
		t.Errorf("%+v", parts)
	}
}
