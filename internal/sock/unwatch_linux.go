package sock

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Unwatch removes conns from the epoll instance of Go's runtime and returns a function
// that adds them again. While they are in it, every event on them wakes an idle thread of
// the runtime, even if no goroutine waits for it: for each datagram sent or received, at
// about the cost of the datagram itself.
//
// Until they are added again, a Read or Write that would wait does so until its deadline;
// functions run by [syscall.RawConn], deadlines and Close work as usual. If the epoll
// instance is not found (a system without /proc), Unwatch does nothing. Other code must
// not use the connections until they are added again.
func Unwatch(conns []net.Conn) (watch func()) {
	raws := make(map[int]syscall.RawConn, len(conns))
	for _, c := range conns {
		sc, ok := c.(syscall.Conn)
		if !ok {
			continue
		}
		if raw, err := sc.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { raws[int(fd)] = raw })
		}
	}
	instance, events := watching(raws)
	for fd := range events {
		_ = raws[fd].Control(func(fd uintptr) { _ = unix.EpollCtl(instance, unix.EPOLL_CTL_DEL, int(fd), nil) })
	}
	return func() {
		for fd, event := range events {
			// The event contains a pointer to the runtime's record of the connection. The
			// record lives as long as the connection is open, and Control fails if it is
			// not.
			_ = raws[fd].Control(func(fd uintptr) { _ = unix.EpollCtl(instance, unix.EPOLL_CTL_ADD, int(fd), &event) })
		}
	}
}

// watching finds the epoll instance of this process that contains all of fds, and the
// event registered for each. The map is empty if there is none.
func watching[V any](fds map[int]V) (instance int, events map[int]unix.EpollEvent) {
	const dir = "/proc/self/fd"
	open, err := os.ReadDir(dir)
	if err != nil || len(fds) == 0 {
		return -1, nil
	}
	for _, entry := range open {
		if to, err := os.Readlink(dir + "/" + entry.Name()); err != nil || to != "anon_inode:[eventpoll]" {
			continue
		}
		if instance, err = strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		if events = watched(instance, fds); len(events) == len(fds) {
			return instance, events
		}
	}
	return -1, nil
}

// watched returns those of fds that an epoll instance contains, from proc_pid_fdinfo(5).
func watched[V any](instance int, fds map[int]V) map[int]unix.EpollEvent {
	f, err := os.Open(fmt.Sprintf("/proc/self/fdinfo/%d", instance))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	events := make(map[int]unix.EpollEvent, len(fds))
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fd, event, ok := parseWatched(lines.Text())
		if _, wanted := fds[fd]; ok && wanted {
			events[fd] = event
		}
	}
	return events
}

// parseWatched reads a line such as "tfd: 8 events: 80002019 data: 7f..c8 pos:0 ino:2f sdev:8".
func parseWatched(line string) (fd int, event unix.EpollEvent, ok bool) {
	f := strings.Fields(line)
	if len(f) < 6 || f[0] != "tfd:" || f[2] != "events:" || f[4] != "data:" {
		return 0, unix.EpollEvent{}, false
	}
	fd, err := strconv.Atoi(f[1])
	if err != nil {
		return 0, unix.EpollEvent{}, false
	}
	bits, err := strconv.ParseUint(f[3], 16, 32)
	if err != nil {
		return 0, unix.EpollEvent{}, false
	}
	data, err := strconv.ParseUint(f[5], 16, 64)
	if err != nil {
		return 0, unix.EpollEvent{}, false
	}
	event.Events = uint32(bits)
	// Package unix splits the data field into two halves; the first is Fd.
	binary.NativeEndian.PutUint64((*[8]byte)(unsafe.Pointer(&event.Fd))[:], data)
	return fd, event, true
}
