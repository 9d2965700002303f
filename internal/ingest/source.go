package ingest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"sort"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// Limits of the input.
const (
	MaxFileBytes = 64 << 20 // of one file
	maxLineBytes = 1 << 20  // of a line of text or CSV; JSON and XML may be one line
	maxLines     = 4 << 20  // of text
	maxNesting   = 64       // of JSON and XML
	maxObjects   = 500_000  // of JSON, and values of its lists: each takes far more memory than its text
	maxMembers   = 100_000  // of a JSON object whose members have names of any kind, and values of a log
	maxColumns   = 10_000   // of a table in CSV
	maxRecords   = 100_000  // results of one file
	maxStreams   = 1 << 12  // of one test of iperf 2
	maxTimed     = 1000     // results with single times, each with a histogram of 220 kB
	maxText      = 200      // characters of a name or message in a file
)

// Source is one file with its content, ready to be decoded.
type Source struct {
	Name    string      // path as given
	ModTime time.Time   // of the file; the time of a trial without one
	SHA256  string      // of the bytes as read
	text    string      // UTF-8, line ends as \n
	prefix  []strayText // what stood before every line of the file
	stray   []strayText // in the order of the file, of the last decoder
	json    bool        // documents were read
	reading int         // the line that is read; 0 before the first and after the last

	impossible []impossibleFigures // in the order of their lines
}

// impossibleFigures are the figures of a line that cannot be, such as -nan, and that results do not have.
type impossibleFigures struct{ line, count int }

// noteImpossible records that a figure in a line cannot be.
func (s *Source) noteImpossible(line int) {
	n := len(s.impossible)
	if n > 0 && (s.impossible[n-1].line == line || n == maxRecords) {
		s.impossible[n-1].count++
		return
	}
	s.impossible = append(s.impossible, impossibleFigures{line, 1})
}

// reportImpossible adds to each result a finding about its figures that cannot be.
func (s *Source) reportImpossible(results []*measure.Result) {
	of := make([]impossibleFigures, len(results))
	for _, f := range s.impossible {
		i := max(sort.Search(len(results), func(i int) bool { return results[i].Origin.Line > f.line })-1, 0)
		of[i].line = cmp.Or(of[i].line, f.line)
		of[i].count += f.count
	}
	for i, f := range of {
		if f.count > 0 {
			r := results[i]
			r.Findings.Add(finding.FiguresAbsent, "", measure.Figures{"tool": r.Origin.Tool, "count": f.count, "line": f.line})
		}
	}
}

