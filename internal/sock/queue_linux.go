package sock

import (
	"math"
	"net"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// forceQueue sets the buffer of [RaiseQueue] beyond the system's limit, and returns false if this
// process lacks the privilege.
func forceQueue(c net.Conn) bool {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	var inner error
	err = raw.Control(func(fd uintptr) {
		inner = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveQueue)
	})
	return err == nil && inner == nil
}

// PathMTU returns the path MTU of a connected UDP socket as the kernel knows it, in bytes
// with the IP header (IP_MTU of ip(7)), or false if unknown.
func PathMTU(c net.Conn) (bytes int, ok bool) {
	sc, is := c.(syscall.Conn)
	if !is {
		return 0, false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, false
	}
	level, option := unix.IPPROTO_IP, unix.IP_MTU
	if !AddrPort(c.RemoteAddr()).Addr().Is4() {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_MTU
	}
	var inner error
	err = raw.Control(func(fd uintptr) { bytes, inner = unix.GetsockoptInt(int(fd), level, option) })
	return bytes, err == nil && inner == nil
}

// longestQueue limits the send queue of one connection in bytes; longer ones brought no
// gain.
const longestQueue = 16 << 20

// LongQueues returns the limits of the send queue of each of some connections, in bytes
// as the kernel counts them. Up to least the kernel grows a queue by itself
// (net.ipv4.tcp_wmem); setting a size explicitly stops that. With most on each, all
// connections together use at most half of the memory that TCP on this host may use
// before memory pressure (the first number of net.ipv4.tcp_mem), and a quarter of the
// memory limit of this process's control group. If most is not above least, do not change
// the queues.
func LongQueues(connections int) (least, most int64) {
	least, known := kernelSetting("net/ipv4/tcp_wmem", 2)
	if !known || connections < 1 {
		return 0, 0
	}
	all := min(unwatchedTCP()/2, controlGroupMemory("/proc/self/cgroup", "/sys/fs/cgroup")/4)
	return least, min(longestQueue, all/int64(connections))
}

// unwatchedTCP returns the first number of net.ipv4.tcp_mem in bytes. Network namespaces,
// containers among them, do not show it. There it is the kernel's default at boot: three
// quarters of a sixteenth of the host's memory (tcp_init_mem).
func unwatchedTCP() int64 {
	if pages, known := kernelSetting("net/ipv4/tcp_mem", 0); known {
		return pages * int64(os.Getpagesize())
	}
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) != nil {
		return 0
	}
	return int64(s.Totalram) * int64(s.Unit) / 16 / 4 * 3
}

// controlGroupMemory returns the smallest memory.max of the process's control group and
// its parents, in bytes: socket queues count towards it. If there is no limit, or the
// system uses version 1 of control groups, which accounts them separately, it is the
// largest number.
func controlGroupMemory(membership, root string) int64 {
	text, _ := os.ReadFile(membership)
	_, own, unified := strings.Cut("\n"+string(text), "\n0::")
	least := int64(math.MaxInt64)
	if !unified {
		return least
	}
	own, _, _ = strings.Cut(own, "\n")
	for group := path.Clean("/" + own); ; group = path.Dir(group) {
		limit, _ := os.ReadFile(path.Join(root, group, "memory.max"))
		if n, err := strconv.ParseInt(strings.TrimSpace(string(limit)), 10, 64); err == nil {
			least = min(least, n)
		}
		if group == "/" {
			return least
		}
	}
}

// Lengthen sets the send queue of connection i to n bytes, as the kernel counts them, for
// good. It does nothing if n exceeds what the process may set (net.core.wmem_max): the
// kernel would silently set less and switch off its automatic tuning.
func (o *Writer) Lengthen(i int, n int64) {
	half := int(n / 2) // the kernel doubles it: socket(7)
	if unix.SetsockoptInt(o.fds[i], unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, half) == nil {
		return // privileged
	}
	if most, known := kernelSetting("net/core/wmem_max", 0); known && most >= int64(half) {
		_ = unix.SetsockoptInt(o.fds[i], unix.SOL_SOCKET, unix.SO_SNDBUF, half)
	}
}

// LimitUnsent makes the kernel accept bytes on connection i only while fewer than n wait to be
// sent for the first time (TCP_NOTSENT_LOWAT of tcp(7)); the length of the queue stays.
func (o *Writer) LimitUnsent(i, n int) {
	_ = unix.SetsockoptInt(o.fds[i], unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, n) // without it the flow is only slower
}

// kernelSetting returns the number at index place of a setting below /proc/sys, or false if
// there is none.
func kernelSetting(name string, place int) (int64, bool) {
	text, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return 0, false
	}
	numbers := strings.Fields(string(text))
	if place >= len(numbers) {
		return 0, false
	}
	n, err := strconv.ParseInt(numbers[place], 10, 64)
	return n, err == nil
}
