package sock

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// longestQueue bounds what one connection queues; more than that brought nothing.
const longestQueue = 16 << 20

// LongQueues are the bounds of send queues for each of some connections, bytes as the
// kernel counts them. Up to least its own growing comes (net.ipv4.tcp_wmem), which a size
// of one's own ends; with most all of them take no more than half of what it lets all TCP
// of the host have without watching its memory (net.ipv4.tcp_mem), and a quarter of what
// this process's control group may have. Where most is not above least, leave queues alone.
func LongQueues(connections int) (least, most int64) {
	least, known := kernelSetting("net/ipv4/tcp_wmem", 2)
	if !known || connections < 1 {
		return 0, 0
	}
	all := min(unwatchedTCP()/2, controlGroupMemory("/proc/self/cgroup", "/sys/fs/cgroup")/4)
	return least, min(longestQueue, all/int64(connections))
}

// unwatchedTCP is the first number of net.ipv4.tcp_mem, in bytes. A network namespace, a
// container's for one, does not show it: there it is what the kernel chooses when it
// starts, three quarters of a sixteenth of the host's memory (tcp_init_mem).
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

// controlGroupMemory is the least memory.max of the process's control group and those
// around it, bytes: what sockets queue counts there, too. Where none bounds it, and with
// the first version of control groups, which count it apart, it is the largest number.
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

// Lengthen lets connection i queue n bytes, as the kernel counts them, for good. It does
// nothing where the process may not ask for as many (net.core.wmem_max): the kernel would
// give less without a word, and end its own growing.
func (o *Writer) Lengthen(i int, n int64) {
	half := int(n / 2) // the kernel doubles it: socket(7)
	if unix.SetsockoptInt(o.fds[i], unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, half) == nil {
		return // privileged
	}
	if most, known := kernelSetting("net/core/wmem_max", 0); known && most >= int64(half) {
		_ = unix.SetsockoptInt(o.fds[i], unix.SOL_SOCKET, unix.SO_SNDBUF, half)
	}
}

// kernelSetting is a number of a setting below /proc/sys, the one of that place; false
// where there is none.
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