// NewSource takes the bytes of a file. It converts UTF-16 and Shift-JIS (code page 932) to
// UTF-8. An error has kind file.
func NewSource(name string, data []byte, modified time.Time) (*Source, error) {
	sum := sha256.Sum256(data)
	s := &Source{Name: name, ModTime: modified.UTC(), SHA256: hex.EncodeToString(sum[:])}
	if len(data) > MaxFileBytes && !isBinary(data) {
		return nil, s.fail(1, "ingest.file.too_large", measure.Figures{"limit_bytes": MaxFileBytes})
	}
	text, problem := toUTF8(data)
	if problem != nil {
		return nil, located(s.Name, 1, problem).WithHintCode("ingest.text", nil)
	}
	s.text = s.withoutLinePrefix(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
	if strings.TrimSpace(s.text) == "" {
		return nil, s.fail(1, "ingest.file.empty", nil)
	}
	return s, nil
}

// fail is an error about a line of the file, counted from 1.
func (s *Source) fail(line int, code string, figures measure.Figures) *measure.Error {
	return located(s.Name, line, measure.Fail(measure.KindFile, code, figures))
}

// located is a problem with the place in a file where it is.
func located(file string, line int, problem *measure.Error) *measure.Error {
	return measure.Fail(measure.KindFile, "ingest.at", measure.Figures{"file": file, "line": max(line, 1), "cause": problem})
}

// cutOff is the error of a truncated file. A run that ends before the file does was stopped: the file is whole.
func (s *Source) cutOff(code string, figures measure.Figures) *measure.Error {
	if s.reading > 0 {
		return s.fail(s.reading, "ingest.unfinished", nil)
	}
	return s.fail(s.lastLine(), code, figures).WithHintCode("ingest.cut_off", nil)
}

// lineAt is the line of an offset into the text.
func (s *Source) lineAt(offset int64) int {
	return 1 + strings.Count(s.text[:min(max(offset, 0), int64(len(s.text)))], "\n")
}

func (s *Source) lastLine() int { return s.lineAt(int64(len(strings.TrimRight(s.text, "\n")))) }

// lines are the lines of a text format without the colours of a terminal.
func (s *Source) lines() ([]string, error) {
	if n := strings.Count(s.text, "\n"); n > maxLines {
		return nil, s.fail(maxLines, "ingest.file.lines", measure.Figures{"lines": n, "limit": maxLines})
	}
	lines := strings.Split(strings.TrimRight(s.text, "\n"), "\n")
	for i, line := range lines {
		if len(line) > maxLineBytes {
			return nil, s.fail(i+1, "ingest.file.long_line", measure.Figures{"line_bytes": len(line), "limit_bytes": maxLineBytes})
		}
		lines[i] = colours.ReplaceAllLiteralString(line, "")
	}
	return lines, nil
}

// each passes on the lines of a text format, counted from 1, until one is an error.
func (s *Source) each(read func(at int, line string) error) error {
	lines, err := s.lines()
	for i, line := range lines {
		s.reading = i + 1
		if err := read(i+1, line); err != nil {
			return err
		}
	}
	s.reading = 0
	return err
}

// openEnd reports whether the last line has no line end: if the file is cut off, it may be so
// within a figure.
func (s *Source) openEnd() bool { return !strings.HasSuffix(s.text, "\n") }

// colours are escape sequences (ECMA-48: ESC [ ... letter), the last of which may be cut off.
var colours = regexp.MustCompile("\x1b\\[[^@-~]*[@-~]?")

// toUTF8 detects the encoding of a text. Redirected output on Windows is UTF-16 from PowerShell,
// and the console's code page from cmd, 932 in Japan.
func toUTF8(data []byte) (string, *measure.Error) {
	if isBinary(data) {
		return "", measure.Fail(measure.KindFile, "ingest.file.zero_bytes", nil)
	}
	if units, order := utf16Of(data); order != nil {
		return fromUTF16(units, order)
	}
	data = bytes.TrimPrefix(data, []byte{0xef, 0xbb, 0xbf})
	if utf8.Valid(data) {
		return string(data), nil
	}
	text, err := japanese.ShiftJIS.NewDecoder().Bytes(data)
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) {
		return "", measure.Fail(measure.KindFile, "ingest.file.encoding", nil)
	}
	return string(text), nil
}

// isBinary reports whether a file has zero bytes and is not UTF-16, as pictures and captures of packets are.
func isBinary(data []byte) bool {
	_, order := utf16Of(data)
	return order == nil && bytes.IndexByte(data, 0) >= 0
}

// utf16Of is the text in UTF-16 without its byte order mark, and the byte order, or nil if it is another encoding.
func utf16Of(data []byte) (units []byte, order binary.ByteOrder) {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		return data[2:], binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return data[2:], binary.BigEndian
	case len(data) >= 4 && data[0] != 0 && data[1] == 0 && data[2] != 0 && data[3] == 0:
		return data, binary.LittleEndian
	}
	return nil, nil
}

func fromUTF16(data []byte, order binary.ByteOrder) (string, *measure.Error) {
	if len(data)%2 != 0 {
		return "", measure.Fail(measure.KindFile, "ingest.file.odd_utf16", nil)
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return string(utf16.Decode(units)), nil
}

// short limits the length of a text in a file.
func short(text string) string {
	runes := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " "))
	return string(runes[:min(len(runes), maxText)])
}

// run is the output of one start of a program while its lines are read.
type run interface {
	line(s *Source, at int, line string) error
	result(s *Source) (*measure.Result, error)
}

// runs reads the lines of a program that was started several times. begin returns a run for
// the first line of one, and nil for other lines; record counts runs from 1. Lines before the
// first run are ignored.
func (s *Source) runs(begin func(line string, at, record int) (run, error)) ([]*measure.Result, error) {
	var out []*measure.Result
	var open run
	begun := 0
	end := func() error {
		if open == nil {
			return nil
		}
		r, err := open.result(s)
		out = append(out, r)
		return err
	}
	err := s.each(func(at int, line string) error {
		next, err := begin(line, at, begun+1)
		switch {
		case err != nil:
			return err
		case next != nil:
			err = end()
			open, begun = next, begun+1
			return err
		case open != nil:
			return open.line(s, at, line)
		}
		return nil
	})
	if err == nil {
		err = end()
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}
