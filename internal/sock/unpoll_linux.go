package sock

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Unpoll takes a socket out of every epoll set of this process, which is that
// of the Go runtime, and returns what puts it back. A thread that waits there
// wakes up for each packet of every socket in the set, also of one that nobody
// waits for; beside a reader that never sleeps that doubles a round trip. Until it
// is back, the socket must not be read or written through its net.Conn in a way
// that waits. Both calls need the descriptor to stay open meanwhile. Where /proc
// is not there, nothing is taken out.
func Unpoll(fd int) (restore func()) {
	var undo []func()
	for _, m := range memberships(fd) {
		if unix.EpollCtl(m.set, unix.EPOLL_CTL_DEL, fd, nil) == nil {
			undo = append(undo, func() { _ = unix.EpollCtl(m.set, unix.EPOLL_CTL_ADD, fd, &m.event) })
		}
	}
	return func() {
		for _, f := range undo {
			f()
		}
	}
}

// membership is how a descriptor is in an epoll set (epoll_ctl(2)).
type membership struct {
	set   int
	event unix.EpollEvent
}

// memberships reads them from /proc/self/fdinfo (proc_pid_fdinfo(5)).
func memberships(fd int) []membership {
	var out []membership
	names, _ := os.ReadDir("/proc/self/fd")
	for _, n := range names {
		set, err := strconv.Atoi(n.Name())
		if err != nil {
			continue
		}
		if to, err := os.Readlink("/proc/self/fd/" + n.Name()); err != nil || to != "anon_inode:[eventpoll]" {
			continue
		}
		f, err := os.Open("/proc/self/fdinfo/" + n.Name())
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if e, ok := parseMember(lines.Text(), fd); ok {
				out = append(out, membership{set, e})
			}
		}
		f.Close()
	}
	return out
}

// parseMember reads "tfd: 5 events: 8000201d data: 7f... pos:..." if it is of fd.
func parseMember(line string, fd int) (e unix.EpollEvent, ok bool) {
	var tfd int
	var events uint32
	var data uint64
	line = strings.Join(strings.Fields(line), " ")
	if n, err := fmt.Sscanf(line, "tfd: %d events: %x data: %x", &tfd, &events, &data); err != nil || n != 3 || tfd != fd {
		return e, false
	}
	e.Events, e.Fd, e.Pad = events, int32(uint32(data)), int32(uint32(data>>32))
	return e, true
}
