package text

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// BreakIn is where a line may break first in a word, which has no spaces: the length of what stays together,
// or of the whole word. That is where UAX 14 allows it next to a character of two columns, such as those of Japanese.
func BreakIn(word string) (n int) {
	for rest, state := word, -1; rest != ""; {
		var part string
		part, rest, _, state = uniseg.FirstLineSegmentInString(rest, state)
		if n += len(part); EndsWide(part) || BeginsWide(rest) {
			break
		}
	}
	return n
}

// WithoutSpaces reports whether the language has no spaces between words, so that lines break where
// [BreakIn] says. In other languages a name in Japanese stays whole.
func (c *Catalogue) WithoutSpaces() bool {
	base, _ := c.tag.Base()
	return base.String() == "ja"
}

// BeginsWide reports whether a text begins with a character of two columns.
func BeginsWide(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isWide(r)
}

// EndsWide reports whether a text ends with a character of two columns.
func EndsWide(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return isWide(r)
}

func isWide(r rune) bool { return Terminal.RuneWidth(r) > 1 }
