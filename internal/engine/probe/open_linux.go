package probe

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// ErrTooLong means that the packet exceeds the MTU of the interface or the route.
var ErrTooLong = errors.New("longer than the interface carries")

// Open opens a prober: for UDP and TCP with raw sockets if permitted, otherwise with
// sockets of ordinary users; for ICMP in the opposite order. An error has kind
// [measure.KindPermission] if the system allows neither, [measure.KindUnreachable]
// without a route, and [measure.KindUsage] for an option that the system rejects.
func Open(c Config) (Prober, error) {
	c.Target = c.Target.Unmap()
	base := codec{
		kind: OptionsOf(c.Options).Probe, v6: c.Target.Is6(), to: c.Target, port: uint16(c.Options.Port), token: rand.Uint64(),
	}
	var err error
	if base.from, err = localAddress(c); err != nil {
		return nil, err
	}
	ways := []func(Config, codec) (Prober, error){openRaw, openDatagrams}
	switch base.kind {
	case "icmp":
		ways[0], ways[1] = ways[1], ways[0]
	case "tcp":
		ways[1] = openConnecting
	}
	if c.Alone {
		ways = ways[:1]
		switch base.kind {
		case "udp":
			ways[0] = openDatagrams
		case "tcp":
			ways[0] = openConnecting
		}
	}
	var p Prober
	for _, way := range ways {
		if p, err = way(c, base); err == nil || !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) {
			break
		}
	}
	var known *measure.Error
	switch {
	case err == nil:
		return p, nil
	case errors.As(err, &known):
		return nil, err
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return nil, measure.Fail(measure.KindPermission, "probe.permission", measure.Figures{
			"test": c.What, "target": c.Target.String(), "probe": base.kind, "cause": err,
		})
	case errors.Is(err, unix.EMFILE):
		return nil, measure.Fail(measure.KindUsage, "probe.descriptors", measure.Figures{
			"test": c.What, "target": c.Target.String(), "flows": c.Flows, "cause": err,
		})
	}
	return nil, measure.Fail(measure.KindInternal, "probe.open", measure.Figures{
		"test": c.What, "target": c.Target.String(), "cause": err,
	})
}

// localAddress returns the source address of the path. Connecting a datagram socket sends
// nothing.
func localAddress(c Config) (netip.Addr, error) {
	fd, err := open(c, unix.SOCK_DGRAM, 0)
	if err != nil {
		return netip.Addr{}, err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, Sockaddr(c.Target, 9)); err != nil {
		return netip.Addr{}, SendError(c.What, c.Target, err)
	}
	sa, err := unix.Getsockname(fd)
	return AddrOf(sa), err
}

// open creates a socket with the options of c.
func open(c Config, kind, protocol int) (fd int, err error) {
	family := unix.AF_INET
	if c.Target.Is6() {
		family = unix.AF_INET6
	}
	if fd, err = unix.Socket(family, kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, protocol); err != nil {
		return -1, err
	}
	if err := Prepare(fd, c.What, c.Target, c.Options); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// openRaw uses one socket for all flows. This package writes the headers of its packets,
// and the kernel reports the headers quoted in errors.
func openRaw(c Config, base codec) (_ Prober, err error) {
	p := &sockets{codec: base, raw: true, how: "raw " + base.kind}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	protocol := protocolICMP
	switch {
	case base.kind == "udp":
		protocol = protocolUDP
	case base.kind == "tcp":
		protocol = protocolTCP
	case base.v6:
		protocol = protocolICMPv6
	}
	fd, err := open(c, unix.SOCK_RAW, protocol)
	if err != nil {
		return nil, err
	}
	p.fds = []int{fd}
	if base.kind == "icmp" {
		reply := uint(0)
		if base.v6 {
			reply = 129
		}
		LetIn(fd, base.v6, reply)
	}
	if err := p.ready(c, fd, 0); err != nil {
		return nil, err
	}
	for len(p.ports) < c.Flows {
		if base.kind == "icmp" {
			if id := uint16(rand.Uint32()); !slices.Contains(p.ports, id) {
				p.ports = append(p.ports, id)
			}
			continue
		}
		if err := p.reserve(c); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// reserve binds a port for a flow, so that no other program of this host gets it.
func (p *sockets) reserve(c Config) error {
	kind := unix.SOCK_DGRAM
	if p.kind == "tcp" {
		kind = unix.SOCK_STREAM
	}
	free := c
	free.Options.Bind = p.from.WithZone("").String()
	if p.from.IsLinkLocalUnicast() {
		free.Options.Bind = "" // without a zone it cannot be used
	}
	fd, err := open(free, kind, 0)
	if err != nil {
		return err
	}
	p.held = append(p.held, fd)
	if free.Options.Bind == "" {
		if err := unix.Bind(fd, Sockaddr(netip.IPv6Unspecified(), 0)); err != nil {
			return err
		}
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	p.ports = append(p.ports, uint16(portOf(sa)))
	return nil
}

// openDatagrams uses a socket for each flow, of the kind that every user may open: UDP,
// or ICMP if net.ipv4.ping_group_range allows it.
func openDatagrams(c Config, base codec) (_ Prober, err error) {
	p := &sockets{codec: base, how: base.kind + " datagram"}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	protocol, port := unix.IPPROTO_UDP, int(base.port)
	if base.kind == "icmp" {
		protocol, port = unix.IPPROTO_ICMP, 0
		if base.v6 {
			protocol = unix.IPPROTO_ICMPV6
		}
	}
	for range c.Flows {
		fd, err := open(c, unix.SOCK_DGRAM, protocol)
		if err != nil {
			return nil, err
		}
		p.fds = append(p.fds, fd)
		if err := p.ready(c, fd, port); err != nil {
			return nil, err
		}
		sa, err := unix.Getsockname(fd)
		if err != nil {
			return nil, err
		}
		p.ports = append(p.ports, uint16(portOf(sa)))
	}
	return p, nil
}
