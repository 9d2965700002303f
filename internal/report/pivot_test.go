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
	columns, rows := headings(table), texts(table)
	want := []string{"zone"}
	for _, p := range fourPatterns().patterns {
		want = append(want, p.sku)
	}
	if !slices.Equal(columns, want) || len(rows) != 4 || rows[0][0] != "none" || rows[3][0] != "3" {
		t.Errorf("%q %q", columns, rows)
	}
	for i, row := range rows {
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
