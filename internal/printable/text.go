package printable

import (
	"strings"
	"unicode/utf8"
)

// Line is a text as one line: line ends and tabs become spaces.
func Line(s string) string {
	if plain(s, "") {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '\t' && r <= '\r', r == 0x85, r == 0x2028, r == 0x2029: // as unicode.IsSpace has them
			return ' '
		case control(r):
			return utf8.RuneError
		}
		return r
	}, s) // a byte that is not UTF-8 is utf8.RuneError already
}

// Words is a text as one line with one space between words.
func Words(s string) string { return strings.Join(strings.Fields(Line(s)), " ") }

// Text is a text of several lines; those end with a line feed, also where it has the line ends
// of Windows.
func Text(s string) string {
	if plain(s, "\n\t") {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && control(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// Cut shortens a text to at most most characters, the last one an ellipsis if there were more.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == most {
			if _, size := utf8.DecodeRuneInString(s[i:]); i+size < len(s) {
				return s[:i] + "…"
			}
		}
	}
	return s
}

// plain reports whether a text has printable ASCII and the others alone.
func plain(s, others string) bool {
	for i := range len(s) {
		if (s[i] < ' ' || s[i] > '~') && strings.IndexByte(others, s[i]) < 0 {
			return false
		}
	}
	return true
}

func control(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
