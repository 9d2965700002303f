package report

import (
	"strings"
	"unicode"
)

// clean makes a text from outside fit for one line of a terminal or a page:
// control characters, which could move a cursor or hide what follows, and
// marks that turn the writing direction become a visible replacement; runs of
// white space become one space.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), bidi(r), r == unicode.ReplacementChar:
			return unicode.ReplacementChar
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// cleanLines is clean for a text of several lines whose indentation matters.
func cleanLines(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) && r != '\r' || bidi(r)) {
			return unicode.ReplacementChar
		}
		if r == '\r' {
			return -1
		}
		return r
	}, s)
}

// bidi reports embeddings, overrides and isolates (UAX #9, explicit directional
// formatting characters).
func bidi(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }
