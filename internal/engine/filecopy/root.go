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

	mu       sync.Mutex
	reserved int64 // bytes that running copies announced
}

// OpenRoot opens a folder and removes what killed processes left in it. Errors are of kind
// usage or permission.
func OpenRoot(folder string) (*Root, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, failFile("copy.folder", folder, err)
	}
	cleanUp(root)
	return &Root{Root: root, shown: "copy-root"}, nil
}

// reserve takes room for so many bytes, which free gives back. It fails where all running
// copies together would not fit.
func (r *Root) reserve(bytes int64) (free func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := room(describePlace(r.Root), r.reserved+bytes, r.shown); err != nil {
		return nil, err
	}
	r.reserved += bytes
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.reserved -= bytes
	}, nil
}
