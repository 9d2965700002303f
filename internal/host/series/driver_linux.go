package series

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/host"
)

// ethtoolOf is the statistics of the interface's driver, in the network namespace of the
// calling thread.
func ethtoolOf(iface string) opener {
	e, err := host.OpenEthtool(iface)
	if err != nil {
		return none
	}
	return func() Source {
		d, columns := newDriver(e)
		if len(columns) == 0 {
			d.Close()
			return none()
		}
		return Source{Columns: columns, Read: d.read, Close: d.Close}
	}
}

// driver reads the statistics of one interface (ETHTOOL_GSTATS).
type driver struct {
	*host.Ethtool
	places []int  // of each statistic the column, -1 for none
	buf    []byte // for the most: their number grows with that of the queues, and older kernels write all
}

func newDriver(e *host.Ethtool) (d *driver, columns []Column) {
	d = &driver{Ethtool: e, buf: make([]byte, 8+8*host.MostNames)}
	columns, d.places = driverColumns(d.Names(host.Statistics))
	return d, columns
}

// read adds up the statistics of each column.
func (d *driver) read(row []int64) {
	n := len(d.places)
	binary.NativeEndian.PutUint32(d.buf, unix.ETHTOOL_GSTATS) // struct ethtool_stats: command, number, values
	binary.NativeEndian.PutUint32(d.buf[4:], uint32(n))
	if d.Call(unsafe.Pointer(&d.buf[0])) != nil || int(binary.NativeEndian.Uint32(d.buf[4:])) != n {
		return
	}
	for i, place := range d.places {
		if place >= 0 {
			add(row, place, int64(binary.NativeEndian.Uint64(d.buf[8+8*i:])&^(1<<63)))
		}
	}
}
