package sock

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// Unanswered reports whether c waits for an acknowledgement, of data or of a probe of a full
// receiver that was sent at least twice, and how long ago the last one came (TCP_INFO). A
// receiver that is full acknowledges probes, so that it is none that does not answer. ok is
// false if the system does not tell.
func Unanswered(c *net.TCPConn) (waits bool, last time.Duration, ok bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return false, 0, false
	}
	var info *unix.TCPInfo
	var infoErr error
	err = raw.Control(func(fd uintptr) { info, infoErr = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) })
	if err != nil || infoErr != nil {
		return false, 0, false
	}
	return info.Unacked > 0 || info.Probes > 1, time.Duration(info.Last_ack_recv) * time.Millisecond, true
}
