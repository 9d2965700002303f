package text

import (
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Terminal counts columns of a terminal. Characters whose width depends on the font's
// region count as one, whatever the locale.
var Terminal runewidth.Condition

// ColumnWidths are the columns that the cells of a table take on a terminal. The first row is the
// head; a column with only a head has width 0. Cells are printable.
func ColumnWidths(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for i, row := range rows {
		for c, cell := range row {
			if i > 0 && cell != "" {
				widths[c] = max(widths[c], Terminal.StringWidth(cell), Terminal.StringWidth(rows[0][c]))
			}
		}
	}
	return widths
}

// Aligned pads the cells of a table, whose first row is its head. The second column and
// those with the heads left begin at the left, the others end at the right. Columns with
// nothing but a head are left out. Cells are printable.
func Aligned(rows [][]string, left ...string) []string {
	widths := ColumnWidths(rows)
	var out []string
	for _, row := range rows {
		line := ""
		for c, cell := range row {
			switch {
			case widths[c] == 0:
			case c == 1 || slices.Contains(left, rows[0][c]):
				line += Terminal.FillRight(cell, widths[c]) + "  "
			default:
				line += Terminal.FillLeft(cell, widths[c]) + "  "
			}
		}
		out = append(out, strings.TrimRight(line, " "))
	}
	return out
}
