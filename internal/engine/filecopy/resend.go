package filecopy

import (
	"errors"
	"io"
	"os"

	"soku/internal/measure"
)

// sentStage is what a source has sent of a stage on one connection, so that it can send any
// part of it again. It has the numbers and checksums of the files and reads their contents
// anew. It belongs to the goroutine that uses the link.
type sentStage struct {
	set      *Set
	stage    byte
	disk     bool  // contents are those of the files; false: from memory
	contents bool  // files are followed by contents
	from     int64 // offset of the stage on the connection
	begin    frame
	files    []uint32 // in the order in which they were sent
	sums     []byte   // of those that were sent wholly, one after the other
	sumSize  int

	// Where the last part was: number in files, offset of its frame, and the open file.
	at     int
	offset int64
	open   *os.File
	opened uint32
}

// record makes the link send the stage again, from now on, where it has to.
func (l *link) record(s *sentStage) {
	s.from = l.sent + int64(l.out.Buffered())
	s.offset = s.from + frameSize
	l.use.Lock()
	defer l.use.Unlock()
	l.oldest, l.owed, l.resend = s.from, l.sent, s.read
}

// length is how many bytes the file of an entry takes on the connection.
func (s *sentStage) length(e entry) int64 {
	if !s.contents {
		return frameSize
	}
	return frameSize + e.size + int64(s.sumSize)
}

// read fills b, or a part of it, with what was sent from an offset on.
func (s *sentStage) read(b []byte, at int64) (int, error) {
	if at < s.from+frameSize {
		return copy(b, s.begin.append(nil)[at-s.from:]), nil
	}
	if at < s.offset {
		s.at, s.offset = 0, s.from+frameSize
	}
	for ; s.at < len(s.files); s.at++ {
		e := s.set.entries[s.files[s.at]]
		n := s.length(e)
		if at < s.offset+n {
			return s.file(b, e, at-s.offset)
		}
		s.offset += n
	}
	// Frames of the ends of the stage and of the copy, which differ in their kind.
	tail := frame{kind: frameOver}.append(frame{kind: frameEnd}.append(nil))
	return copy(b, tail[at-s.offset:]), nil
}

// file fills b, or a part of it, with what follows an offset in the bytes of a file.
func (s *sentStage) file(b []byte, e entry, at int64) (int, error) {
	if at < frameSize {
		return copy(b, frame{frameFile, s.stage, e}.append(nil)[at:]), nil
	}
	if at -= frameSize; at >= e.size {
		sum := s.sums[s.at*s.sumSize:][:s.sumSize]
		return copy(b, sum[at-e.size:]), nil
	}
	b = b[:min(int64(len(b)), e.size-at)]
	if !s.disk {
		return copy(b, contents()), nil
	}
	if s.open == nil || s.opened != e.file {
		s.close()
		f, err := s.set.open(int(e.file))
		if err != nil {
			return 0, err
		}
		s.open, s.opened = f, e.file
	}
	n, err := s.open.ReadAt(b, at)
	switch {
	case n > 0:
		return n, nil
	case errors.Is(err, io.EOF):
		return 0, measure.Fail(measure.KindFile, "copy.changed", measure.Figures{"file": s.set.names[e.file]})
	}
	return 0, failFile("copy.read", s.set.names[e.file], err)
}

func (s *sentStage) close() {
	if s.open != nil {
		_ = s.open.Close()
		s.open = nil
	}
}
