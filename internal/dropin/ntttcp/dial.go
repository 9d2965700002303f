package ntttcp

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	wire "soku/internal/wire/ntttcp"
)

const (
	connectTime = 10 * time.Second // for one connection
	allTime     = time.Minute      // for all of them
	atOnce      = 64               // connections being opened at a time
)

// dialer opens the connections of a sender.
type dialer struct {
	o      *Options
	to     netip.Addr
	from   netip.Addr
	device string // interface of from
}

func newDialer(ctx context.Context, o *Options) (*dialer, error) {
	d := &dialer{o: o}
	var err error
	if d.to, err = resolve(ctx, o); err != nil {
		return nil, err
	}
	if o.Source == "" {
		return d, nil
	}
	if d.from, err = netip.ParseAddr(o.Source); err != nil {
		return nil, fail("ntttcp.option.source", measure.Figures{"text": o.Source})
	}
	d.device, err = interfaceOf(d.from)
	return d, err
}

// resolve finds the receiver's address, of the requested family.
func resolve(ctx context.Context, o *Options) (netip.Addr, error) {
	if a, err := netip.ParseAddr(o.Address); err == nil {
		return a.Unmap(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip"+o.family(), o.Address)
	if err != nil || len(found) == 0 {
		return netip.Addr{}, measure.Fail(measure.KindUnreachable, "dropin.ntttcp.address", measure.Figures{"family": o.family(), "host": o.Address})
	}
	return found[0].Unmap(), nil
}

func (o *Options) family() string {
	if o.IPv6 {
		return "6"
	}
	return "4"
}

// interfaceOf is the name of the interface that has an address.
func interfaceOf(a netip.Addr) (string, error) {
	all, err := net.Interfaces()
	if err != nil {
		return "", measure.Fail(measure.KindInternal, "dropin.ntttcp.interface", measure.Figures{"address": a.String(), "cause": err})
	}
	for _, i := range all {
		addresses, _ := i.Addrs()
		for _, has := range addresses {
			if p, err := netip.ParsePrefix(has.String()); err == nil && p.Addr().Unmap() == a.Unmap() {
				return i.Name, nil
			}
		}
	}
	return "", fail("ntttcp.option.no_interface", measure.Figures{"address": a.String()})
}

// dial opens one connection; local port 0 is any.
func (d *dialer) dial(ctx context.Context, network string, port, own int) (net.Conn, error) {
	s := sock.Settings{Device: d.device}
	n := &net.Dialer{Timeout: connectTime, Control: s.Control}
	n.SetMultipathTCP(false)
	if d.from.IsValid() || own > 0 {
		local := netip.AddrPortFrom(d.from, uint16(own))
		if !d.from.IsValid() {
			local = netip.AddrPortFrom(netip.IPv6Unspecified(), uint16(own))
			if d.to.Is4() {
				local = netip.AddrPortFrom(netip.IPv4Unspecified(), uint16(own))
			}
		}
		n.LocalAddr = net.TCPAddrFromAddrPort(local)
		if network == "udp" {
			n.LocalAddr = net.UDPAddrFromAddrPort(local)
		}
	}
	to := net.JoinHostPort(d.to.String(), strconv.Itoa(port))
	c, err := n.DialContext(ctx, network+d.o.family(), to)
	if err != nil {
		return nil, wire.Unreachable(ctx, to, err)
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetNoDelay(d.o.NoDelay)
	}
	return c, nil
}

// made are the connections of a sender, and the thread of each.
type made struct {
	conns  []net.Conn
	thread []int
}

func (m *made) close() {
	for _, c := range m.conns {
		_ = c.Close()
	}
}

// all opens the connections of all threads, port by port and thread by thread. It
// continues without those that fail and returns the first error; opened is called for
// each connection.
func (d *dialer) all(ctx context.Context, opened func(net.Conn)) (*made, error) {
	network := "tcp"
	if d.o.UDP {
		network = "udp"
	}
	each := d.o.Threads * d.o.Connections // to a port
	conns := make([]net.Conn, d.o.Total())
	var first error
	var mu sync.Mutex
	dialling, cancel := context.WithTimeoutCause(ctx, allTime, errors.New("the time to make connections is over"))
	defer cancel()
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(atOnce, len(conns)) {
		workers.Go(func() {
			for i := range next {
				own := 0
				if d.o.SourcePort > 0 {
					own = d.o.SourcePort + i
				}
				c, err := d.dial(dialling, network, d.o.Port+i/each, own)
				mu.Lock()
				if conns[i] = c; err == nil {
					opened(c)
				} else if first == nil {
					first = err
				}
				mu.Unlock()
			}
		})
	}
	for i := range conns {
		if dialling.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	m := &made{}
	for i, c := range conns {
		if c != nil {
			m.conns, m.thread = append(m.conns, c), append(m.thread, i/d.o.Connections)
		}
	}
	if ctx.Err() != nil {
		m.close()
		return nil, context.Cause(ctx)
	}
	if len(m.conns) == 0 {
		return nil, first
	}
	return m, first
}
