package sock

import (
	"os"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// unwatch takes a descriptor off the runtime's poller. The runtime watches every
// socket of package net from its making to its close, also while an engine moves
// bytes by itself; that costs a callback for each packet, and wakes a thread that
// finds nothing to do. From then on a Read or Write of the connection that has to
// wait ends by its deadline alone. Where the poller cannot be found everything
// works as before, only slower.
func unwatch(fd int) {
	if p := runtimePoller.Load(); p > 0 {
		_ = unix.EpollCtl(int(p), unix.EPOLL_CTL_DEL, fd, nil)
		return
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err != nil || to != "anon_inode:[eventpoll]" {
			continue
		}
		// Only the poller that watches fd can forget it.
		if p, err := strconv.Atoi(e.Name()); err == nil && unix.EpollCtl(p, unix.EPOLL_CTL_DEL, fd, nil) == nil {
			runtimePoller.Store(int64(p))
			return
		}
	}
}

// runtimePoller is the descriptor of the runtime's poller, once found. The
// runtime has one, and never closes it.
var runtimePoller atomic.Int64
