package filecopy

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"sync/atomic"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/pace"
)

// Set is the files that a copy reads. Close it when the copy has ended.
type Set struct {
	root    *os.Root
	names   []string // below root, with slashes, or nil for files from memory
	entries []entry
	dirs    int
	bytes   int64
	skipped int64
	private *private // that holds the files, if they were made for the copy
	free    func()   // gives back the room of these files; may be nil
}

// filesMost bounds the files of a set: their list takes memory at either end.
const filesMost = 1_000_000

// scan lists the regular files of a folder and below. Links are not followed. It fails with the
// kinds usage, permission or broken.
func scan(ctx context.Context, folder string) (*Set, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, failFile("copy.folder", folder, err)
	}
	s := &Set{root: root}
	dirs := map[string]uint32{}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return failFile("copy.scan", path.Join(folder, name), err)
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			s.skipped++
			return nil
		case len(s.entries) == filesMost:
			return measure.Fail(measure.KindUsage, "copy.too_many_files", measure.Figures{"folder": folder, "most": filesMost})
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			return nil
		} else if err != nil {
			return failFile("copy.scan", path.Join(folder, name), err)
		}
		if info.Size() > bytesMost-s.bytes {
			return measure.Fail(measure.KindUsage, "copy.bytes", measure.Figures{"most_bytes": int64(bytesMost)})
		}
		dir, known := dirs[path.Dir(name)]
		if !known {
			dir = uint32(len(dirs))
			dirs[path.Dir(name)] = dir
		}
		s.add(name, entry{dir, uint32(len(s.entries)), info.Size()})
		return nil
	})
	s.dirs = len(dirs)
	if err == nil && len(s.entries) == 0 {
		err = measure.Fail(measure.KindUsage, "copy.empty_folder", measure.Figures{"folder": folder})
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return s, nil
}

func (s *Set) add(name string, e entry) {
	s.names = append(s.names, name)
	s.entries = append(s.entries, e)
	s.bytes += e.size
}

// filesADir is how many generated files a directory has at most.
const filesADir = 1000

// uniform are n files of one size, for which no files exist.
func uniform(n int, size int64) *Set {
	s := &Set{entries: make([]entry, n), dirs: (n + filesADir - 1) / filesADir, bytes: int64(n) * size}
	for i := range s.entries {
		s.entries[i] = entry{uint32(i / filesADir), uint32(i), size}
	}
	return s
}

// Close removes what was made for the copy.
func (s *Set) Close() {
	if s.root != nil {
		_ = s.root.Close()
	}
	if s.private != nil {
		s.private.Close()
	}
	if s.free != nil {
		s.free()
	}
}

// open opens a file for reading, which must have the size that it had. It follows no link in
// place of the file and waits for no writer of a pipe.
func (s *Set) open(i int) (*os.File, error) {
	f, err := s.root.OpenFile(s.names[i], os.O_RDONLY|openSafely, 0)
	if err != nil {
		return nil, failFile("copy.read", s.names[i], err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() != s.entries[i].size {
		_ = f.Close()
		return nil, measure.Fail(measure.KindFile, "copy.changed", measure.Figures{"file": s.names[i]})
	}
	return f, nil
}

// reading is a stage's reading of a set. Its streams take the files in turn. The loops that use
// the blocks count the files.
type reading struct {
	set    *Set
	next   atomic.Int64
	disk   bool // read files; false: contents from memory
	direct bool
	hash   hasher
	limit  *pace.Budget // of contents from memory; nil: no limit
	work   *work
}

// take returns a file that no stream has yet; more is false if there is none.
func (r *reading) take() (i int, more bool) {
	i = int(r.next.Add(1)) - 1
	return i, i < len(r.set.entries)
}

// fillTaken is fill with files that no stream has yet.
func (r *reading) fillTaken(b *blocks) error { return r.fill(b, r.take) }

// fill is the loop of one stream that reads the files of next.
func (r *reading) fill(b *blocks, next func() (i int, more bool)) error {
	hash := r.hash.make()
	for b.ctx.Err() == nil {
		i, more := next()
		if !more {
			return nil
		}
		var err error
		if r.disk {
			err = r.file(b, i, hash)
		} else {
			fromMemory(b, r.set.entries[i], r.limit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file passes on the contents of a file.
func (r *reading) file(b *blocks, i int, hash *sum) error {
	e, watch := r.set.entries[i], startWatch()
	f, err := r.set.open(i)
	if err != nil {
		return err
	}
	defer f.Close()
	if r.direct {
		if err := setDirect(f, true); err != nil {
			return failFile("copy.direct", r.set.names[i], err)
		}
	}
	watch.lap(&r.work.file)
	hash.reset()
	for left, first := e.size, true; first || left > 0; first = false {
		x := b.get()
		if x == nil {
			return nil
		}
		watch = startWatch()
		n, err := io.ReadFull(f, x.buf[:readLength(left, len(x.buf), r.direct)])
		if int64(n) < min(left, int64(len(x.buf))) {
			if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return measure.Fail(measure.KindFile, "copy.changed", measure.Figures{"file": r.set.names[i]})
			}
			return failFile("copy.read", r.set.names[i], err)
		}
		watch.lap(&r.work.read)
		n = int(min(int64(n), left)) // direct reads go on to the end of the last block
		x.file, x.first, x.data = e, first, x.buf[:n]
		if hash.counts() {
			hash.write(x.data)
			watch.lap(&r.work.hash)
		}
		left -= int64(n)
		r.work.fileBytes.Add(int64(n))
		if x.last, x.sum = left == 0, nil; x.last {
			x.sum = hash.sum()
			watch = startWatch()
			_ = f.Close()
			watch.lap(&r.work.file)
		}
		b.put(x)
	}
	return nil
}

// readLength is how much of a buffer a read may fill: what is left of the file, rounded up
// for direct I/O.
func readLength(left int64, buffer int, direct bool) int {
	if direct {
		left = (left + alignment - 1) / alignment * alignment
	}
	return int(min(left, int64(buffer)))
}

// fromMemory passes on contents as long as those of e that come from no file, within the limit,
// which may be nil.
func fromMemory(b *blocks, e entry, limit *pace.Budget) {
	content, piece := contents(), b.size
	if limit != nil {
		piece = min(piece, max(alignment, limit.Piece(1)/alignment*alignment))
	}
	for left, first := e.size, true; first || left > 0; first = false {
		x := b.get()
		if x == nil {
			return
		}
		n := int(min(left, int64(piece)))
		shift := int(e.file) % shifts * alignment
		x.file, x.first, x.data, x.sum = e, first, content[shift:shift+n:shift+n], nil
		left -= int64(n)
		x.last = left == 0
		b.put(x)
		if limit == nil {
			continue
		}
		if wait := limit.Spend(int64(n)); wait > 0 && !sock.Pause(b.ctx, wait) {
			return
		}
	}
}
