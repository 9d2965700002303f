package sock

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// longestQueue bounds what one connection queues; more than that brought nothing.
const longestQueue = 16 << 20

// LongQueues are the bounds of send queues for each of some connections, bytes as the
// kernel counts them. Up to least its own growing comes (net.ipv4.tcp_wmem), which a size
// of one's own ends; with most all of them take no more than half of what it lets all TCP
// of the host have without watching its memory (net.ipv4.tcp_mem). Where most is not
// above least, leave queues alone.
func LongQueues(connections int) (least, most int64) {
	least, known := kernelSetting("net/ipv4/tcp_wmem", 2)
	pages, knownToo := kernelSetting("net/ipv4/tcp_mem", 0)
	if !known || !knownToo || connections < 1 {
		return 0, 0
	}
	return least, min(longestQueue, pages*int64(os.Getpagesize())/2/int64(connections))
}

// Lengthen lets connection i queue n bytes, as the kernel counts them, for good. It does
// nothing where the process may not ask for as many (net.core.wmem_max): the kernel would
// give less without a word, and end its own growing.
func (o *Outlet) Lengthen(i int, n int64) {
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
