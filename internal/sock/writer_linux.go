package sock

import (
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// Writer puts bytes into the kernel for the connections of one loop and does not
// wait while it does, unless it was given patience. It is for one goroutine, which
// should have its OS thread locked: calls that do not block are made without
// telling the runtime.
type Writer struct {
	path    string
	copies  bool // the path is write
	patient bool
	fds     []int
	payload []byte
	put     func(fd, n int) (int, error)
	ready   poller

	source, pipe pipe // for splice
	piped        int  // bytes in the second
	file         int  // for sendfile
	offset       int64
}

// pipe is the two ends of a pipe, -1 where there is none.
type pipe struct{ from, to int }

// pipeSize is what an unprivileged process may ask for (pipe(7)); unit of a
// splice, too.
const pipeSize = 1 << 20

// spare is a payload that was made ahead, for the first writer that opens. It is
// the process's: who makes it does not know the writer yet.
var spare struct {
	mu    sync.Mutex // held while it is made, so that a writer waits for it
	pages []byte
}

// PrepareWriter makes ahead what takes long about the next [OpenWriter]. It may
// run beside anything; what nobody opens stays for the next trial of the process.
func PrepareWriter() {
	spare.mu.Lock()
	defer spare.mu.Unlock()
	if spare.pages == nil {
		spare.pages, _ = newPages(Incompressible) // OpenWriter tries again, and tells
	}
}

// pages is memory of its own with what a writer sends. An writer that shared its
// pages with others would share the counters of references to them, too, which the
// processors then take from each other for each page. The kernel keeps pages that
// are still on their way when the memory is given back.
func pages() ([]byte, error) {
	spare.mu.Lock()
	b := spare.pages
	spare.pages = nil
	spare.mu.Unlock()
	if b != nil {
		return b, nil
	}
	return newPages(Incompressible)
}

func newPages(fill func([]byte)) ([]byte, error) {
	// One call that populates all takes half as long as a fault for each page.
	b, err := unix.Mmap(-1, 0, pipeSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	fill(b)
	return b, nil
}

// WriterPaths are the values of the option tx that this system has for TCP, the
// fastest first.
func WriterPaths() []string { return []string{"splice", "write", "sendfile", "zerocopy"} }

// MultipathPaths are the values of the options tx and rx to take for connections of
// Multipath TCP where none is asked for. The kernel copies what it is given there, of
// the pages of a pipe, too, and one at a time; and it does not widen the receive window
// for bytes that are dropped unread.
func MultipathPaths() (tx, rx string) { return "write", "read" }

// OpenWriter makes a writer over conns whose path is one of [WriterPaths]. It
// has descriptors of its own: conns may be closed while it is open. What it sends is
// what fill writes into zeros; nil is [Incompressible].
func OpenWriter(conns []*net.TCPConn, path string, fill func([]byte)) (*Writer, error) {
	o := &Writer{path: path, copies: path == "write", source: pipe{-1, -1}, pipe: pipe{-1, -1}, file: -1}
	if err := o.open(conns, fill); err != nil {
		o.Close()
		return nil, measure.Errorf(measure.KindUsage, "send by %s: %w", path, err).WithHint("this system may not have it; leave out --tx, or use --tx write")
	}
	return o, nil
}

func (o *Writer) open(conns []*net.TCPConn, fill func([]byte)) (err error) {
	if fill != nil {
		o.payload, err = newPages(fill)
	} else {
		o.payload, err = pages()
	}
	if err != nil {
		return err
	}
	if o.fds, err = holdAll(conns); err != nil {
		return err
	}
	switch o.path {
	case "write":
		o.put = o.write
	case "splice":
		o.put, err = o.splice, o.openPipes()
	case "sendfile":
		o.put, err = o.sendfile, o.openFile()
	case "zerocopy":
		o.put, err = o.zerocopy, o.askZerocopy()
	default:
		err = errors.New("no such path")
	}
	if err != nil {
		return err
	}
	o.ready.open(o.fds, unix.POLLOUT)
	return nil
}

// Path is how bytes go: the value of the option tx that stands for it.
func (o *Writer) Path() string { return o.path }

// Put hands at most n bytes, 1 MiB at most, to connection i
// and returns how many the kernel took; with [ErrWouldBlock] when its queue is
// full now, also after a part.
func (o *Writer) Put(i, n int) (int, error) { return o.put(o.fds[i], min(n, len(o.payload))) }

// BlockTimeout makes Put of a writer over one connection wait inside the kernel while
// the connection's queue is full, for up to d, and tells whether it does: only by
// splice and write. The kernel then fills the queue as soon as there is room, where a loop
// that is told of room and comes again finds the queue run empty. Until Close the
// connection blocks for everybody who uses it.
func (o *Writer) BlockTimeout(d time.Duration) bool {
	if o.path != "splice" && !o.copies || len(o.fds) != 1 {
		return false
	}
	o.patient = blocking(o.fds[0], unix.SO_SNDTIMEO, d)
	return o.patient
}

// Wait sleeps until one of the connections may take more, or for d. With patience
// it was waited for already.
func (o *Writer) Wait(d time.Duration) {
	if !o.patient {
		o.ready.wait(d)
	}
}

// Drop gives up connection i: Wait no longer looks at it.
func (o *Writer) Drop(i int) { o.ready.drop(i) }

// Close gives everything back. The connections stay open.
func (o *Writer) Close() {
	if o.patient {
		unblocking(o.fds[0], unix.SO_SNDTIMEO)
		o.patient = false
	}
	for _, fd := range append(slices.Clone(o.fds), o.source.from, o.source.to, o.pipe.from, o.pipe.to, o.file) {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	if o.payload != nil {
		_ = unix.Munmap(o.payload)
	}
	o.fds, o.payload = nil, nil
}

func (o *Writer) write(fd, n int) (int, error) {
	call := unix.RawSyscall
	if o.patient { // the runtime is told, or a collection of garbage would wait, too
		call = unix.Syscall
	}
	k, err := result(call(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&o.payload[0])), uintptr(n)))
	if k < n && err == nil {
		err = ErrWouldBlock
	}
	return k, err
}

// splice moves references to the payload's pages through a pipe into the socket.
// What one connection left in the pipe is as good for the next.
func (o *Writer) splice(fd, n int) (int, error) {
	if o.piped == 0 {
		// tee(2) copies the references that wait in another pipe; vmsplice(2) would
		// look every page up again, which costs a tenth of the rate.
		k, err := result(unix.RawSyscall6(unix.SYS_TEE, uintptr(o.source.from), uintptr(o.pipe.to), pipeSize, unix.SPLICE_F_NONBLOCK, 0, 0))
		if err != nil {
			return 0, err
		}
		o.piped = k
	}
	n = min(n, o.piped)
	k, err := o.intoSocket(fd, n)
	o.piped -= k
	if k < n && err == nil && !o.patient {
		err = ErrWouldBlock
	}
	return k, err
}

func (o *Writer) intoSocket(fd, n int) (int, error) {
	if o.patient { // the runtime is told, or a collection of garbage would wait, too
		return result(unix.Syscall6(unix.SYS_SPLICE, uintptr(o.pipe.from), 0, uintptr(fd), 0, uintptr(n), unix.SPLICE_F_MOVE|unix.SPLICE_F_MORE))
	}
	return result(unix.RawSyscall6(unix.SYS_SPLICE, uintptr(o.pipe.from), 0, uintptr(fd), 0, uintptr(n), unix.SPLICE_F_NONBLOCK|unix.SPLICE_F_MOVE|unix.SPLICE_F_MORE))
}

// openPipes fills one pipe with references to the payload's pages, once; what is
// sent passes through the other.
func (o *Writer) openPipes() error {
	for _, p := range []*pipe{&o.source, &o.pipe} {
		var fds [2]int
		if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
			return os.NewSyscallError("pipe2", err)
		}
		p.from, p.to = fds[0], fds[1]
		_, _ = unix.FcntlInt(uintptr(p.to), unix.F_SETPIPE_SZ, pipeSize) // less is only slower
	}
	v := unix.Iovec{Base: &o.payload[0]}
	v.SetLen(pipeSize)
	_, err := result(unix.RawSyscall6(unix.SYS_VMSPLICE, uintptr(o.source.to), uintptr(unsafe.Pointer(&v)), 1, unix.SPLICE_F_NONBLOCK, 0, 0))
	return os.NewSyscallError("vmsplice", err)
}

