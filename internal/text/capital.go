package text

import (
	"unicode"
	"unicode/utf8"
)

// Capital returns a sentence that begins with a capital letter, in languages that have them: sentences
// may begin with a name that does not.
func (c *Catalogue) Capital(s string) string {
	if c.WithoutSpaces() {
		return s // what is Latin in it is a name
	}
	first, size := utf8.DecodeRuneInString(s)
	if !unicode.IsLower(first) {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}
