package sock

import (
	"net"
	"os"
	"strings"
	"syscall"
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

// AcknowledgeAtOnce has the kernel acknowledge what arrives on c without waiting for data to
// send with it (TCP_QUICKACK of tcp(7)), until this end sends again. The round trips that the
// other end measures are those of the path then.
func AcknowledgeAtOnce(c syscall.Conn) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1) })
	}
}

// unpaced is a congestion control that every kernel has and every process may choose.
const unpaced = "reno"

// Unpaced makes l accept connections whose congestion control has not enabled pacing.
// Some congestion controls, bbr among them, make the kernel pace a connection from its
// acceptance on, and it continues after another one is chosen (sk_pacing_status is never
// reset): cubic then reached a fifth of its rate. Accepted connections therefore use reno
// until the caller sets the options of a test with [Settings.Apply], or calls
// [SystemCongestion]. If the system's default is cubic or reno, or may not be chosen
// again, l is not changed.
func Unpaced(l *net.TCPListener) {
	own, known := systemCongestion()
	if !known || !paces(own) {
		return
	}
	onSocket(l, func(fd int) {
		if unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, own) == nil { // check that it can be chosen again later
			_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, unpaced)
		}
	})
}

// SystemCongestion gives c the system's default congestion control if [Unpaced] had
// replaced it.
func SystemCongestion(c *net.TCPConn) {
	onSocket(c, func(fd int) {
		if has, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION); err != nil || has != unpaced {
			return
		}
		if own, known := systemCongestion(); known && paces(own) {
			_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, own)
		}
	})
}

// paces reports whether a congestion control may make the kernel pace.
func paces(name string) bool { return name != "cubic" && name != unpaced }

func systemCongestion() (name string, known bool) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control")
	name = strings.TrimSpace(string(text))
	return name, err == nil && name != ""
}

func onSocket(c syscall.Conn, f func(fd int)) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { f(int(fd)) })
	}
}
