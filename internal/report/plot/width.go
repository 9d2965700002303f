package plot

import (
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"

	"soku/internal/printable"
)

// Widths of characters of a bold text at 12 pixels, on the safe side.
const (
	CharPixels  = 7
	upperPixels = 9.5
	broadPixels = 13.5 // such as W and those of two columns
)

func pixelsOf(r rune) float64 {
	switch {
	case (&runewidth.Condition{}).RuneWidth(r) > 1 || strings.ContainsRune("MWmw@%…", r):
		return broadPixels
	case unicode.IsUpper(r):
		return upperPixels
	}
	return CharPixels
}

// TextPixels is the width of a bold text at 12 pixels, on the safe side.
func TextPixels(s string) (sum float64) {
	for _, r := range printable.Words(s) {
		sum += pixelsOf(r)
	}
	return sum
}

// leastCut is how many characters of a text stay where there is no room.
const leastCut = 3

// Cut shortens a text with an ellipsis to about that many pixels.
func Cut(s string, pixels float64) string {
	runes := []rune(printable.Words(s))
	fits, used := 0, 0.0 // characters that fit with an ellipsis
	for i, r := range runes {
		if used += pixelsOf(r); used+broadPixels <= pixels || i < leastCut {
			fits = i + 1
		}
	}
	if used <= pixels || len(runes) <= leastCut+1 {
		return string(runes)
	}
	return string(runes[:fits]) + "…"
}
