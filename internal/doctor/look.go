package doctor

import (
	"context"
	"net"
	"net/netip"
	"time"

	"soku/internal/host"
	"soku/internal/measure"
)

// Config is what to look at.
type Config struct {
	Wanted  Wanted
	Version string // of this program
}

// Look reads and checks this host. It takes about 0.6 s.
func Look(ctx context.Context, c Config) (*Document, error) {
	d := &Document{Schema: Schema, Tool: measure.Tool{Name: "soku", Version: c.Version}, At: time.Now().UTC(), Wanted: c.Wanted}
	local := outward()
	s := readHere(ctx, local, c.Wanted)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	d.Wanted, d.BDP = s.Wanted, s.BDP()
	d.Ends = append(d.Ends, examineHost(s, measure.AtClient, local))
	return d, nil
}

// readHere reads this host, and the interface that has the local address.
func readHere(ctx context.Context, local netip.Addr, w Wanted) *Subject {
	s := &Subject{Wanted: w}
	s.Facts = host.Facts(ctx, local)
	s.Facts.Details = host.Details(ctx, s.Facts)
	if s.RateBps == 0 && s.Facts.LinkSpeedMbps > 0 {
		s.RateBps, s.RateFrom = float64(s.Facts.LinkSpeedMbps)*1e6, FromLink
	}
	extra := make(chan *Extra, 1)
	go func() { extra <- readExtra(ctx, s) }()
	sample := takeSample(ctx, s.Facts.Interface)
	s.Extra, s.Sample = <-extra, sample
	return s
}

func examineHost(s *Subject, where measure.Where, address netip.Addr) End {
	end := Examine(Checks, s)
	end.Where, end.Hostname, end.Interface, end.Facts = where, s.Facts.Hostname, s.Facts.Interface, s.Facts
	if address.IsValid() {
		end.Address = address.String()
	}
	return end
}

// outward is the address from which packets leave to hosts elsewhere: that of the default route;
// the zero address without one.
func outward() netip.Addr {
	// Addresses of documentation (RFC 5737, RFC 3849). Connecting a datagram socket sends nothing.
	for _, far := range []string{"192.0.2.1:9", "[2001:db8::1]:9"} {
		c, err := net.Dial("udp", far) //nolint:noctx // it asks for the route and waits for nothing
		if err != nil {
			continue
		}
		u, ok := c.LocalAddr().(*net.UDPAddr)
		_ = c.Close()
		if ok {
			return u.AddrPort().Addr().Unmap()
		}
	}
	return netip.Addr{}
}