func (o *Writer) sendfile(fd, n int) (int, error) {
	o.offset = 0
	return result(unix.RawSyscall6(unix.SYS_SENDFILE, uintptr(fd), uintptr(o.file), uintptr(unsafe.Pointer(&o.offset)), uintptr(n), 0, 0))
}

func (o *Writer) openFile() (err error) {
	if o.file, err = unix.MemfdCreate("soku", unix.MFD_CLOEXEC); err != nil {
		return os.NewSyscallError("memfd_create", err)
	}
	_, err = unix.Write(o.file, o.payload)
	return err
}

func (o *Writer) askZerocopy() error {
	for _, fd := range o.fds {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ZEROCOPY, 1); err != nil {
			return os.NewSyscallError("setsockopt SO_ZEROCOPY", err)
		}
	}
	return nil
}

// zerocopy sends from the payload's pages. The kernel's words that it is done
// with some (its queue of errors) take up the socket's memory for options until
// they are read; the pages never change, so nothing else has to wait for them.
func (o *Writer) zerocopy(fd, n int) (int, error) {
	k, err := result(unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&o.payload[0])), uintptr(n), unix.MSG_ZEROCOPY|unix.MSG_DONTWAIT, 0, 0))
	if errors.Is(err, ErrWouldBlock) || errors.Is(err, unix.ENOBUFS) {
		o.completions(fd)
		return 0, ErrWouldBlock
	}
	return k, err
}

func (o *Writer) completions(fd int) {
	var control [256]byte
	for {
		h := unix.Msghdr{Control: &control[0]}
		h.SetControllen(len(control))
		_, _, e := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&h)), unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
		if e != 0 {
			return
		}
	}
}
