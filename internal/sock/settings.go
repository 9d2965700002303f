package sock

import (
	"errors"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"soku/internal/measure"
)

// Settings are the options of a trial that are set on a socket. The zero value
// of each leaves the system's default, except NoDelay: see [Settings.Apply].
type Settings struct {
	Window     measure.Size // SO_SNDBUF and SO_RCVBUF, bytes
	Congestion string       // TCP_CONGESTION, TCP only
	MSS        int          // TCP_MAXSEG in bytes, TCP only; counts only before the connection is made
	NoDelay    bool         // TCP_NODELAY, TCP only
	TOS        int          // type-of-service byte or traffic class, 0..255
	FlowLabel  int          // of IPv6, 1..0xfffff; 0 is the kernel's. See [Settings.Control]
	NoFragment bool         // datagrams leave whole or not at all, UDP only
	Device     string       // name of the network interface
	ReusePort  bool         // SO_REUSEADDR and SO_REUSEPORT
}

// FromOptions are the settings that the options of a trial ask for.
func FromOptions(o measure.Options) Settings {
	return Settings{
		Window: o.Window, Congestion: o.Congestion, MSS: o.MSS,
		NoDelay: o.NoDelay, TOS: o.TOS, Device: o.Device, FlowLabel: o.FlowLabel, NoFragment: o.NoFragment,
	}
}

// Network is the network name that package net wants: base ("tcp", "udp") with
// "4" or "6" for an IP version of 4 or 6, base alone for 0.
func Network(base string, ipVersion int) string {
	switch ipVersion {
	case 4:
		return base + "4"
	case 6:
		return base + "6"
	}
	return base
}

// Control sets s on a socket that is not bound yet; it is made for
// [net.Dialer] and [net.ListenConfig]. NoDelay is left out, because package
// net sets it anew on every connection: that is for [Settings.Apply]. So is the
// FlowLabel of UDP; that of a TCP client is for [DialerFor].
// Errors name the option and are of kind usage or permission.
func (s Settings) Control(network, address string, c syscall.RawConn) error {
	if s.FlowLabel != 0 && strings.HasSuffix(network, "4") {
		return noLabel(address)
	}
	s.FlowLabel = 0
	return s.control(network, c)
}

// Apply sets s on a connection that is open already, accepted or dialled, as
// far as an open socket can take it: Device, ReusePort and MSS count only
// before that and are left alone. NoDelay false sets Nagle's algorithm, which
// package net has off. FlowLabel of an accepted connection becomes what the peer
// labels its own packets with, from the next of them on, where the system allows that,
// or an error of kind permission; that of a connection of [DialerFor] is there already. Without
// Congestion, what a listener that is [Unpaced] accepted gets the system's. Errors are those of [Settings.Control].
func (s Settings) Apply(c net.Conn) error {
	s.Device, s.ReusePort, s.MSS = "", false, 0
	if t, ok := c.(*net.TCPConn); ok {
		if err := t.SetNoDelay(s.NoDelay); err != nil {
			return refused("TCP_NODELAY", s.NoDelay, err)
		}
		if s.Congestion == "" {
			SystemCongestion(t)
		}
	}
	s.NoDelay = false
	if s.FlowLabel != 0 && AddrPort(c.RemoteAddr()).Addr().Is4() {
		return noLabel(c.RemoteAddr().String())
	}
	if s == (Settings{}) {
		return nil
	}
	sc, ok := c.(syscall.Conn)
	if !ok {
		return measure.Errorf(measure.KindInternal, "set socket options on a %T: it is no socket", c)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return measure.Errorf(measure.KindBroken, "set socket options: %w", err)
	}
	return s.control(c.LocalAddr().Network(), raw)
}

func (s Settings) control(network string, c syscall.RawConn) error {
	tcp := strings.HasPrefix(network, "tcp")
	if !tcp && s.Congestion != "" {
		return onlyTCP("congestion", network)
	}
	if !tcp && s.MSS != 0 {
		return onlyTCP("mss", network)
	}
	if tcp {
		s.NoFragment = false // TCP makes its segments as large as the path carries
	}
	var inner error
	if err := c.Control(func(fd uintptr) { inner = s.set(fd, network) }); err != nil {
		return measure.Errorf(measure.KindInternal, "set socket options: %w", err)
	}
	return inner
}

func noLabel(address string) error {
	return measure.Errorf(measure.KindUsage, "label the packets to %s: IPv4 has no flow labels", address).
		WithHint("use -6, or leave the flow label out")
}

func onlyTCP(option, network string) error {
	return measure.Errorf(measure.KindUsage, "%s does not apply to %s sockets", option, strings.TrimRight(network, "46")).
		WithHint("leave it out, or measure over TCP")
}

// refused is the error for an option that the system did not take.
func refused(option string, value any, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return measure.Errorf(measure.KindPermission, "set socket option %s to %v: %w", option, value, err).
			WithHint("run as root or with CAP_NET_ADMIN and CAP_NET_RAW, or leave the option out")
	}
	return measure.Errorf(measure.KindUsage, "set socket option %s to %v: %w", option, value, err).
		WithHint("this system does not take that value")
}
