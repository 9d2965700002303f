package host

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

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
