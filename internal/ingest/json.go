package ingest

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"soku/internal/measure"
)

// document is one JSON object of a file and the line it begins at.
type document struct {
	raw    json.RawMessage
	offset int64
	end    int64 // behind it
	line   int
	next   bool // it follows the one before with nothing between them, and is no element of a list
}

// documents are the JSON objects of a file, one after another, as programs append them, or as elements of
// lists. What stands around them is recorded as stray. The nesting is checked before anything is decoded.
func (s *Source) documents() ([]document, error) {
	j := &jsonScan{s: s, line: 1}
	s.json = true
	var out []document
	list, next := false, false
	for i := 0; i < len(s.text); {
		c := s.text[i]
		switch {
		case c == '\n':
			j.line++
			i++
		case c == ' ' || c == '\t':
			i++
		case c == '[' && strings.HasPrefix(strings.TrimLeft(s.text[i+1:], " \t\n"), "{"), list && (c == ',' || c == ']'):
			list, next = c != ']', false
			i++
		case c == '{' && objectBegins(s.text[i:]):
			if len(out) == maxRecords {
				return nil, s.fail(j.line, "ingest.too_many.documents", measure.Figures{"limit": maxRecords})
			}
			d, err := j.document(i)
			if err != nil {
				return nil, err
			}
			d.next = next
			out, next = append(out, d), !list
			i = int(d.end)
		default:
			text, _, _ := strings.Cut(s.text[i:], "\n")
			if at := documentStart(s.text[i:], len(text)); at > 0 {
				text = text[:at]
			}
			s.addStray(j.line, text, len(out))
			next = false
			i += len(text)
		}
	}
	if list {
		return nil, s.cutOff("ingest.cut_off.json", nil)
	}
	return out, nil
}

// objectBegins reports whether a text that begins with a brace goes on as an object.
func objectBegins(text string) bool {
	rest := strings.TrimLeft(text[1:], " \t\n")
	return rest == "" || rest[0] == '"' || rest[0] == '}'
}

// documentStart is where the first JSON object of a text begins, or -1 if none begins in its first bytes.
func documentStart(text string, within int) int {
	for from := 0; ; from++ {
		i := strings.IndexByte(text[from:within], '{')
		if i < 0 {
			return -1
		}
		from += i
		if strings.HasPrefix(strings.TrimLeft(text[from+1:], " \t\n"), `"`) {
			return from
		}
	}
}

// hasDocuments reports whether a file of a format has documents, and not its text: no text of the format begins before
// the first one. A document of another program may stand before its text.
func (s *Source) hasDocuments(format string, isText func(text string) bool) bool {
	at := documentStart(s.text, len(s.text))
	return at >= 0 && !isText(s.text[:at]) && (detectJSON(s.text[at:]) == format || !isText(s.text[at:]))
}

// isTextOf returns whether a text has a format, as its first part shows.
func isTextOf(format string) func(text string) bool {
	return func(text string) bool { return detectText(text[:min(len(text), sniffBytes)]) == format }
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

// validNumbers is the JSON from a line on, with null in place of numbers that programs wrote and JSON does not have: undefined and
// infinite ones, which are recorded, and those whose exponent is missing. An exponent whose plus has become
// a blank gets it back.
func (s *Source) validNumbers(text string, line int) string {
	const ends = ",]}:\" \t\n"
	var b strings.Builder
	quoted, copied := false, 0
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

// jsonScan finds the ends of objects. It bounds how deep their values are nested, and how many there are of
// what takes more memory than its text once it is decoded: objects, and values of lists.
type jsonScan struct {
	s                     *Source
	line, objects, values int
}

// document is the object that begins at i. Where another one begins at the start of a later line, the program
// was stopped while it wrote this one: the file is not cut off.
func (j *jsonScan) document(i int) (document, error) {
	begin := j.line
	end, err := j.end(i)
	if err != nil {
		return document{}, err
	}
	if end == 0 {
		if k := strings.Index(j.s.text[i:], "\n{"); k >= 0 {
			return document{}, j.s.fail(j.s.lineAt(int64(i+k+1)), "ingest.unfinished", nil)
		}
		return document{}, j.s.cutOff("ingest.cut_off.json", nil)
	}
	d := document{offset: int64(i), end: int64(end), line: begin}
	if err := json.Unmarshal([]byte(j.s.validNumbers(j.s.text[i:end], begin)), &d.raw); err != nil {
		return document{}, j.s.jsonError(d.offset, err)
	}
	return d, nil
}

// end is the end of the object that begins at i, or 0 if it does not end.
func (j *jsonScan) end(i int) (int, error) {
	var lists [maxNesting]bool // which of the open brackets are those of a list
	depth, quoted := 0, false
	for ; i < len(j.s.text); i++ {
		switch c := j.s.text[i]; {
		case c == '\n':
			j.line++
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth == maxNesting {
				return 0, j.s.fail(j.line, "ingest.syntax.nesting", measure.Figures{"limit": maxNesting})
			}
			lists[depth] = c == '['
			depth++
			if j.objects++; j.objects > maxObjects {
				return 0, j.s.fail(j.line, "ingest.too_many.objects", measure.Figures{"limit": maxObjects})
			}
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		case c == ',' && lists[depth-1]:
			if j.values++; j.values > maxObjects {
				return 0, j.s.fail(j.line, "ingest.too_many.values", measure.Figures{"limit": maxObjects})
			}
		}
	}
	return 0, nil
}
