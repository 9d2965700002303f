package sock

import (
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// Content is what writers send: a block of 1 MiB, repeated. It is safe for concurrent use.
type Content struct {
	fill func([]byte) // writes a block into zeroed memory

	mu     sync.Mutex // held while a block is prepared, so that a writer waits for it
	blocks []*block   // that writers use, and prepared ones
}

// Contents of writers.
var (
	RandomContent    = &Content{fill: Incompressible}
	RepeatingContent = &Content{fill: Repeating}
)

// block is the memory of a content.
type block struct {
	bytes []byte
	file  int // the same as a file; -1 before a writer asked for one
	users int
}

// mostBlocks is how many blocks a content has. If writers shared pages, processors would
// compete for the reference counters of the pages, so each of the writers that can run at the
// same time has a block of its own. Further ones share them, so that many tests of a server
// take no more memory.
func mostBlocks() int { return max(32, 2*Processors) }

// prepare makes blocks until n have no writer.
func (c *Content) prepare(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	free := 0
	for _, b := range c.blocks {
		if b.users == 0 {
			free++
		}
	}
	for ; free < n && len(c.blocks) < mostBlocks(); free++ {
		if _, err := c.add(); err != nil {
			return err
		}
	}
	return nil
}

// take returns a block for a writer, which gives it back: one that was prepared, or a new
// one, or that with the fewest writers.
func (c *Content) take() (*block, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b *block
	for _, other := range c.blocks {
		if b == nil || other.users < b.users {
			b = other
		}
	}
	if b == nil || b.users > 0 && len(c.blocks) < mostBlocks() {
		var err error
		if b, err = c.add(); err != nil {
			return nil, err
		}
	}
	b.users++
	return b, nil
}

// add makes a block; called with the lock.
func (c *Content) add() (*block, error) {
	// One call that populates all pages takes half the time of a page fault for each.
	bytes, err := unix.Mmap(-1, 0, pipeSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	c.fill(bytes)
	b := &block{bytes: bytes, file: -1}
	c.blocks = append(c.blocks, b)
	return b, nil
}

// openFile returns a file with the block, which the block closes.
func (c *Content) openFile(b *block) (fd int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.file >= 0 {
		return b.file, nil
	}
	if fd, err = unix.MemfdCreate("soku", unix.MFD_CLOEXEC); err != nil {
		return -1, os.NewSyscallError("memfd_create", err)
	}
	if _, err = unix.Write(fd, b.bytes); err != nil {
		_ = unix.Close(fd)
		return -1, os.NewSyscallError("write", err)
	}
	b.file = fd
	return fd, nil
}

// give ends the use of a block. The kernel keeps pages that are still in flight when the
// memory is unmapped.
func (c *Content) give(b *block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.users--; b.users > 0 {
		return
	}
	c.blocks = slices.DeleteFunc(c.blocks, func(other *block) bool { return other == b })
	_ = unix.Munmap(b.bytes)
	if b.file >= 0 {
		_ = unix.Close(b.file)
	}
}
