package sock

import (
	"net"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// LimitUnacknowledged makes the kernel close c with a time-out if sent data stays
// unacknowledged for longer than d (TCP_USER_TIMEOUT of tcp(7), in steps of 1 ms). Errors
// are of kind usage.
func LimitUnacknowledged(c *net.TCPConn, d time.Duration) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return measure.Fail(measure.KindBroken, "sock.options", measure.Figures{"cause": err})
	}
	var inner error
	err = raw.Control(func(fd uintptr) {
		inner = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds()))
	})
	if err == nil {
		err = inner
	}
	if err != nil {
		return refused("TCP_USER_TIMEOUT", d, err)
	}
	return nil
}
