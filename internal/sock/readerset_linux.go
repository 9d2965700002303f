package sock

import (
	"net"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// Add takes connection c into an open reader and returns its number, which may be
// one that [Reader.Remove] has given back. As with those of [OpenReader], c itself
// may be closed: the reader has a descriptor of its own.
func (in *Reader) Add(c *net.TCPConn) (int, error) {
	held, err := holdAll([]*net.TCPConn{c})
	if err != nil {
		return 0, measure.Errorf(measure.KindInternal, "receive from %s: %w", c.RemoteAddr(), err)
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

// Remove gives connection i back: it is in no [Reader.Take] any more, and its
// number is free.
func (in *Reader) Remove(i int) {
	in.Drop(i)
	_ = unix.Close(in.fds[i])
	in.fds[i] = -1
}
