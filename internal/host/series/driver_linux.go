package series

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	mostStatistics = 8192 // of a driver; one with more has no columns
	statisticName  = 32   // ETH_GSTRING_LEN
	statisticsSet  = 1    // ETH_SS_STATS
)

// ethtoolOf is the statistics of the interface's driver, in the network namespace of the
// calling thread.
func ethtoolOf(iface string) opener {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return none
	}
	return func() Source {
		d := &driver{fd: fd}
		if copy(d.request.name[:unix.IFNAMSIZ-1], iface) < len(iface) {
			d.close()
			return none()
		}
		names := d.names()
		columns, places := driverColumns(names)
		if len(columns) == 0 {
			d.close()
			return none()
		}
		d.places, d.buf = places, make([]byte, 8+8*len(names))
		return Source{Columns: columns, Read: d.read, Close: d.close}
	}
}

// driver reads the statistics of one interface (ETHTOOL_GSTATS of ethtool's ioctl interface).
type driver struct {
	fd      int
	request struct { // struct ifreq
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [24 - unsafe.Sizeof(uintptr(0))]byte
	}
	places []int // of each statistic the column, -1 for none
	buf    []byte
}

func (d *driver) close() { _ = unix.Close(d.fd) }

func (d *driver) call(b []byte) bool {
	d.request.data = unsafe.Pointer(&b[0])
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(d.fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&d.request)))
	return errno == 0
}

// names are those of all statistics, in order; nil where the driver has none.
func (d *driver) names() []string {
	var info unix.EthtoolDrvinfo
	size := int(unsafe.Sizeof(info))
	b := unsafe.Slice((*byte)(unsafe.Pointer(&info)), size)
	info.Cmd = unix.ETHTOOL_GDRVINFO
	if !d.call(b) || info.N_stats == 0 || info.N_stats > mostStatistics {
		return nil
	}
	n := int(info.N_stats)
	// struct ethtool_gstrings: command, set, length, names. One more, as the kernel does not
	// know how much there is room for.
	text := make([]byte, 12+statisticName*mostStatistics)
	binary.NativeEndian.PutUint32(text, unix.ETHTOOL_GSTRINGS)
	binary.NativeEndian.PutUint32(text[4:], statisticsSet)
	binary.NativeEndian.PutUint32(text[8:], uint32(n))
	if !d.call(text) || int(binary.NativeEndian.Uint32(text[8:])) != n {
		return nil
	}
	names := make([]string, n)
	for i := range names {
		name := text[12+i*statisticName:][:statisticName]
		name, _, _ = bytes.Cut(name, []byte{0})
		names[i] = string(name)
	}
	return names
}

// read adds up the statistics of each column.
func (d *driver) read(row []int64) {
	n := len(d.places)
	clear(d.buf)
	binary.NativeEndian.PutUint32(d.buf, unix.ETHTOOL_GSTATS) // struct ethtool_stats: command, number, values
	binary.NativeEndian.PutUint32(d.buf[4:], uint32(n))
	if !d.call(d.buf) || int(binary.NativeEndian.Uint32(d.buf[4:])) != n {
		return
	}
	for i, place := range d.places {
		if place >= 0 {
			add(row, place, int64(binary.NativeEndian.Uint64(d.buf[8+8*i:])&^(1<<63)))
		}
	}
}
