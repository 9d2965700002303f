package host

import (
	"context"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

func detailSources(f measure.Facts) []detailSource {
	const system tree = ""
	sources := []detailSource{
		func(context.Context) func(*measure.Details) {
			p := system.processor()
			return func(d *measure.Details) { d.Processor = p }
		},
		func(context.Context) func(*measure.Details) {
			l := system.limits()
			return func(d *measure.Details) { d.Limits = l }
		},
		func(context.Context) func(*measure.Details) {
			disks := system.disks(".")
			return func(d *measure.Details) { d.Disks = disks }
		},
		func(context.Context) func(*measure.Details) {
			t := timeSync()
			return func(d *measure.Details) { d.TimeSync = t }
		},
	}
	if f.Interface == "" {
		return sources
	}
	return append(sources, func(context.Context) func(*measure.Details) {
		n := system.nic(f.Interface)
		return func(d *measure.Details) { d.NIC = n }
	})
}

// RouteMTU returns the largest packet in bytes that the system would send to the address: the
// MTU of the route or the learned path MTU, otherwise the interface's, or 0 if unknown.
func RouteMTU(remote netip.Addr) int {
	if !remote.IsValid() {
		return 0
	}
	routes, err := netlink.RouteGet(net.IP(remote.Unmap().AsSlice()))
	if err != nil || len(routes) == 0 {
		return 0
	}
	if routes[0].MTU > 0 {
		return routes[0].MTU
	}
	i, err := net.InterfaceByIndex(routes[0].LinkIndex)
	if err != nil {
		return 0
	}
	return i.MTU
}

// timeSync is the state of the kernel's clock, whichever program corrects it.
func timeSync() *measure.TimeSync {
	var t unix.Timex // without modes it only reads
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return nil
	}
	return timeSyncOf(state, &t)
}

func timeSyncOf(state int, t *unix.Timex) *measure.TimeSync {
	if state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0 {
		return &measure.TimeSync{} // the other members are not maintained
	}
	s := &measure.TimeSync{
		Synchronized:     true,
		EstimatedErrorNs: t.Esterror * 1000, MaximumErrorNs: t.Maxerror * 1000, OffsetNs: t.Offset,
	}
	if t.Status&unix.STA_NANO == 0 {
		s.OffsetNs *= 1000
	}
	return s
}
