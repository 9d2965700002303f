package sock

import (
	"net"
	"strings"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

const system = "macOS"

func (s Settings) set(handle uintptr, network string) error {
	fd := int(handle)
	v6 := strings.HasSuffix(network, "6")
	if name, err := unix.Getsockname(fd); err == nil {
		_, v6 = name.(*unix.SockaddrInet6)
	}
	switch {
	case s.Congestion != "":
		return unsupported("congestion")
	case s.FlowLabel != 0:
		return unsupported("flow_label")
	case s.NoFragment:
		return unsupported("dont_fragment")
	}
	if s.ReusePort {
		for name, opt := range map[string]int{"SO_REUSEADDR": unix.SO_REUSEADDR, "SO_REUSEPORT": unix.SO_REUSEPORT} {
			if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, opt, 1); err != nil {
				return refused(name, 1, err)
			}
		}
	}
	if s.Device != "" {
		if err := bindDevice(fd, s.Device, v6); err != nil {
			return err
		}
	}
	if s.Window > 0 {
		if err := setWindow(fd, s.Window); err != nil {
			return err
		}
	}
	if s.MSS > 0 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG, s.MSS); err != nil {
			return refused("TCP_MAXSEG", s.MSS, err)
		}
	}
	return setTOS(fd, s.TOS, v6)
}

func bindDevice(fd int, name string, v6 bool) error {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return measure.Fail(measure.KindUsage, "sock.device.darwin", measure.Figures{"device": name, "cause": err})
	}
	if v6 {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_BOUND_IF, i.Index)
	} else {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BOUND_IF, i.Index)
	}
	if err != nil {
		return refused("IP_BOUND_IF", name, err)
	}
	return nil
}

func setWindow(fd int, size measure.Size) error {
	for name, opt := range map[string]int{"SO_SNDBUF": unix.SO_SNDBUF, "SO_RCVBUF": unix.SO_RCVBUF} {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, opt, int(size)); err != nil {
			return refused(name, size, err)
		}
		if got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, opt); err == nil && got < int(size) {
			return windowCapped(name, size, got, "kern.ipc.maxsockbuf")
		}
	}
	return nil
}

// setTOS sets the type-of-service byte or traffic class. On macOS an IPv6 socket has no
// IPv4 options, so a dual-stack socket that carries IPv4 (mapped addresses) cannot be
// marked.
func setTOS(fd, tos int, v6 bool) error {
	if tos == 0 {
		return nil
	}
	if !v6 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, tos); err != nil {
			return refused("IP_TOS", tos, err)
		}
		return nil
	}
	if name, err := unix.Getsockname(fd); err == nil {
		if a, ok := name.(*unix.SockaddrInet6); ok && net.IP(a.Addr[:]).To4() != nil {
			return measure.Fail(measure.KindUsage, "sock.tos.dual_stack", measure.Figures{"tos": tos})
		}
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, tos); err != nil {
		return refused("IPV6_TCLASS", tos, err)
	}
	return nil
}
