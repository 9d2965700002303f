package printable

import (
	"bytes"
	"io"
	"sync"
	"unicode/utf8"
)

// Writer removes control characters from all text and writes the rest to another writer. It
// is safe for concurrent use.
type Writer struct {
	to io.Writer

	mu   sync.Mutex
	rest []byte // beginning of a character whose other bytes come with the next Write
	err  error  // of the first Write that failed
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Write implements io.Writer. A character may be split between two calls.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := p
	if len(w.rest) > 0 {
		text = append(w.rest, p...)
		w.rest = nil
	}
	if n := unfinished(text); n > 0 {
		w.rest = bytes.Clone(text[len(text)-n:])
		text = text[:len(text)-n]
	}
	if _, err := w.to.Write([]byte(Text(string(text)))); err != nil {
		if w.err == nil {
			w.err = err
		}
		return 0, err
	}
	return len(p), nil
}

// Err returns the error of the first Write that failed, or nil.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// unfinished is how many bytes at the end of a text begin a character.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if c := text[len(text)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// Unfiltered is the writer behind a Writer, or w: for what another program writes to the
// terminal that it was started on, and for documents that a program reads.
func Unfiltered(w io.Writer) io.Writer {
	if f, ok := w.(*Writer); ok {
		return f.to
	}
	return w
}

// Sequence is a control sequence that the program itself writes to a terminal.
type Sequence string

// Draw writes texts and sequences of the program with one call. The texts are filtered, also if
// w is no Writer.
func Draw(w io.Writer, parts ...any) {
	var b bytes.Buffer
	for _, part := range parts {
		switch part := part.(type) {
		case Sequence:
			b.WriteString(string(part))
		case string:
			b.WriteString(Text(part))
		}
	}
	_, _ = Unfiltered(w).Write(b.Bytes()) // a terminal that is gone is no reason to end a test
}
