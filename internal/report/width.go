package report

import (
	"github.com/mattn/go-runewidth"
)

const (
	defaultWidth = 80
	leastWidth   = 40
	gutter       = 2
	leastName    = 8 // columns a name keeps when a table is too wide
)

// columnsOf is how wide a text is on a terminal. Characters whose width depends
// on the font's region count as one, whatever the locale, so that output is the
// same everywhere.
func columnsOf(s string) int { return (&runewidth.Condition{}).StringWidth(s) }
