package sock

import (
	"errors"
	"net/netip"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

func (s Settings) set(handle uintptr, network string) error {
	fd := int(handle)
	if s.ReusePort {
		for name, opt := range map[string]int{"SO_REUSEADDR": unix.SO_REUSEADDR, "SO_REUSEPORT": unix.SO_REUSEPORT} {
			if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, opt, 1); err != nil {
				return refused(name, 1, err)
			}
		}
	}
	if s.Device != "" {
		if err := bindDevice(fd, s.Device); err != nil {
			return err
		}
	}
	if s.Window > 0 {
		if err := setWindow(fd, s.Window, !s.Unprivileged); err != nil {
			return err
		}
	}
	if s.Congestion != "" {
		if s.Unprivileged {
			if err := isLoaded(s.Congestion); err != nil {
				return err
			}
		}
		if err := setCongestion(fd, s.Congestion); err != nil {
			return err
		}
	}
	if s.MSS > 0 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG, s.MSS); err != nil {
			return refused("TCP_MAXSEG", s.MSS, err)
		}
	}
	if s.NoFragment {
		if err := forbidFragments(fd); err != nil {
			return err
		}
	}
	if s.FlowLabel > 0 {
		if err := label(fd, s.FlowLabel, strings.HasPrefix(network, "tcp")); err != nil {
			return err
		}
	}
	return setTOS(fd, s.TOS)
}

func bindDevice(fd int, name string) error {
	err := unix.BindToDevice(fd, name)
	if errors.Is(err, unix.ENODEV) {
		return measure.Fail(measure.KindUsage, "sock.device.unknown", measure.Figures{"device": name})
	}
	if err != nil {
		return refused("SO_BINDTODEVICE", name, err)
	}
	return nil
}

// setWindow sets both buffers. The kernel silently reduces a value above its limit, so
// the value is read back; a privileged process may exceed the limit with force.
func setWindow(fd int, size measure.Size, force bool) error {
	for _, b := range []struct {
		name         string
		plain, force int
		knob         string
	}{
		{"SO_SNDBUF", unix.SO_SNDBUF, unix.SO_SNDBUFFORCE, "net.core.wmem_max"},
		{"SO_RCVBUF", unix.SO_RCVBUF, unix.SO_RCVBUFFORCE, "net.core.rmem_max"},
	} {
		got := 0
		ways := []int{b.plain, b.force}
		if !force {
			ways = ways[:1]
		}
		for _, opt := range ways {
			err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, opt, int(size))
			if err != nil && opt == b.plain {
				return refused(b.name, size, err)
			}
			doubled, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, b.plain)
			if err != nil {
				return refused(b.name, size, err)
			}
			// The kernel doubles the value for its own overhead: socket(7).
			if got = doubled / 2; got >= int(size) {
				break
			}
		}
		if got < int(size) {
			return windowCapped(b.name, size, got, b.knob)
		}
	}
	return nil
}

func setCongestion(fd int, name string) error {
	err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EINVAL):
		return unknownCongestion(name, err)
	case errors.Is(err, unix.EPERM):
		return measure.Fail(measure.KindPermission, "sock.congestion.permission", measure.Figures{"name": name, "cause": err})
	}
	return refused("TCP_CONGESTION", name, err)
}

func unknownCongestion(name string, cause error) error {
	e := measure.Fail(measure.KindUsage, "sock.congestion.unknown", measure.Figures{"name": name, "cause": cause})
	if available := congestionControls("available"); len(available) > 0 {
		return e.WithHintCode("sock.congestion.available", measure.Figures{"available": available})
	}
	return e
}

// isLoaded is an error where the kernel does not have a congestion control already: it
// would load a module for a privileged process that sets it.
func isLoaded(name string) error {
	available := congestionControls("available")
	if len(available) == 0 || slices.Contains(available, name) { // an unknown list is the kernel's to check
		return nil
	}
	return unknownCongestion(name, unix.ENOENT)
}

// congestionControls returns the controls "allowed" for every user, or all "available" ones. It
// returns nil if they are unknown.
func congestionControls(which string) []string {
	b, _ := os.ReadFile("/proc/sys/net/ipv4/tcp_" + which + "_congestion_control")
	return strings.Fields(string(b))
}

// setTOS sets the type-of-service byte or traffic class. An IPv6 socket may carry IPv4
// (mapped addresses), so both options are set; on an IPv6-only socket the IPv4 option has
// no effect.
func setTOS(fd, tos int) error {
	if tos == 0 {
		return nil
	}
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return refused("IP_TOS", tos, err)
	}
	if domain == unix.AF_INET6 {
		// Multipath TCP does not have this option, and an IPv4 connection does not need
		// it.
		err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, tos)
		if needless := errors.Is(err, unix.EOPNOTSUPP) && isMapped(fd); err != nil && !needless {
			return refused("IPV6_TCLASS", tos, err)
		}
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, tos); err != nil {
		return refused("IP_TOS", tos, err)
	}
	return nil
}

// isMapped reports whether an IPv6 socket is connected over IPv4.
func isMapped(fd int) bool {
	peer, err := unix.Getpeername(fd)
	six, ok := peer.(*unix.SockaddrInet6)
	return err == nil && ok && netip.AddrFrom16(six.Addr).Is4In6()
}

// forbidFragments makes the kernel reject a datagram that it would have to fragment
// (IP_MTU_DISCOVER of ip(7)). An IPv6 socket may carry IPv4, so both options are set.
func forbidFragments(fd int) error {
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return refused("IP_MTU_DISCOVER", "IP_PMTUDISC_DO", err)
	}
	if domain == unix.AF_INET6 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_DO); err != nil {
			return refused("IPV6_MTU_DISCOVER", "IPV6_PMTUDISC_DO", err)
		}
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO); err != nil {
		return refused("IP_MTU_DISCOVER", "IP_PMTUDISC_DO", err)
	}
	return nil
}
