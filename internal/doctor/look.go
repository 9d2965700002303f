package doctor

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"time"

	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/trial"
)

// Config is what to look at.
type Config struct {
	Host    string // the far end, with a port if that is not the usual one; empty: this host alone
	Token   string
	TLS     *tls.Config // nil: control without TLS
	Wanted  Wanted
	Version string // of this program
}

// Look reads and checks this host and, with [Config.Host], the path to it and what the server
// there reports. It takes about 0.6 s without a host, 2 s with one, and up to 30 s if the host
// does not answer. An error has kind usage if c.Host is no valid host, or is the cause of ctx.
func Look(ctx context.Context, c Config) (*Document, error) {
	d := &Document{Schema: Schema, Tool: measure.Tool{Name: "soku", Version: c.Version}, At: time.Now().UTC(), Host: c.Host}
	local, w, p := outward(), c.Wanted, &Path{Host: c.name()}
	if c.Host != "" {
		o := shortTest()
		client, server, port, err := trial.Ends(ctx, c.Host, o)
		switch {
		case measure.KindOf(err) == measure.KindUnreachable:
			p.Err = measure.AsError(err, measure.KindUnreachable)
		case err != nil:
			return nil, err
		default:
			local, p.Address, w.Port = client, server.String(), port
		}
	}
	here := readHere(ctx, local, w)
	var server *measure.Host
	if p.Address != "" {
		server = c.probe(ctx, p, &here.Wanted)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	d.Wanted, d.BDP = here.Wanted, here.BDP()
	d.Ends = append(d.Ends, examineHost(Checks, here, measure.AtClient, address(local)))
	if c.Host == "" {
		return d, nil
	}
	here.Path = p
	d.Ends = append(d.Ends, examineHost(PathChecks, here, AtPath, p.Address))
	if server != nil {
		d.Ends = append(d.Ends, examineHost(Checks, farSubject(server, here.Wanted), measure.AtServer, p.Address))
	}
	return d, nil
}

func address(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
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

func examineHost(checks []Check, s *Subject, where measure.Where, address string) End {
	end := Examine(checks, s)
	end.Where, end.Address = where, address
	if where == AtPath {
		end.Name = s.Path.Host
	} else {
		end.Hostname, end.Interface, end.Facts = s.Facts.Hostname, s.Facts.Interface, s.Facts
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

// farSubject is what the server reported of its host. Results do not have all that [Extra] has.
func farSubject(h *measure.Host, w Wanted) *Subject {
	return &Subject{Readings: Readings{Far: true, Facts: h.Facts, Sample: sampleOf(h)}, Wanted: w}
}

// sampleOf returns the counters of a host in a result, or nil if the result has none.
func sampleOf(h *measure.Host) *Sample {
	if h == nil || h.Counters == nil || h.Counters.WallNs <= 0 {
		return nil
	}
	c := h.Counters
	return &Sample{
		WallNs: c.WallNs, CPUs: h.Facts.CPUs, BusyNs: max(c.CPUBusyNs-c.ProcessUserNs-c.ProcessSysNs, 0), StealNs: c.CPUStealNs,
		StealKnown: h.Facts.OS == linux, SentBytes: c.TxBytes, RecvBytes: c.RxBytes, Traffic: h.Facts.Interface != "",
		Counters: map[string]int64{"interface.sent_dropped": c.TxDropped, "interface.received_dropped": c.RxDropped},
	}
}
