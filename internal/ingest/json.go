package ingest

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"soku/internal/measure"
)

// document is one JSON value of a file and the line it begins at.
type document struct {
	raw    json.RawMessage
	offset int64
	line   int
}

// documents are the JSON values of a file one after another, as programs append
// them. The nesting is checked before anything is decoded.
func (s *Source) documents() ([]document, error) {
	s.text = s.validNumbers(s.text)
	if err := s.checkNesting(); err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(s.text))
	var out []document
	line, seen := 1, int64(0)
	for {
		var raw json.RawMessage
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, s.jsonError(0, err)
		}
		if len(out) == maxRecords {
			return nil, s.fail(s.lineAt(d.InputOffset()), "ingest.too_many.documents", measure.Figures{"limit": maxRecords})
		}
		start := d.InputOffset() - int64(len(raw))
		line += strings.Count(s.text[seen:start], "\n")
		seen = start
		out = append(out, document{raw, start, line})
	}
}

// into decodes a document; what does not fit its type is an error with its line.
func (s *Source) into(d document, v any) error {
	if err := json.Unmarshal(d.raw, v); err != nil {
		return s.jsonError(d.offset, err)
	}
	return nil
}

func (s *Source) jsonError(from int64, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return s.cutOff("ingest.cut_off.json", nil)
	case errors.As(err, &syntax):
		if strings.Contains(syntax.Error(), "unexpected end") {
			return s.cutOff("ingest.cut_off.json", nil)
		}
		return s.fail(s.lineAt(from+syntax.Offset), "ingest.syntax.json", measure.Figures{"text": short(syntax.Error())})
	case errors.As(err, &kind):
		return s.fail(s.lineAt(from+kind.Offset), "ingest.syntax.json_type", measure.Figures{"member": short(kind.Field), "type": kind.Value})
	}
	return s.fail(s.lineAt(from), "ingest.syntax.json", measure.Figures{"text": short(err.Error())})
}

// validNumbers is JSON with null in place of numbers that programs wrote and JSON does not have: undefined and
// infinite ones, which are recorded, and those whose exponent is missing. An exponent whose plus has become
// a blank gets it back.
func (s *Source) validNumbers(text string) string {
	const ends = ",]}:\" \t\n"
	var b strings.Builder
	quoted, line, copied := false, 1, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			line++
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted || strings.IndexByte(ends+"[{", c) >= 0:
		default:
			n := strings.IndexAny(text[i:], ends)
			if n < 0 {
				n = len(text) - i
			}
			word, instead := text[i:i+n], ""
			digit := c == '-' || c >= '0' && c <= '9'
			switch {
			case noNumber(word), digit && strings.HasSuffix(strings.TrimRight(strings.ToLower(word), "+-"), "e"):
				instead = "null"
				if rest := text[i+n:]; digit && len(rest) > 1 && rest[0] == ' ' && rest[1] >= '0' && rest[1] <= '9' {
					instead, n = word+"+", n+1
				} else {
					s.noteImpossible(line)
				}
			}
			if instead != "" {
				b.WriteString(text[copied:i])
				b.WriteString(instead)
				copied = i + n
			}
			i += n - 1
		}
	}
	if copied == 0 {
		return text
	}
	b.WriteString(text[copied:])
	return b.String()
}

// checkNesting bounds how deep the values of the text are nested, and how many there are of
// what takes more memory than its text once it is decoded: objects, and values of lists.
func (s *Source) checkNesting() error {
	var lists [maxNesting]bool // which of the open brackets are those of a list
	depth, objects, values, quoted, line := 0, 0, 0, false, 1
	for i := 0; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\n':
			line++
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth == maxNesting {
				return s.fail(line, "ingest.syntax.nesting", measure.Figures{"limit": maxNesting})
			}
			lists[depth] = c == '['
			depth++
			if objects++; objects > maxObjects {
				return s.fail(line, "ingest.too_many.objects", measure.Figures{"limit": maxObjects})
			}
		case c == '}' || c == ']':
			depth = max(0, depth-1)
		case c == ',' && depth > 0 && lists[depth-1]:
			if values++; values > maxObjects {
				return s.fail(line, "ingest.too_many.values", measure.Figures{"limit": maxObjects})
			}
		}
	}
	return nil
}
