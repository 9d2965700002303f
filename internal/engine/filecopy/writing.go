package filecopy

import (
	"os"
	"strconv"
	"sync"

	"soku/internal/measure"
)

// writing is a stage's writing of files into a private folder. Its streams share it; use is
// that of one stream.
type writing struct {
	root   *os.Root // of the stage
	sync   string   // off, end or file
	direct bool
	early  int64 // after how many bytes of a file their flushing begins; 0: at the end
	work   *work

	mu   sync.Mutex
	dirs map[uint32]bool // made
}

// newWriting makes a folder for a stage in p.
func newWriting(p *private, name, sync string, direct bool, w *work) (*writing, error) {
	if err := p.root.Mkdir(name, 0o700); err != nil {
		return nil, failFile("copy.write", name, err)
	}
	root, err := p.root.OpenRoot(name)
	if err != nil {
		return nil, failFile("copy.write", name, err)
	}
	return &writing{root: root, sync: sync, direct: direct, work: w, dirs: map[uint32]bool{}}, nil
}

// nameOf is the name of a copied file: numbers only, whatever the source's name is.
func nameOf(e entry) string {
	return strconv.FormatUint(uint64(e.dir), 10) + "/" + strconv.FormatUint(uint64(e.file), 10)
}

// directory makes the directory of a file, once.
func (d *writing) directory(n uint32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dirs[n] {
		return nil
	}
	d.dirs[n] = true
	return d.root.Mkdir(strconv.FormatUint(uint64(n), 10), 0o700)
}

// stream is the writing of one stream: it has one file open at a time.
type stream struct {
	d *writing
	f *os.File
	// Of the open file: bytes that are written, and those of them whose flushing has begun.
	written, begun int64
	flushing       flushing
}

// flushEvery is after how many bytes of a file that comes over a network the system is told to
// begin to flush them, if they are to be flushed at the end: the disk then works during the
// transfer, and the flush at the end has less left. flushEveryLocal applies if another file is
// read, which is faster: with shorter pieces some copies took three times as long. Shorter files
// are left to the system, which joins them.
const flushEvery, flushEveryLocal = 8 << 20, 64 << 20

// write writes a block to its file, which the first one creates and the last one closes.
func (s *stream) write(x *block) error {
	if x.cut {
		return s.remove(x)
	}
	w, watch := s.d.work, startWatch()
	if x.first {
		if err := s.create(x.file); err != nil {
			return err
		}
		watch.lap(&w.file)
	}
	if err := s.data(x.data); err != nil {
		return failFile("copy.write", nameOf(x.file), err)
	}
	s.beginFlush(len(x.data))
	watch.lap(&w.write)
	w.fileBytes.Add(int64(len(x.data)))
	w.done.Add(int64(len(x.data)))
	if !x.last {
		return nil
	}
	if s.d.sync == "file" || s.d.sync == "end" && !canSyncAll {
		if err := s.f.Sync(); err != nil {
			return failFile("copy.write", nameOf(x.file), err)
		}
		watch.lap(&w.sync)
	}
	if s.begun > 0 {
		s.flushing.wait()
		watch.lap(&w.sync)
	}
	err := s.f.Close()
	s.f = nil
	watch.lap(&w.file)
	if err != nil {
		return failFile("copy.write", nameOf(x.file), err)
	}
	w.files.Add(1)
	return nil
}

// remove removes the part of a file that was written before the connection was cut.
func (s *stream) remove(x *block) error {
	if x.first {
		return nil
	}
	s.flushing.wait()
	s.d.work.done.Add(-x.before)
	err := s.f.Close()
	s.f = nil
	if err == nil {
		err = s.d.root.Remove(nameOf(x.file))
	}
	if err != nil {
		return failFile("copy.write", nameOf(x.file), err)
	}
	return nil
}

func (s *stream) create(e entry) error {
	if err := s.d.directory(e.dir); err != nil {
		return failFile("copy.write", nameOf(e), err)
	}
	f, err := s.d.root.OpenFile(nameOf(e), os.O_WRONLY|os.O_CREATE|os.O_EXCL|openSafely, 0o600)
	if err != nil {
		return failFile("copy.write", nameOf(e), err)
	}
	s.f, s.written, s.begun = f, 0, 0
	if s.d.direct {
		if err := setDirect(f, true); err != nil {
			return failFile("copy.direct", nameOf(e), err)
		}
	}
	return nil
}

// data writes to the open file. The end of a file that is no multiple of the block of direct
// I/O goes through the page cache.
func (s *stream) data(b []byte) error {
	whole := len(b)
	if s.d.direct {
		whole = len(b) / alignment * alignment
	}
	if whole > 0 {
		if _, err := s.f.Write(b[:whole]); err != nil {
			return err
		}
	}
	if whole == len(b) {
		return nil
	}
	if err := setDirect(s.f, false); err != nil {
		return err
	}
	_, err := s.f.Write(b[whole:])
	return err
}

// beginFlush makes the system begin to flush what is written, n bytes more than before.
func (s *stream) beginFlush(n int) {
	s.written += int64(n)
	if s.d.early == 0 || s.d.sync != "end" || s.d.direct || s.written-s.begun < s.d.early {
		return
	}
	f, from, amount := s.f, s.begun, s.written-s.begun
	// It is only a hint: the flush at the end reports errors.
	if s.flushing.begin(func() { _ = beginFlush(f, from, amount) }) {
		s.begun = s.written
	}
}

// remove removes what the stage wrote, so that the next one has its room.
func (d *writing) remove(p *private, name string) {
	_ = d.root.Close()
	_ = p.root.RemoveAll(name) // closing p tries again
}

// close closes what a stage that failed left open.
func (s *stream) close() {
	s.flushing.wait()
	if s.f != nil {
		_ = s.f.Close()
	}
}

// flush waits until everything is on the device, if that was asked for.
func (d *writing) flush() error {
	if d.sync != "end" {
		return nil
	}
	watch := startWatch()
	defer watch.lap(&d.work.sync)
	if _, err := syncAll(d.root); err != nil {
		return measure.Fail(measure.KindBroken, "copy.sync", measure.Figures{"cause": err}).WithCause(err)
	}
	return nil
}
