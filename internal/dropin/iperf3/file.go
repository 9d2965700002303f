package iperf3

import (
	"io"
	"io/fs"

	"soku/internal/engine"
	"soku/internal/measure"
)

// contents opens the file that is sent or written.
func (r *runner) contents() engine.Contents {
	name := r.set.File
	if name == "" {
		return engine.Contents{}
	}
	return engine.Contents{
		Source: func() (io.ReadCloser, error) {
			if err := r.refuseBlockingFile(); err != nil {
				return nil, err
			}
			return r.env.Open(name)
		},
		Sink: func() (io.WriteCloser, error) {
			if err := r.refuseBlockingFile(); err != nil {
				return nil, err
			}
			return r.env.Create(name)
		},
	}
}

// refuseBlockingFile rejects files that may block forever on open, read or write, such as
// named pipes: a test that waits for another program cannot be ended.
func (r *runner) refuseBlockingFile() error {
	info, err := r.env.Stat(r.set.File)
	if err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeCharDevice == 0 {
		return fail("iperf3.option.file_type", measure.Figures{"file": r.set.File, "type": info.Mode().Type().String()})
	}
	return nil // opening a file that does not exist fails or creates it
}

// fileSize returns the file's present size, or false if it is unknown.
func (r *runner) fileSize() (int64, bool) {
	info, err := r.env.Stat(r.set.File)
	if err != nil {
		return 0, false
	}
	return info.Size(), true
}

// amountOfFile sets the amount of a test without a given end to the size of the file
// that the client sends.
func (r *runner) amountOfFile() {
	set := r.set
	if set.File == "" || set.TimeGiven || set.Reverse || set.Bytes != 0 || set.Blocks != 0 {
		return
	}
	if size, ok := r.fileSize(); ok && size > 0 {
		set.Bytes, set.Time = size, 0
	}
}

// kept is the report of the file at the end of a test.
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

// share is the share of the file that this number of bytes is, in percent; 100 for an
// empty file.
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

// file prints the line of the file below that of the sender.
func (w *textWriter) file(f *FileEnd, s StreamEnd) {
	bytes := s.ReceivedBytes
	if s.Sender {
		bytes = s.SentBytes
	}
	w.print("        Sent %ss / %ss (%d%%) of %s\n", quantity(float64(bytes), 'A'), quantity(float64(f.Size), 'A'), f.share(bytes), f.Name)
}
