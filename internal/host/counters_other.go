//go:build !linux

package host

import (
	"context"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/net"
)

// readTime bounds one reading.
const readTime = 100 * time.Millisecond

func readCounters(iface string) reading {
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	r := reading{at: time.Now()}
	r.userNs, r.sysNs = processTimes()
	if t, err := cpu.TimesWithContext(ctx, false); err == nil && len(t) > 0 {
		r.busyNs = int64((t[0].User + t[0].Nice + t[0].System + t[0].Irq + t[0].Softirq) * 1e9)
	}
	if iface == "" {
		return r
	}
	if all, err := net.IOCountersWithContext(ctx, true); err == nil {
		for _, c := range all {
			if c.Name == iface {
				r.rx, r.tx = int64(c.BytesRecv), int64(c.BytesSent)
				r.rxDrop, r.txDrop = int64(c.Dropin), int64(c.Dropout)
			}
		}
	}
	return r
}
