package filecopy

import (
	"os"
	"sync"
)

// Root is a folder that takes the files of copies, and only inside of it. Several copies
// may use it at the same time.
type Root struct {
	*os.Root

	shown string // what errors call it: the other end may read them

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

// reserve takes space for files that w counts when they are written; free gives it back. It
// fails where that, and what the other copies will still write, would not fit.
func (r *Root) reserve(need space, w *work) (free func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// The claims are read before the system is asked, so that what is written in between
	// counts twice and not never.
	all := need
	for c := range r.claims {
		left := c.left()
		all.bytes, all.files = all.bytes+left.bytes, all.files+left.files
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
