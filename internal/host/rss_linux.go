package host

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// mostEntries bounds a table of receive side scaling; drivers have 128 to some thousands.
const mostEntries = 1 << 16

// rss reads the table of an interface (ETHTOOL_GRXFHINDIR); nil if it has none. The library
// that reads the rest has room for 256 entries only, and the kernel writes all.
func rss(iface string) *measure.RSS {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	head := []uint32{unix.ETHTOOL_GRXFHINDIR, 0}
	if indirection(fd, iface, head) != nil || head[1] == 0 || head[1] > mostEntries {
		return nil
	}
	table := make([]uint32, len(head)+int(head[1]))
	copy(table, head)
	if indirection(fd, iface, table) != nil {
		return nil
	}
	entries := table[len(head):]
	queues := slices.Compact(slices.Sorted(slices.Values(entries)))
	return &measure.RSS{Entries: len(entries), Queues: len(queues)}
}

// indirection has the kernel write the table behind its command and size. With the size 0
// it writes the size alone; with any other than its own it fails.
func indirection(fd int, iface string, table []uint32) error {
	request := struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte // a request has 24 bytes behind the name
	}{data: unsafe.Pointer(unsafe.SliceData(table))}
	copy(request.name[:unix.IFNAMSIZ-1], iface)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	return nil
}
