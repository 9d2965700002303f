package probe

import (
	"errors"
	"net"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// Prepare sets the options device, tos and bind on a socket to target. what is the test,
// for errors, which are of kind usage or permission.
func Prepare(fd int, what string, target netip.Addr, o measure.Options) error {
	if o.Device != "" {
		if err := unix.BindToDevice(fd, o.Device); err != nil {
			return deviceError(what, o.Device, err)
		}
	}
	if o.TOS != 0 {
		level, option := unix.IPPROTO_IP, unix.IP_TOS
		if target.Is6() {
			level, option = unix.IPPROTO_IPV6, unix.IPV6_TCLASS
		}
		if err := unix.SetsockoptInt(fd, level, option, o.TOS); err != nil {
			return measure.Fail(measure.KindUsage, "probe.tos", measure.Figures{
				"test": what, "target": target.String(), "tos": o.TOS, "cause": err,
			})
		}
	}
	if o.Bind == "" {
		return nil
	}
	addr, err := netip.ParseAddr(o.Bind)
	if err != nil || addr.Unmap().Is6() != target.Is6() {
		return measure.Fail(measure.KindUsage, "probe.bind.family", measure.Figures{
			"test": what, "target": target.String(), "bind": o.Bind,
		})
	}
	if err := unix.Bind(fd, Sockaddr(addr.Unmap(), 0)); err != nil {
		return measure.Fail(measure.KindUsage, "probe.bind", measure.Figures{
			"test": what, "target": target.String(), "bind": o.Bind, "cause": err,
		})
	}
	return nil
}

func deviceError(what, device string, err error) error {
	if errors.Is(err, unix.EPERM) {
		return measure.Fail(measure.KindPermission, "probe.device.permission", measure.Figures{
			"test": what, "device": device, "cause": err,
		})
	}
	return measure.Fail(measure.KindUsage, "probe.device", measure.Figures{"test": what, "device": device, "cause": err})
}

// ReportErrors makes the kernel put ICMP errors about packets of the socket, and their
// senders, into its error queue.
func ReportErrors(fd int, v6 bool) error {
	if v6 {
		return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVERR, 1)
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_RECVERR, 1)
}

// LetIn filters all ICMP messages except those of the given types from a raw socket.
func LetIn(fd int, v6 bool, types ...uint) {
	if v6 {
		var block unix.ICMPv6Filter
		for i := range block.Data {
			block.Data[i] = 1<<32 - 1
		}
		for _, typ := range types {
			block.Data[typ/32] &^= 1 << (typ % 32)
		}
		_ = unix.SetsockoptICMPv6Filter(fd, unix.IPPROTO_ICMPV6, unix.ICMPV6_FILTER, &block)
		return
	}
	const icmpFilter = 1 // ICMP_FILTER of linux/icmp.h
	block := uint32(1<<32 - 1)
	for _, typ := range types {
		block &^= 1 << typ
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_RAW, icmpFilter, int(int32(block)))
}

// Sockaddr converts an address for system calls.
func Sockaddr(a netip.Addr, port int) unix.Sockaddr {
	if a.Is4() {
		return &unix.SockaddrInet4{Addr: a.As4(), Port: port}
	}
	return &unix.SockaddrInet6{Addr: a.As16(), Port: port, ZoneId: zoneIndex(a.Zone())}
}

func zoneIndex(zone string) uint32 {
	if i, err := net.InterfaceByName(zone); err == nil {
		return uint32(i.Index)
	}
	n, _ := strconv.ParseUint(zone, 10, 32)
	return uint32(n)
}

// AddrOf converts an address from system calls, without its zone.
func AddrOf(sa unix.Sockaddr) netip.Addr {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrFrom4(sa.Addr)
	case *unix.SockaddrInet6:
		return netip.AddrFrom16(sa.Addr)
	}
	return netip.Addr{}
}

func portOf(sa unix.Sockaddr) int {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return sa.Port
	case *unix.SockaddrInet6:
		return sa.Port
	}
	return 0
}
