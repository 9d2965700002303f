package sock

import (
	"net"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// Add adds connection c to an open reader and returns its index, which may be one that
// [Reader.Remove] has freed. As with [OpenReader], c itself may be closed: the reader
// duplicates its descriptor.
func (in *Reader) Add(c *net.TCPConn) (int, error) {
	held, err := holdAll([]*net.TCPConn{c})
	if err != nil {
		return 0, measure.Fail(measure.KindInternal, "sock.receive", measure.Figures{"peer": c.RemoteAddr().String(), "cause": err})
	}
	entry := unix.PollFd{Fd: int32(held[0]), Events: unix.POLLIN}
	for i, fd := range in.fds {
		if fd < 0 {
			in.fds[i], in.ready.fds[i] = held[0], entry
			return i, nil
		}
	}
	in.fds, in.ready.fds = append(in.fds, held[0]), append(in.ready.fds, entry)
	return len(in.fds) - 1, nil
}

// Remove removes connection i from the reader. Its index is free again.
func (in *Reader) Remove(i int) {
	in.Drop(i)
	_ = unix.Close(in.fds[i])
	in.fds[i] = -1
}
