package text

import (
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Aligned pads the cells of a table, whose first row is its head. The second column and
// those with the heads left begin at the left, the others end at the right. Columns with
// nothing but a head are left out. Widths are those of a terminal.
func Aligned(rows [][]string, left ...string) []string {
	widths := make([]int, len(rows[0]))
	for i, row := range rows {
		for c, cell := range row {
			if i > 0 && cell != "" {
				widths[c] = max(widths[c], runewidth.StringWidth(cell), runewidth.StringWidth(rows[0][c]))
			}
		}
	}
	var out []string
	for _, row := range rows {
		line := ""
		for c, cell := range row {
			switch {
			case widths[c] == 0:
			case c == 1 || slices.Contains(left, rows[0][c]):
				line += runewidth.FillRight(cell, widths[c]) + "  "
			default:
				line += runewidth.FillLeft(cell, widths[c]) + "  "
			}
		}
		out = append(out, strings.TrimRight(line, " "))
	}
	return out
}
