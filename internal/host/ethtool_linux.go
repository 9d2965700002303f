package host

import (
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// Ethtool asks the driver of one interface (ethtool's ioctl interface), in the network namespace
// of the thread that opened it. It is for one goroutine at a time, and does not allocate.
type Ethtool struct {
	socket  *os.File
	request struct { // struct ifreq
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [24 - unsafe.Sizeof(uintptr(0))]byte
	}
}

// OpenEthtool opens the ethtool interface of iface, which need not exist. Without a call of
// Close, the garbage collector closes it.
func OpenEthtool(iface string) (*Ethtool, error) {
	e := &Ethtool{}
	if copy(e.request.name[:unix.IFNAMSIZ-1], iface) < len(iface) {
		return nil, unix.ENODEV
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	e.socket = os.NewFile(uintptr(fd), "ethtool")
	return e, nil
}

// Call has the kernel carry out a command, with room behind it for what the kernel writes: it
// does not ask how much there is.
func (e *Ethtool) Call(command unsafe.Pointer) error {
	e.request.data = command
	fd := e.socket.Fd()
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&e.request))); errno != 0 {
		return errno
	}
	return nil
}

// Close closes the socket.
func (e *Ethtool) Close() { _ = e.socket.Close() }

// mostEntries bounds a table of receive side scaling; drivers have 128 to some thousands.
const mostEntries = 1 << 16

// rss reads the RSS table of an interface (ETHTOOL_GRXFHINDIR), or returns nil if it has none.
// The library that reads the other values has room for 256 entries only, and the kernel writes
// all.
func rss(iface string) *measure.RSS {
	e, err := OpenEthtool(iface)
	if err != nil {
		return nil
	}
	defer e.Close()
	// Command and size, with the table behind them. With the size 0 the kernel writes the size
	// alone; with any other than its own it fails.
	head := []uint32{unix.ETHTOOL_GRXFHINDIR, 0}
	if e.Call(unsafe.Pointer(unsafe.SliceData(head))) != nil || head[1] == 0 || head[1] > mostEntries {
		return nil
	}
	table := make([]uint32, len(head)+int(head[1]))
	copy(table, head)
	if e.Call(unsafe.Pointer(unsafe.SliceData(table))) != nil {
		return nil
	}
	entries := table[len(head):]
	queues := slices.Compact(slices.Sorted(slices.Values(entries)))
	return &measure.RSS{Entries: len(entries), Queues: len(queues)}
}
