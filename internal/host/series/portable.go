//go:build !linux

package series

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/net"
)

// readTime bounds one source.
const readTime = 100 * time.Millisecond

// hostSources are what the system reports by gopsutil: processors and the interface. Windows
// has no softirq and no steal time, macOS no interrupt time either.
func hostSources(iface string) []opener {
	all := []opener{processors}
	if iface != "" {
		all = append(all, func() Source { return traffic(iface) })
	}
	return all
}

func processors() Source {
	read := func() []cpu.TimesStat {
		ctx, cancel := context.WithTimeout(context.Background(), readTime)
		defer cancel()
		times, _ := cpu.TimesWithContext(ctx, true)
		return times
	}
	var columns []Column
	for _, t := range read() {
		name := "cpu" + strings.TrimPrefix(t.CPU, "cpu")
		columns = append(columns, counters(name+".user_ns", name+".system_ns", name+".irq_ns")...)
	}
	ns := func(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }
	return Source{Columns: columns, Read: func(row []int64) {
		times := read()
		if 3*len(times) != len(row) {
			return
		}
		for i, t := range times {
			row[3*i], row[3*i+1], row[3*i+2] = ns(t.User+t.Nice), ns(t.System), ns(t.Irq)
		}
	}}
}

func traffic(iface string) Source {
	return Source{
		Columns: interfaceColumns,
		Read: func(row []int64) {
			ctx, cancel := context.WithTimeout(context.Background(), readTime)
			defer cancel()
			all, _ := net.IOCountersWithContext(ctx, true)
			for _, c := range all {
				if c.Name == iface {
					for i, n := range []uint64{c.BytesSent, c.PacketsSent, c.Dropout, c.Errout, c.BytesRecv, c.PacketsRecv, c.Dropin, c.Errin} {
						row[i] = int64(n)
					}
				}
			}
		},
	}
}

var began = time.Now()

// processorTime is the time that has gone by: that of a thread is not known.
func processorTime() time.Duration { return time.Since(began) }
