package report

import (
	"strings"

	"soku/internal/printable"
)

// clean makes a text from outside fit for one line of a terminal or a page: without control
// characters, and with runs of white space as one space.
func clean(s string) string { return strings.Join(strings.Fields(printable.Line(s)), " ") }

// cleanLines is clean for a text of several lines whose indentation matters.
func cleanLines(s string) string { return printable.Text(s) }
