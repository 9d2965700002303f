package sock

import (
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const ownDescriptorsDir = "/proc/thread-self/fd"

func firstThread() bool { return unix.Gettid() == unix.Getpid() }

// ownDescriptors gives the calling thread its own descriptor table. In that table it
// closes all sockets and pipes but used, because they would otherwise stay open after the
// process closes them. It keeps what the runtime needs on any thread: its epoll and event
// descriptors. end closes the rest. If the system refuses, the table stays shared.
func ownDescriptors(used []syscall.RawConn) (end func()) {
	keep := []int{0, 1, 2} // kept whatever they are: a panic is written there
	for _, c := range used {
		_ = c.Control(func(fd uintptr) { keep = append(keep, int(fd)) })
	}
	if unix.Access(ownDescriptorsDir, unix.R_OK) != nil || unix.Unshare(unix.CLONE_FILES) != nil {
		return func() {}
	}
	for _, fd := range connecting() {
		if !slices.Contains(keep, fd) {
			_ = unix.Close(fd)
		}
	}
	return func() {
		for _, fd := range keep {
			_ = unix.Close(fd)
		}
	}
}

// connecting returns the sockets and pipes of the calling thread's table. It makes raw
// system calls because package os would register with the runtime a descriptor that only
// this thread has.
func connecting() []int {
	dir, err := unix.Open(ownDescriptorsDir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(dir)
	var names []string
	entries := make([]byte, 32<<10)
	for {
		n, err := unix.ReadDirent(dir, entries)
		if err != nil || n <= 0 {
			break
		}
		_, _, names = unix.ParseDirent(entries[:n], -1, names)
	}
	var out []int
	target := make([]byte, 64)
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		n, err := unix.Readlinkat(dir, name, target)
		if what := string(target[:max(n, 0)]); err == nil && (strings.HasPrefix(what, "socket:") || strings.HasPrefix(what, "pipe:")) {
			out = append(out, fd)
		}
	}
	return out
}

// Yield gives the processor to another thread of this host if one is ready, and otherwise
// costs a quarter of a microsecond. It is for polling loops with a thread of their own.
func Yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
