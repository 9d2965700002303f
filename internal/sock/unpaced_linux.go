package sock

import (
	"net"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

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
