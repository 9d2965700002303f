package filecopy

import (
	"context"
	"sync"
	"unsafe"

	"soku/internal/panics"
)

// block is a piece of one file on its way from the loop that reads or receives to the loop
// that sends or writes.
type block struct {
	file        entry
	first, last bool   // of its file
	data        []byte // in buf, or memory that does not change
	buf         []byte // its own, aligned for direct I/O
	sum         []byte // of the whole file, in the last block; nil without checksums
	cut         bool   // the connection was cut in the file, which comes again; the block has no data
	before      int64  // then the bytes of the file in the blocks before
}

// entry is a file as its contents cross the pump and the network: the number of the file
// and of its directory, both from 0, and its size in bytes.
type entry struct {
	dir, file uint32
	size      int64
}

const (
	// depth is how many blocks a stream has between its two loops. If one of them is at a
	// network, it has up to depthMost while the other is behind: 32 MiB keep a network of
	// 1 Gbit/s busy while a disk pauses for a quarter of a second. More blocks than are needed
	// cost time where both loops work in memory, because they do not stay in the processor's
	// cache.
	depth, depthMost = 4, 32
	// blockMost and blockLeast bound a block, bytes.
	blockMost, blockLeast = 1 << 20, 256 << 10
	// blocksMost bounds all blocks of an end, bytes.
	blocksMost = 64 << 20
	// alignment is that of direct I/O, in memory and in files.
	alignment = 4096
)

// blockSize is how long a block of one of n streams is.
func blockSize(n int) int {
	return max(blockLeast, min(blockMost, blocksMost/(depth*max(n, 1)))) / alignment * alignment
}

// deep is how many blocks one of n streams may have with a network at one of its loops.
func deep(n int) int { return max(depth, min(depthMost, blocksMost/(blockSize(n)*max(n, 1)))) }

// aligned returns n bytes that begin at a multiple of [alignment].
func aligned(n int) []byte {
	b := make([]byte, n+alignment)
	shift := (alignment - int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))%alignment)) % alignment
	return b[shift : shift+n : shift+n]
}

// blocks are the two ends of a stream's pump for the loop that fills blocks.
type blocks struct {
	ctx        context.Context
	free, full chan *block
	size, made int // of a block, bytes; blocks that exist
	work       *work
}

// get waits for a block to fill; nil when the stage has ended.
func (b *blocks) get() *block {
	select {
	case x := <-b.free:
		return x
	default:
	}
	if b.made < cap(b.full) {
		b.made++
		return &block{buf: aligned(b.size)}
	}
	watch := startWatch()
	defer watch.lap(&b.work.blocked)
	select {
	case x := <-b.free:
		return x
	case <-b.ctx.Done():
		return nil
	}
}

// put passes a block on. There is always room: a stream has no more blocks than it holds.
func (b *blocks) put(x *block) { b.full <- x }

// pump runs one stream with at most so many blocks of a size: fill in a goroutine of its own, and use, in this one, for each block
// in order. more tells use that another block waits already. It returns the first error of
// the two, or the cause of the end of ctx; interrupt ends what the other one waits for then, unless the
// connection was cut. It may be nil.
func pump(ctx context.Context, size, most int, w *work, interrupt func(), fill func(*blocks) error, use func(x *block, more bool) error) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	cancel := func(err error) {
		end(err)
		if interrupt != nil && !isCut(err) {
			interrupt()
		}
	}
	b := &blocks{ctx: ctx, free: make(chan *block, most), full: make(chan *block, most), size: size, work: w}
	var filler sync.WaitGroup
	filler.Go(func() {
		defer close(b.full)
		if err := panics.Run(func() error { return fill(b) }); err != nil {
			cancel(err)
		}
	})
	if err := panics.Run(func() error { return b.drain(use) }); err != nil {
		cancel(err)
	}
	filler.Wait()
	err := context.Cause(ctx)
	panics.Raise(err) // of either
	return err
}

// drain gives use the blocks in order until the last, its error or the end of the context.
func (b *blocks) drain(use func(x *block, more bool) error) error {
	watch := startWatch()
	for x := range b.full {
		watch.lap(&b.work.starved)
		if err := context.Cause(b.ctx); err != nil {
			return err
		}
		if err := use(x, len(b.full) > 0); err != nil {
			return err
		}
		b.free <- x
		watch = startWatch()
	}
	return nil
}
