package sock

import (
	"net"
	"net/netip"
	"strings"
	"syscall"

	"soku/internal/measure"
)

// DialerFor returns a dialer for base "tcp" or "udp" that sets the trial's socket
// options, binds to o.Bind and fails after o.ConnectTimeout. If Bind is no IP address,
// the error is of kind usage. With o.Multipath the dialer uses Multipath TCP, or returns
// an error of kind usage if this system does not have it; otherwise it uses plain TCP.
func DialerFor(base string, o measure.Options) (*net.Dialer, error) { return DialerFrom(base, o, 0) }

// DialerFrom is [DialerFor] with a local port; 0 lets the system choose one.
func DialerFrom(base string, o measure.Options, port int) (*net.Dialer, error) {
	d := &net.Dialer{Timeout: o.ConnectTimeout.Std(), Control: FromOptions(o).Control}
	tcp := strings.HasPrefix(base, "tcp")
	d.SetMultipathTCP(tcp && o.Multipath)
	if tcp && o.Multipath {
		if err := HasMultipath(); err != nil {
			return nil, err
		}
		d.Control = FromOptions(o).controlMultipath
	}
	if o.Bind == "" {
		if port != 0 {
			d.LocalAddr = local(base, nil, "", port)
		}
		return labelled(d, base, o), nil
	}
	addr, err := netip.ParseAddr(strings.Trim(o.Bind, "[]"))
	if err != nil {
		return nil, measure.Fail(measure.KindUsage, "sock.bind.address", measure.Figures{"text": o.Bind})
	}
	if v := o.IPVersion; v == 4 && !addr.Unmap().Is4() || v == 6 && addr.Unmap().Is4() {
		return nil, measure.Fail(measure.KindUsage, "sock.bind.family", measure.Figures{"address": addr.String(), "version": v})
	}
	d.LocalAddr = local(base, addr.AsSlice(), addr.Zone(), port)
	return labelled(d, base, o), nil
}

// local is the local address to bind to. With a nil ip the system chooses one.
func local(base string, ip net.IP, zone string, port int) net.Addr {
	if strings.HasPrefix(base, "udp") {
		return &net.UDPAddr{IP: ip, Zone: zone, Port: port}
	}
	return &net.TCPAddr{IP: ip, Zone: zone, Port: port}
}

// labelled makes d set the flow label of its TCP connections.
func labelled(d *net.Dialer, base string, o measure.Options) *net.Dialer {
	if o.FlowLabel == 0 || !strings.HasPrefix(base, "tcp") {
		return d
	}
	local := d.LocalAddr
	d.LocalAddr = nil // connectLabelled binds the socket
	settings := FromOptions(o)
	d.Control = func(network, address string, c syscall.RawConn) error {
		if err := settings.Control(network, address, c); err != nil {
			return err
		}
		var inner error
		if err := c.Control(func(fd uintptr) { inner = connectLabelled(fd, local, address, o.FlowLabel) }); err != nil {
			return err
		}
		return inner
	}
	return d
}

// Dialer is [DialerFor] for TCP. If the options are invalid, dialling returns the error.
func Dialer(o measure.Options) *net.Dialer {
	d, err := DialerFor("tcp", o)
	if err != nil {
		return &net.Dialer{Control: func(string, string, syscall.RawConn) error { return err }}
	}
	return d
}

// Abort closes c and discards its queued data; the peer receives a reset.
func Abort(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}

// AddrPort returns the address and port of a TCP or UDP address, with mapped IPv4
// addresses as IPv4. The result is not valid for any other kind of address.
func AddrPort(a net.Addr) netip.AddrPort {
	var p netip.AddrPort
	switch a := a.(type) {
	case *net.TCPAddr:
		p = a.AddrPort()
	case *net.UDPAddr:
		p = a.AddrPort()
	}
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}

// SourceOf returns what an address counts as where something is shared among the hosts that
// ask for it: an IPv4 address itself, and the first 64 bits of an IPv6 address, because a host
// may use any address of such a network. What is no address has no valid source.
func SourceOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // fails for what is no address
	return p
}
