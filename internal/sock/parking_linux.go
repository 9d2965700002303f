package sock

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Parking is where a goroutine waits for descriptors that are not in the poller of the Go runtime,
// without a thread: it puts an epoll instance with them there for the time of the wait. It is safe
// for concurrent use, also after Close, but one goroutine waits.
type Parking struct {
	mu    sync.Mutex
	file  *os.File // the epoll instance, or nil: closed, or there was no descriptor
	raw   syscall.RawConn
	woken bool
}

// NewParking returns a Parking. Where the process has no descriptor left its waits are on a thread,
// and nothing wakes them.
func NewParking() *Parking {
	p := &Parking{}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return p
	}
	_ = unix.SetNonblock(fd, true) // so that package os gives it to the runtime's poller
	p.file = os.NewFile(uintptr(fd), "epoll")
	if p.raw, err = p.file.SyscallConn(); err != nil || p.file.SetReadDeadline(time.Time{}) != nil {
		p.Close()
	}
	return p
}

// Works reports whether it has a descriptor.
func (p *Parking) Works() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.file != nil
}

// Wake ends a wait that is under way, or else the next one.
func (p *Parking) Wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.woken = true; p.file != nil {
		_ = p.file.SetReadDeadline(past)
	}
}

// Wait waits until something happens on one of the descriptors, for d at most or until Wake.
// Negative descriptors are left out.
func (p *Parking) Wait(fds []unix.PollFd, d time.Duration) {
	end := Now().Add(d)
	for !p.Works() { // signals, which the runtime sends its threads, end ppoll(2)
		t := unix.NsecToTimespec(int64(max(0, end.Sub(Now()))))
		if _, err := unix.Ppoll(fds, &t, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
	if !p.until(end) {
		return
	}
	_ = p.raw.Control(func(epoll uintptr) { control(int(epoll), unix.EPOLL_CTL_ADD, fds) })
	_ = p.raw.Read(func(epoll uintptr) bool {
		n, err := unix.EpollWait(int(epoll), make([]unix.EpollEvent, 1), 0)
		return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
	})
	_ = p.raw.Control(func(epoll uintptr) { control(int(epoll), unix.EPOLL_CTL_DEL, fds) })
}

// until sets when a wait ends. It returns false if Wake was called since the last wait.
func (p *Parking) until(t time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.woken || p.file == nil {
		p.woken = false
		return false
	}
	return p.file.SetReadDeadline(t) == nil
}

func control(epoll, operation int, fds []unix.PollFd) {
	for _, f := range fds {
		if f.Fd >= 0 {
			_ = unix.EpollCtl(epoll, operation, int(f.Fd), &unix.EpollEvent{Events: uint32(f.Events), Fd: f.Fd})
		}
	}
}

// Close frees the descriptor. Nothing may wait any more.
func (p *Parking) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file != nil {
		_ = p.file.Close()
		p.file = nil
	}
}
