package sock

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Waker ends the waits of a thread that polls the kernel itself (eventfd(2)), so that it may
// wait for long. It is safe for concurrent use, also after Close.
type Waker struct {
	mu sync.Mutex
	fd int // -1: closed, or there was no descriptor
}

// NewWaker returns a Waker. Where the process has no descriptor left it wakes nothing.
func NewWaker() *Waker {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		fd = -1
	}
	return &Waker{fd: fd}
}

// Works reports whether it has a descriptor.
func (w *Waker) Works() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fd >= 0
}

// Wake ends a wait that is under way, or else the next one.
func (w *Waker) Wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fd >= 0 {
		_, _ = unix.Write(w.fd, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}

// Poll waits until something happens on one of the descriptors (poll(2)), for d at most or
// until w ends it. It returns false when d has passed.
func (w *Waker) Poll(fds []unix.PollFd, d time.Duration) bool {
	all := append(fds[:len(fds):len(fds)], w.descriptor())
	t := unix.NsecToTimespec(int64(d))
	n := pollLong(all, &t)
	if n > 0 && all[len(fds)].Revents != 0 {
		w.clear()
	}
	return n != 0
}

func (w *Waker) descriptor() unix.PollFd {
	w.mu.Lock()
	defer w.mu.Unlock()
	return unix.PollFd{Fd: int32(w.fd), Events: unix.POLLIN}
}

// clear forgets what woke a wait.
func (w *Waker) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fd >= 0 {
		var b [8]byte
		_, _ = unix.Read(w.fd, b[:])
	}
}

// Close frees the descriptor. Nothing may wait any more.
func (w *Waker) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fd >= 0 {
		_ = unix.Close(w.fd)
		w.fd = -1
	}
}
