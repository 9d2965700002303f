package sock

import (
	"net"
	"net/netip"
	"strings"
	"syscall"

	"soku/internal/measure"
)

// DialerFor returns a dialer for base "tcp" or "udp" that sets the options of
// a trial, leaves from o.Bind and gives up after o.ConnectTimeout. A Bind that
// is no IP address is an error of kind usage. TCP is one path, never Multipath TCP.
func DialerFor(base string, o measure.Options) (*net.Dialer, error) {
	d := &net.Dialer{Timeout: o.ConnectTimeout.Std(), Control: FromOptions(o).Control}
	d.SetMultipathTCP(false)
	if o.Bind == "" {
		return d, nil
	}
	addr, err := netip.ParseAddr(strings.Trim(o.Bind, "[]"))
	if err != nil {
		return nil, measure.Errorf(measure.KindUsage, "bind to %q: not an IP address", o.Bind).
			WithHint("give an address of this host, such as 10.0.0.4")
	}
	if v := o.IPVersion; v == 4 && !addr.Unmap().Is4() || v == 6 && addr.Unmap().Is4() {
		return nil, measure.Errorf(measure.KindUsage, "bind to %s: not an IPv%d address", addr, v).
			WithHint("leave out one of --bind and --ip-version")
	}
	if strings.HasPrefix(base, "udp") {
		d.LocalAddr = net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 0))
	} else {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(addr, 0))
	}
	return d, nil
}

// Dialer is [DialerFor] TCP. What is wrong with the options becomes the error
// of dialling.
func Dialer(o measure.Options) *net.Dialer {
	d, err := DialerFor("tcp", o)
	if err != nil {
		return &net.Dialer{Control: func(string, string, syscall.RawConn) error { return err }}
	}
	return d
}

// Abort closes c and drops what is still queued; the peer sees a reset.
func Abort(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}
