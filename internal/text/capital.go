package text

import (
	"unicode"
	"unicode/utf8"
)

// Capital returns a sentence that begins with a capital letter, in scripts that have them: sentences
// may begin with a name that does not.
func Capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if !unicode.IsLower(first) {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}
