package iperf3

import (
	"fmt"
	"io"
	"io/fs"

	"soku/internal/engine"
)

// contents are those of the file that is to be sent or kept.
func (r *runner) contents() engine.Contents {
	name := r.set.File
	if name == "" {
		return engine.Contents{}
	}
	return engine.Contents{
		Source: func() (io.ReadCloser, error) {
			if err := r.waitsForNobody(); err != nil {
				return nil, err
			}
			return r.env.Open(name)
		},
		Sink: func() (io.WriteCloser, error) {
			if err := r.waitsForNobody(); err != nil {
				return nil, err
			}
			return r.env.Create(name)
		},
	}
}

// waitsForNobody refuses what may take for ever to open, to read or to write: a test
// that waits for another program cannot be ended.
func (r *runner) waitsForNobody() error {
	info, err := r.env.Stat(r.set.File)
	if err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeCharDevice == 0 {
		return fmt.Errorf("%s is no file but %s", r.set.File, info.Mode().Type())
	}
	return nil // where there is none, whoever opens it says why, or makes it
}

// fileSize is how large the file is now; false where nobody knows.
func (r *runner) fileSize() (int64, bool) {
	info, err := r.env.Stat(r.set.File)
	if err != nil {
		return 0, false
	}
	return info.Size(), true
}

// amountOfFile makes the size of the file that a client sends the amount of a test
// whose end was not asked for.
func (r *runner) amountOfFile() {
	set := r.set
	if set.File == "" || set.TimeGiven || set.Reverse || set.Bytes != 0 || set.Blocks != 0 {
		return
	}
	if size, ok := r.fileSize(); ok && size > 0 {
		set.Bytes, set.Time = size, 0
	}
}

// kept is what there is to tell of the file at the end of a test.
func (r *runner) kept() *FileEnd {
	if r.set.File == "" {
		return nil
	}
	size, ok := r.fileSize()
	if !ok {
		return nil
	}
	return &FileEnd{r.set.File, size}
}

// FileEnd is the file that streams carried, with its size in bytes.
type FileEnd struct {
	Name string
	Size int64
}

// share is how much of the file so many bytes are, percent; all of an empty one.
func (f *FileEnd) share(bytes int64) int {
	if f.Size <= 0 {
		return 100
	}
	return int(float64(bytes) / float64(f.Size) * 100)
}

// document is the file in the part of a stream.
func (f *FileEnd) document(s StreamEnd) object {
	return object{
		{"sent", s.SentBytes}, {"received", s.ReceivedBytes}, {"size", f.Size},
		{"percent_sent", f.share(s.SentBytes)}, {"percent_received", f.share(s.ReceivedBytes)}, {"filename", f.Name},
	}
}

// file prints the line below that of the sender.
func (w *textWriter) file(f *FileEnd, s StreamEnd) {
	bytes := s.ReceivedBytes
	if s.Sender {
		bytes = s.SentBytes
	}
	w.print("        Sent %ss / %ss (%d%%) of %s\n", quantity(float64(bytes), 'A'), quantity(float64(f.Size), 'A'), f.share(bytes), f.Name)
}
