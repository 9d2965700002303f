package cli

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// The figures of a study come back from a workbook as they stand in its table.
func TestAPublishedMatrixIsInAWorkbookNumberByNumber(t *testing.T) {
	store, file := ingested(t), filepath.Join(t.TempDir(), "matrix.xlsx")
	if _, errs, code := soku(t, "report", "interface-matrix", "--store", store, "-o", file, "--pivot", "instance type,interface"); code != 0 {
		t.Fatal(errs)
	}
	f, err := excelize.OpenFile(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, c := range []struct {
		sheet, table, suffix, unit string
		per                        float64 // units of the table in that of the sheet
	}{{"throughput study", "throughput", "_gbps", " (Gbit/s)", 1}, {"ping study", "ping", "_ms", " (µs)", 1e-3}} {
		rows, err := f.GetRows(c.sheet, excelize.Options{RawCellValue: true})
		if err != nil {
			t.Fatal(err)
		}
		published, err := os.Open(filepath.Join(casesDir, "interface-matrix", "interface-matrix-"+c.table+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		defer published.Close()
		want, err := csv.NewReader(published).ReadAll()
		if err != nil || len(want) != len(rows) {
			t.Fatalf("%s: %d rows of %d (%v)", c.sheet, len(rows), len(want), err)
		}
		compared := 0
		for at, column := range want[0] {
			name, ok := strings.CutSuffix(column, c.suffix)
			in := slices.IndexFunc(rows[0], func(s string) bool {
				return strings.ReplaceAll(strings.ToLower(strings.TrimSuffix(s, c.unit)), " ", "_") == name
			})
			if !ok || in < 0 || !strings.HasSuffix(rows[0][in], c.unit) {
				continue
			}
			for _, w := range want[1:] {
				row := slices.IndexFunc(rows, func(r []string) bool { return r[0] == w[0] })
				got, err := strconv.ParseFloat(rows[max(row, 0)][in], 64)
				if figure, _ := strconv.ParseFloat(w[at], 64); row < 0 || err != nil || math.Abs(got*c.per-figure) > 1e-9*figure {
					t.Errorf("%s of %s is %v (%v), published %s", column, w[0], got, err, w[at])
				}
				compared++
			}
		}
		if compared != 27 {
			t.Errorf("%s: %d figures were compared", c.sheet, compared)
		}
	}
}
