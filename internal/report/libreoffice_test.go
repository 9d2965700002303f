package report

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"soku/test/tier"
)

// savedByLibreOffice is a workbook that LibreOffice opened and saved; without LibreOffice the test is skipped.
func savedByLibreOffice(t *testing.T, file string) string {
	t.Helper()
	tier.WatchesTheClock(t) // an office is slow enough without a race detector
	program, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip("no LibreOffice on this machine: workbooks are not opened")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	saved := t.TempDir()
	convert := exec.CommandContext(ctx, program, "-env:UserInstallation=file://"+t.TempDir(), "--headless", "--convert-to", "xlsx", "--outdir", saved, file)
	if out, err := convert.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(saved, filepath.Base(file))
}

// cellsOf are the raw values of a workbook by sheet.
func cellsOf(t *testing.T, file string) ([]string, map[string][][]string) {
	t.Helper()
	f, err := excelize.OpenFile(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sheets := map[string][][]string{}
	for _, name := range f.GetSheetList() {
		if sheets[name], err = f.GetRows(name, excelize.Options{RawCellValue: true}); err != nil {
			t.Fatal(err)
		}
	}
	return f.GetSheetList(), sheets
}

// sameCell reports whether two raw values are the same text, or the same number to the 15 digits that
// spreadsheets keep.
func sameCell(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil {
		return a == b
	}
	return math.Abs(x-y) <= 1e-14*math.Abs(x)
}

func TestLibreOfficeReadsAWorkbookAsItWasWritten(t *testing.T) {
	const formula = `=HYPERLINK("http://evil.example")`
	evil := fourPatterns().input()
	for _, r := range evil.Results {
		r.Path.Client.Name = formula
	}
	for name, r := range map[string]*Report{"a campaign": build(t, evil), "factors": build(t, tunnels(6).input()), "hostile": hostile(t, formula)} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "report.xlsx")
			if err := os.WriteFile(file, []byte(written(t, inEnglish(r.XLSX))), 0o600); err != nil {
				t.Fatal(err)
			}
			names, want := cellsOf(t, file)
			saved, got := cellsOf(t, savedByLibreOffice(t, file))
			if len(saved) != len(names) {
				t.Fatalf("sheets %q, written %q", saved, names)
			}
			numbers := 0
			for i, sheet := range names {
				if len(got[saved[i]]) != len(want[sheet]) {
					t.Errorf("%s: %d rows, %d written", sheet, len(got[saved[i]]), len(want[sheet]))
					continue
				}
				for y, row := range want[sheet] {
					for x, cell := range row {
						back := ""
						if x < len(got[saved[i]][y]) {
							back = got[saved[i]][y][x]
						}
						if !sameCell(cell, back) {
							t.Errorf("%s, row %d, column %d: %q, written %q", sheet, y+1, x+1, back, cell)
						}
						if _, err := strconv.ParseFloat(cell, 64); err == nil {
							numbers++
						}
					}
				}
			}
			if numbers < 8 {
				t.Errorf("%d numbers were compared", numbers)
			}
		})
	}
}
