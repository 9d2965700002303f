package printable

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// JSON is a JSON text with its control characters escaped (\u009b): the same values for a
// program, and harmless where a person prints it to a terminal. Package encoding/json escapes
// those below U+0020 only.
func JSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, escaped) {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if escaped(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	return out
}

// escaped: white space below U+0020 stands between values, and the rest of it is no JSON.
func escaped(r rune) bool { return r >= ' ' && control(r) }
