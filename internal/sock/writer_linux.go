package sock

import (
	"errors"
	"net"
	"os"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// Writer sends bytes for the connections of one loop. Its calls do not wait, unless
// BlockTimeout is set. One goroutine may use it, which should have its OS thread locked:
// calls that cannot block do not notify the runtime.
type Writer struct {
	path    string
	copies  bool // path is write
	blocks  bool // BlockTimeout is set
	fds     []int
	content *Content
	block   *block
	payload []byte // the block's bytes
	put     func(fd, n int) (int, error)
	ready   poller

	source, pipe pipe // for splice
	piped        int  // bytes in pipe
	file         int  // for sendfile; the block's
	offset       int64
}

// pipe is the two ends of a pipe, -1 if there is none.
type pipe struct{ from, to int }

// pipeSize is the largest pipe an unprivileged process may ask for (pipe(7)), and the
// size of a splice.
const pipeSize = 1 << 20

// PrepareWriters prepares the slow part of the next n calls of [OpenWriter] with
// [RandomContent]. It is safe for concurrent use. What no writer uses is kept for the next
// trial of the process.
func PrepareWriters(n int) {
	_ = RandomContent.prepare(n) // OpenWriter tries again and reports the error
}

// WriterPaths returns the values of the option tx that this system has for TCP, fastest
// first.
func WriterPaths() []string { return []string{"splice", "write", "sendfile", "zerocopy"} }

// MultipathPaths returns the default values of the options tx and rx for Multipath TCP.
// There the kernel copies all data, also from the pages of a pipe, and one page at a
// time; and it does not widen the receive window for bytes that are discarded unread.
func MultipathPaths() (tx, rx string) { return "write", "read" }

// OpenWriter returns a writer to conns by one of [WriterPaths]. It duplicates the
// descriptors, so conns may be closed while it is open.
func OpenWriter(conns []*net.TCPConn, path string, content *Content) (*Writer, error) {
	o := &Writer{path: path, content: content, copies: path == "write", source: pipe{-1, -1}, pipe: pipe{-1, -1}, file: -1}
	if err := o.open(conns); err != nil {
		o.Close()
		return nil, measure.Fail(measure.KindUsage, "sock.writer", measure.Figures{"path": path, "cause": err})
	}
	return o, nil
}

func (o *Writer) open(conns []*net.TCPConn) (err error) {
	if o.block, err = o.content.take(); err != nil {
		return err
	}
	o.payload = o.block.bytes
	if o.fds, err = holdAll(conns); err != nil {
		return err
	}
	switch o.path {
	case "write":
		o.put = o.write
	case "splice":
		o.put, err = o.splice, o.openPipes()
	case "sendfile":
		o.put = o.sendfile
		o.file, err = o.content.openFile(o.block)
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

// Put sends up to n bytes, 1 MiB at most, on connection i and returns how many the kernel
// accepted; with [ErrWouldBlock] if its queue is full, possibly after a part.
func (o *Writer) Put(i, n int) (int, error) { return o.put(o.fds[i], min(n, len(o.payload))) }

// BlockTimeout makes Put of a writer with one connection block in the kernel for up to d
// while the connection's queue is full. It reports whether it does: only the paths splice
// and write can. The kernel then refills the queue as soon as there is room; a loop that
// polls for room and calls again may find the queue empty. Until Close the connection
// blocks for all its users.
func (o *Writer) BlockTimeout(d time.Duration) bool {
	if o.path != "splice" && !o.copies || len(o.fds) != 1 {
		return false
	}
	o.blocks = blocking(o.fds[0], unix.SO_SNDTIMEO, d)
	return o.blocks
}

// Unblock undoes BlockTimeout.
func (o *Writer) Unblock() {
	if o.blocks {
		unblocking(o.fds[0], unix.SO_SNDTIMEO)
		o.blocks = false
	}
}

// Wait sleeps until one of the connections has room, or for d. With BlockTimeout set it
// returns immediately, because Put has waited.
func (o *Writer) Wait(d time.Duration) {
	if !o.blocks {
		o.ready.wait(d)
	}
}

// Idle is Wait without a thread, also for a writer with a block timeout. p ends it early.
func (o *Writer) Idle(d time.Duration, p *Parking) { p.Wait(o.ready.fds, d) }

// Drop excludes connection i from Wait.
func (o *Writer) Drop(i int) { o.ready.drop(i) }

// Close releases all resources. The connections stay open.
func (o *Writer) Close() {
	o.Unblock()
	for _, fd := range append(slices.Clone(o.fds), o.source.from, o.source.to, o.pipe.from, o.pipe.to) {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	if o.block != nil {
		o.content.give(o.block)
	}
	o.fds, o.block, o.payload = nil, nil, nil
}

func (o *Writer) write(fd, n int) (int, error) {
	call := unix.RawSyscall
	if o.blocks { // through the runtime, so that garbage collection does not wait for this call
		call = unix.Syscall
	}
	k, err := result(call(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&o.payload[0])), uintptr(n)))
	if k < n && err == nil {
		err = ErrWouldBlock
	}
	return k, err
}

// splice moves references to the payload's pages through a pipe into the socket. What one
// connection leaves in the pipe is used for the next.
func (o *Writer) splice(fd, n int) (int, error) {
	if o.piped == 0 {
		// tee(2) copies the references in the source pipe; vmsplice(2) would look up
		// every page again, which costs a tenth of the rate.
		k, err := result(unix.RawSyscall6(unix.SYS_TEE, uintptr(o.source.from), uintptr(o.pipe.to), pipeSize, unix.SPLICE_F_NONBLOCK, 0, 0))
		if err != nil {
			return 0, err
		}
		o.piped = k
	}
	n = min(n, o.piped)
	k, err := o.intoSocket(fd, n)
	o.piped -= k
	if k < n && err == nil && !o.blocks {
		err = ErrWouldBlock
	}
	return k, err
}

func (o *Writer) intoSocket(fd, n int) (int, error) {
	if o.blocks { // through the runtime, so that garbage collection does not wait for this call
		return result(unix.Syscall6(unix.SYS_SPLICE, uintptr(o.pipe.from), 0, uintptr(fd), 0, uintptr(n), unix.SPLICE_F_MOVE|unix.SPLICE_F_MORE))
	}
	return result(unix.RawSyscall6(unix.SYS_SPLICE, uintptr(o.pipe.from), 0, uintptr(fd), 0, uintptr(n), unix.SPLICE_F_NONBLOCK|unix.SPLICE_F_MOVE|unix.SPLICE_F_MORE))
}

// openPipes fills the source pipe with references to the payload's pages, once. The other
// pipe carries what is sent.
func (o *Writer) openPipes() error {
	for _, p := range []*pipe{&o.source, &o.pipe} {
		var fds [2]int
		if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
			return os.NewSyscallError("pipe2", err)
		}
		p.from, p.to = fds[0], fds[1]
		_, _ = unix.FcntlInt(uintptr(p.to), unix.F_SETPIPE_SZ, pipeSize) // a smaller pipe is only slower
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

func (o *Writer) askZerocopy() error {
	for _, fd := range o.fds {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ZEROCOPY, 1); err != nil {
			return os.NewSyscallError("setsockopt SO_ZEROCOPY", err)
		}
	}
	return nil
}

// zerocopy sends directly from the payload's pages. The kernel reports in the socket's
// error queue when it no longer needs a page; unread reports use up the socket's option
// memory, so they are read. The pages never change, so nothing else waits for the
// reports.
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
