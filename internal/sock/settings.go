package sock

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"soku/internal/measure"
)

// Settings are the socket options of a trial. A zero field leaves the system's default,
// except NoDelay: see [Settings.Apply].
type Settings struct {
	Window     measure.Size // SO_SNDBUF and SO_RCVBUF, bytes
	Congestion string       // TCP_CONGESTION, TCP only
	MSS        int          // TCP_MAXSEG in bytes, TCP only; has no effect once connected
	NoDelay    bool         // TCP_NODELAY, TCP only
	TOS        int          // type-of-service byte or traffic class, 0..255
	FlowLabel  int          // of IPv6, 1..0xfffff; 0 lets the kernel choose. See [Settings.Control]
	NoFragment bool         // datagrams are not fragmented by this host, UDP only
	Device     string       // name of the network interface
	ReusePort  bool         // SO_REUSEADDR and SO_REUSEPORT

	// Unprivileged keeps within what the system has, also in a process with more rights:
	// buffers within the limits for any user, and a congestion control that is loaded. It is
	// for options that come from the network.
	Unprivileged bool
}

// Setter is implemented by the own options of a test ([measure.Options].Own) where some of
// them are socket options: Set sets them in s.
type Setter interface{ Set(s *Settings) }

// FromOptions returns the settings for the options of a trial.
func FromOptions(o measure.Options) Settings {
	s := Settings{
		Window: o.Window, Congestion: o.Congestion, TOS: o.TOS, Device: o.Device, FlowLabel: o.FlowLabel,
	}
	if own, ok := o.Own.(Setter); ok {
		own.Set(&s)
	}
	return s
}

// Network returns the network name for package net: base ("tcp", "udp") with "4" or "6"
// appended for that IP version, base alone for 0.
func Network(base string, ipVersion int) string {
	switch ipVersion {
	case 4:
		return base + "4"
	case 6:
		return base + "6"
	}
	return base
}

// Control sets s on a socket that is not bound yet; it has the signature that
// [net.Dialer] and [net.ListenConfig] need. It leaves out NoDelay, because package net
// sets it again on every connection ([Settings.Apply] sets it), and the FlowLabel of UDP
// ([Settings.Apply]) and of TCP clients ([DialerFor]). Errors name the option and are of
// kind usage or permission.
func (s Settings) Control(network, address string, c syscall.RawConn) error {
	if s.FlowLabel != 0 && strings.HasSuffix(network, "4") {
		return noLabel(address)
	}
	s.FlowLabel = 0
	return s.control(network, c)
}

// Apply sets s on an open connection, accepted or dialled, as far as possible: Device,
// ReusePort and MSS have no effect any more and are skipped. NoDelay false enables
// Nagle's algorithm, which package net disables. For an accepted connection FlowLabel
// means to mirror the peer's label from its next packet on, if the system allows that;
// otherwise the error has kind permission. A connection of [DialerFor] already has its
// label. Without Congestion, a connection from an [Unpaced] listener gets the system's
// default. It fails as [Settings.Control] does.
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
	if s == (Settings{Unprivileged: s.Unprivileged}) {
		return nil
	}
	sc, ok := c.(syscall.Conn)
	if !ok {
		return measure.Fail(measure.KindInternal, "sock.no_socket", measure.Figures{"type": fmt.Sprintf("%T", c)})
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return measure.Fail(measure.KindBroken, "sock.options", measure.Figures{"cause": err})
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
		s.NoFragment = false // TCP adapts its segments to the path MTU
	}
	var inner error
	if err := c.Control(func(fd uintptr) { inner = s.set(fd, network) }); err != nil {
		return measure.Fail(measure.KindInternal, "sock.options", measure.Figures{"cause": err})
	}
	return inner
}

func noLabel(address string) error {
	return measure.Fail(measure.KindUsage, "sock.flow_label.ipv4", measure.Figures{"address": address})
}

func onlyTCP(option, network string) error {
	return measure.Fail(measure.KindUsage, "sock.only_tcp", measure.Figures{
		"option": option, "network": strings.TrimRight(network, "46"),
	})
}

// refused returns the error for an option that the system rejected.
func refused(option string, value any, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return measure.Fail(measure.KindPermission, "sock.option.permission", measure.Figures{
			"option": option, "value": fmt.Sprint(value), "cause": err,
		})
	}
	return measure.Fail(measure.KindUsage, "sock.option", measure.Figures{
		"option": option, "value": fmt.Sprint(value), "cause": err,
	})
}

// receiveQueue is the receive buffer of a UDP socket in bytes if the trial's options set
// none. The usual default holds 1 ms of 1 Gbit/s, so a short pause of this process would
// look like loss on the path.
const receiveQueue = 4 << 20

// RaiseQueue gives a UDP socket a receive buffer that outlasts a short pause of this
// process, as far as the system allows; on Linux a privileged process exceeds the limit.
// Call it before the peer learns the socket's address, because datagrams may arrive from
// then on.
func RaiseQueue(c net.Conn) {
	if b, ok := c.(interface{ SetReadBuffer(int) error }); ok && !forceQueue(c) {
		_ = b.SetReadBuffer(receiveQueue)
	}
}
