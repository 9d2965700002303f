package filecopy

import (
	"os"
	"sync"

	"soku/internal/measure"
)

// Root is a folder that takes the files of copies, and only inside of it. Several copies
// may use it at the same time.
type Root struct {
	*os.Root

	shown string // what errors call it: the other end may read them
	most  int64  // what the copies that run may take together, as [needed] counts, bytes; 0: no limit

	mu     sync.Mutex
	claims map[*claim]bool // of the copies that run
}

// claim is the space that a copy needs, and what it has written by now.
type claim struct {
	need space
	work *work
}

// left is the space that the copy will still take.
func (c *claim) left() space {
	files := c.work.files.Load()
	return space{max(0, c.need.bytes-c.work.done.Load()-files*entryBytes), max(0, c.need.files-files)}
}

// OpenRoot opens a folder and removes what killed processes left in it. It fails with the
// kinds usage or permission.
func OpenRoot(folder string) (*Root, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, failFile("copy.folder", folder, err)
	}
	cleanUp(root)
	return &Root{Root: root, shown: "copy-root", claims: map[*claim]bool{}}, nil
}

// Limit makes most bytes the limit of all copies together; 0 is no limit. It is called before the first copy.
func (r *Root) Limit(most int64) { r.most = most }

// Most returns that limit, or 0 if r is nil.
func (r *Root) Most() measure.Size {
	if r == nil {
		return 0
	}
	return measure.Size(r.most)
}

// Free is what is free on the disk, bytes. known is false if the system does not report it.
func (r *Root) Free() (bytes int64, known bool) {
	free := spaceOf(r.Root).bytes
	return free, free != unlimited
}

// reserve takes space for files that w counts when they are written; free gives it back. It
// fails if that, and what the other copies will still write, would not fit, and if all of them
// together need more than the limit.
func (r *Root) reserve(need space, w *work) (free func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// The claims are read before the system is asked, so that what is written in between
	// counts twice and not never.
	all, taken := need, int64(0)
	for c := range r.claims {
		left := c.left()
		all.bytes, all.files = all.bytes+left.bytes, all.files+left.files
		taken += c.need.bytes
	}
	if r.most > 0 && taken+need.bytes > r.most {
		return nil, measure.Fail(measure.KindRefused, "copy.most", measure.Figures{"needed_bytes": need.bytes, "taken_bytes": taken, "limit_bytes": r.most})
	}
	if err := room(spaceOf(r.Root), all, r.shown); err != nil {
		return nil, err
	}
	c := &claim{need, w}
	r.claims[c] = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.claims, c)
	}, nil
}
