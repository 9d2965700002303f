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

// Unpaced lets l accept connections that no congestion control has begun to pace. Some,
// bbr among them, make the kernel pace a connection as soon as it is accepted, and it
// goes on to when another is chosen (sk_pacing_status is never taken back): cubic had a
// fifth of its rate so. Who takes a connection sets the options of a test with
// [Settings.Apply], or calls [SystemCongestion]; until then it is one of reno. Where the
// system's own is cubic or reno, or may not be chosen, l stays as it is.
func Unpaced(l *net.TCPListener) {
	own, known := systemCongestion()
	if !known || !paces(own) {
		return
	}
	onSocket(l, func(fd int) {
		if unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, own) == nil { // so it may be chosen again
			_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, unpaced)
		}
	})
}

// SystemCongestion gives c the system's congestion control where [Unpaced] kept c from it.
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

// paces tells whether a congestion control may make the kernel pace.
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
