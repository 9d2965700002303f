package filecopy

import (
	"context"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock/pace"
)

// generate makes the files to copy in a private folder in folder, and flushes them. Errors
// are of kind usage, refused, permission or broken.
func generate(ctx context.Context, folder string, n int, size int64) (*Set, error) {
	p, err := openPrivate(folder)
	if err != nil {
		return nil, err
	}
	s := uniform(n, size)
	if err := room(spaceOf(p.root), s.needed(), folder); err != nil {
		p.Close()
		return nil, err
	}
	return generateIn(ctx, p, s, &work{}, nil)
}

// generateIn makes the files of a set in p, which the set has from then on, within the limit, which
// may be nil. w counts them.
func generateIn(ctx context.Context, p *private, s *Set, w *work, limit *pace.Budget) (*Set, error) {
	dst, err := newWriting(p, "source", "end", false, w)
	if err == nil {
		err = writeFrom(ctx, s, dst, w, limit)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	s.private, s.root = p, dst.root
	s.names = make([]string, len(s.entries))
	for i, e := range s.entries {
		s.names[i] = nameOf(e)
	}
	return s, nil
}

// writeFrom writes files whose contents come from memory, on one stream, and flushes them.
func writeFrom(ctx context.Context, s *Set, dst *writing, w *work, limit *pace.Budget) error {
	r := &reading{set: s, work: w, hash: off, limit: limit}
	x := &stream{d: dst}
	defer x.close()
	if err := pump(ctx, blockSize(1), depth, w, nil, r.fillTaken, func(b *block, _ bool) error { return x.write(b) }); err != nil {
		return err
	}
	return dst.flush()
}

// coldOr drops the pages of a set from the cache, or leaves them, and returns which share of
// the contents is there, or nil if the system does not report it.
func coldOr(ctx context.Context, s *Set, cache string) (*float64, error) {
	if cache != "cold" {
		return s.cachedRatio(ctx)
	}
	for try := 1; ; try++ {
		if err := s.drop(ctx); err != nil {
			return nil, err
		}
		// The kernel keeps pages that a processor has just touched, and drops them the next time.
		if ratio, err := s.cachedRatio(ctx); err != nil || ratio == nil || *ratio == 0 || try == dropTries {
			return ratio, err
		}
	}
}

// dropTries is how often pages are dropped, until none is left.
const dropTries = 3

// drop drops the pages of all files from the cache, where the system can.
func (s *Set) drop(ctx context.Context) error {
	for i := range s.entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		f, err := s.open(i)
		if err != nil {
			return err
		}
		_ = dropPages(f) // what stays is seen afterwards
		_ = f.Close()
	}
	return nil
}

// InMemory reports whether a type of file systems has its files in memory only.
func InMemory(fileSystem string) bool { return fileSystem == "tmpfs" || fileSystem == "ramfs" }

// Of how many files, and at how many places each, the page cache is looked at.
const filesSampled, placesSampled = 200, 50

// cachedRatio is the share of the contents that is in the page cache, from a sample.
func (s *Set) cachedRatio(ctx context.Context) (*float64, error) {
	if InMemory(describePlace(s.root).FileSystem) {
		ratio := 1.0
		return &ratio, nil
	}
	var in, all float64
	step := (len(s.entries) + filesSampled - 1) / filesSampled
	for i := 0; i < len(s.entries) && ctx.Err() == nil; i += step {
		size := s.entries[i].size
		if size == 0 {
			continue
		}
		f, err := s.open(i)
		if err != nil {
			return nil, err
		}
		for at := int64(0); at < size; at += max(alignment, (size+placesSampled-1)/placesSampled) {
			yes, known := cached(f, at)
			if !known {
				_ = f.Close()
				return nil, nil
			}
			all++
			if yes {
				in++
			}
		}
		_ = f.Close()
	}
	if all == 0 {
		return nil, context.Cause(ctx)
	}
	ratio := in / all
	return &ratio, nil
}

// describe adds what a document says of the set.
func (s *Set) describe(c *measure.Copy) {
	c.Files, c.Directories, c.Bytes, c.Skipped, c.Generated = int64(len(s.entries)), int64(s.dirs), s.bytes, s.skipped, s.private != nil
}

// Prepare makes what the client's end of a copy reads: the files of the options, or a list
// of those in a folder. Where no file is read it has their sizes alone. It fails with the
// kinds usage, refused, permission or broken.
func Prepare(ctx context.Context, o measure.Options) (*Set, error) {
	own := OptionsOf(o)
	switch {
	case own.Folder != "":
		return scan(ctx, own.Folder)
	case o.Direction == measure.Reverse, !own.reads():
		return uniform(own.Files, int64(own.FileSize)), nil
	}
	return generate(ctx, own.disk(), own.Files, int64(own.FileSize))
}

// SinkRoot opens the folder of the client in which a copy from the server is written; nil
// for a stage that writes nothing.
func SinkRoot(o measure.Options) (*Root, error) {
	own := OptionsOf(o)
	if !own.writes() {
		return nil, nil
	}
	root, err := OpenRoot(own.disk())
	if err != nil {
		return nil, err
	}
	root.shown = own.disk()
	return root, nil
}

// PrepareServed is [Prepare] for the server's end of a copy in the reverse direction. Files
// are made inside root, if there is room, within the limit of what the server sends.
func PrepareServed(ctx context.Context, root *Root, o measure.Options, limit engine.Limit) (*Set, error) {
	own := OptionsOf(o)
	if !own.reads() {
		return uniform(own.Files, int64(own.FileSize)), nil
	}
	s, w := uniform(own.Files, int64(own.FileSize)), &work{}
	free, err := root.reserve(s.needed(), w)
	if err != nil {
		return nil, err
	}
	p, err := newPrivate(root.Root, root.shown)
	if err == nil {
		s, err = generateIn(ctx, p, s, w, limit.Out)
	}
	if err != nil {
		free()
		return nil, err
	}
	s.free = free
	return s, nil
}
