package text

import (
	"strings"
	"unicode/utf8"
)

// Characters at which no line begins, and none ends, of the classes of UAX 14 (CL, CP, CJ, EX, IS, NS, PO, QU, SY; OP, QU)
// that Japanese messages have.
const (
	neverFirst = "、。，．・：；？！）」』］｝】〉》〕〟ーゝゞヽヾ々〜‥…ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ" + `)]},.:;!?%/"'`
	neverLast  = "（「『［｛【〈《〔〝" + `([{"'`
)

// BreakIn is where a line may break first in a word, which has no spaces: the length of what stays together,
// or of the whole word. As UAX 14 says, that is next to a character of two columns, such as those of Japanese,
// unless one of the two belongs to the other, as a full stop does.
func BreakIn(word string) int {
	before, n := utf8.DecodeRuneInString(word)
	for n < len(word) {
		after, size := utf8.DecodeRuneInString(word[n:])
		wide := isWide(before) || isWide(after)
		if wide && Terminal.RuneWidth(after) > 0 && !strings.ContainsRune(neverFirst, after) && !strings.ContainsRune(neverLast, before) {
			return n
		}
		before = after
		n += size
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
