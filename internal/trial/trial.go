// Package trial runs one trial from the client's side: it opens a session with
// the server, moves packets with an engine, gathers what both hosts know, and
// makes one result of the two halves. The server's side is package server; the
// document is specified in docs/reference/result.md.
//
// Run starts one goroutine a flow and waits for all of them.
package trial

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"time"

	"soku/internal/engine/probe"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/tests"
	"soku/internal/verdict"
	"soku/internal/wire"
)

// Spec is what to measure and where.
type Spec struct {
	Test    measure.Test
	Options measure.Options
	// Host is the far end: a name or an address, with a port if it is not Options.Port.
	Host string
	// Client and Server name the endpoints for the result; addresses are filled in.
	Client, Server measure.Endpoint
	Token          string
	TLS            *tls.Config // nil: control without TLS
	IPerf3         wire.IPerf3 // for Options.Via iperf3
	Version        string      // of this program
	Identity       *measure.Trial
	Result         string // identity of the result; empty: Run makes one
	// Floor returns the stored loopback baseline of a host with these facts, or nil if
	// there is none; nil looks nothing up.
	Floor func(measure.Facts) *measure.HostFloor
	// Baselines are loopback baselines that were measured on this host a short time ago. One with
	// the trial's conditions is reused.
	Baselines []measure.FloorReading
	// Endless is set for a test without a server of ours whose regular end is that of the context,
	// if something was answered by then. The result's count is what it reached.
	Endless bool

	overtime time.Duration // of a test; 0: overtime
}

// Hooks are called while the trial runs, from one goroutine at a time for each
// hook; all but Ready must return within a few milliseconds. Each may be nil.
type Hooks struct {
	Observe measure.Observer
	// Every asks for intervals of an omitted start, too, and for a last one however
	// short.
	Every bool
	State func(wire.State)
	// Session gets the session when it is open, for what only one protocol reports
	// when Run has returned: see its package. The session stays Run's.
	Session func(wire.Session)
	// Trace gets what the test trace knows so far, up to five times a second.
	Trace func(*measure.Trace)
	// MTU gets the next probe of the test mtu, at most 50 times per second.
	MTU func(measure.MTUStep)
	// Opened is called once, when the connections that carry the test stand and
	// before packets move: one element a stream, forward first. It must leave them
	// as they are, and not keep them.
	Opened func(conns []net.Conn)
	// Ready is called once, right before packets move: the session is open, its
	// connections stand, and nothing but the start itself is left to do. The trial
	// starts when it returns nil and fails with the error it returns otherwise, so
	// that it can wait for other trials to be ready, too. Its context also ends when
	// the server goes away; a soku server gives up on a session that does not start
	// within native.StartTimeout.
	Ready func(context.Context) error
	// Begin is called once, after Ready and when the counters of this host were read, which takes about a millisecond. The trial
	// starts when it returns nil, and fails with the error that it returns otherwise.
	Begin func(context.Context) error
	// Started is called once, when packets begin to move, with that moment.
	Started func(time.Time)
}

// ready waits until the trial may start.
func (h Hooks) ready(ctx context.Context) error {
	if h.Ready == nil {
		return nil
	}
	return h.Ready(ctx)
}

// begin waits for the moment of the start.
func (h Hooks) begin(ctx context.Context) error {
	if h.Begin == nil {
		return nil
	}
	return h.Begin(ctx)
}

// started reports that packets begin to move.
func (h Hooks) started() {
	if h.Started != nil {
		h.Started(time.Now())
	}
}

// Run measures and returns the result. It always returns a result: a failure is
// its Error, and the figures counted before the failure are kept. Ending ctx
// ends the trial within 100 ms.
func Run(ctx context.Context, s Spec, h Hooks) *measure.Result {
	if h.Observe == nil {
		h.Observe = func(measure.Progress) {}
	}
	if h.State == nil {
		h.State = func(wire.State) {}
	}
	if observe := h.Observe; !h.Every {
		h.Observe = func(p measure.Progress) {
			if p.Whole() {
				observe(p)
			}
		}
	}
	now := time.Now()
	r := &measure.Result{
		Schema: measure.Schema, ID: cmp.Or(s.Result, measure.NewResultID(now)), Test: s.Test, Trial: s.Identity,
		Tool:      measure.Tool{Name: "soku", Version: s.Version, GoVersion: runtime.Version()},
		StartedAt: now.UTC(), Options: s.Options,
		Path: measure.Path{Client: s.Client, Server: s.Server, Direction: measure.Forward},
	}
	if err := run(ctx, s, h, r); err != nil {
		r.Error = failure(ctx, err)
	}
	cost(r)
	compareWithFloor(r, s.Floor)
	r.Verdict = verdict.Judge(r)
	return r
}

func failure(ctx context.Context, err error) *measure.Error {
	if ctx.Err() != nil {
		return measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	}
	return measure.AsError(err, measure.KindBroken)
}

func run(ctx context.Context, s Spec, h Hooks, r *measure.Result) error {
	var err error
	if s.Host, s.Options, err = external(s.Host, s.Test, s.Options); err != nil {
		return err
	}
	o, err := option.Effective(s.Options, s.Test)
	if err != nil {
		return err
	}
	r.Options = o
	if o.Direction != "" {
		r.Path.Direction = o.Direction
	}
	target, err := resolve(ctx, s.Host, o)
	if err != nil {
		return err
	}
	r.Path.Server.Name = cmp.Or(r.Path.Server.Name, target.name)
	r.Path.Server.Address = target.addr.String()
	if probe.OptionsOf(o).Probe == "icmp" && target.explicit != 0 {
		return measure.Fail(measure.KindUsage, "trial.echo_port", measure.Figures{"test": s.Test, "host": s.Host})
	}
	if o, err = whoListens(ctx, s, target, o, r); err != nil {
		return err
	}
	r.Options = o
	r.Options.Port = target.port(o)
	ahead, err := prepare(ctx, target.addr, s.Test, r.Options)
	if err != nil {
		return err
	}
	defer ahead.into(r) // also where the trial ends before it is asked for
	d := tests.Of(s.Test)
	if d.Before != nil {
		if err := askFirst(ctx, s, target, r.Options); err != nil {
			return err
		}
		of, free, err := d.Before(ctx, r.Options)
		if err != nil {
			return err
		}
		defer free()
		d = of
	}
	if !option.NeedsServer(r.Options, s.Test) {
		ahead.into(r)
		return runServerless(ctx, s, d, target.addr, r.Options, ahead.pins, h, r)
	}
	return runSession(ctx, s, d, target, r.Options, ahead, h, r)
}

// target is the far end after resolution.
type target struct {
	name     string
	addr     netip.Addr
	explicit int // port in the host text, or 0
}

func (t target) port(o measure.Options) int {
	if t.explicit != 0 {
		return t.explicit
	}
	return o.Port
}

func (t target) hostPort(o measure.Options) string {
	return net.JoinHostPort(t.addr.String(), strconv.Itoa(t.port(o)))
}

// resolve finds one address of the family that is asked for, so that control
// and data connections go to the same host even where a name has several.
func resolve(ctx context.Context, text string, o measure.Options) (target, error) {
	if text == "" {
		return target{}, measure.Fail(measure.KindUsage, "trial.no_host", nil)
	}
	name, explicit := text, 0
	if h, p, err := net.SplitHostPort(text); err == nil {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return target{}, measure.Fail(measure.KindUsage, "trial.port", measure.Figures{"port": p, "host": text, "example": net.JoinHostPort(h, "7658")})
		}
		name, explicit = h, int(n)
	}
	network := "ip"
	if o.IPVersion != 0 {
		network += strconv.Itoa(o.IPVersion)
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		if (o.IPVersion == 4 && !addr.Unmap().Is4()) || (o.IPVersion == 6 && addr.Unmap().Is4()) {
			return target{}, measure.Fail(measure.KindUsage, "trial.ip_version", measure.Figures{"address": name, "version": o.IPVersion})
		}
		return target{name, addr.Unmap(), explicit}, nil
	}
	if err := notAnAddress(name); err != nil {
		return target{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.ConnectTimeout.Std())
	defer cancel()
	addrs, err := host.Lookup(ctx, network, name)
	switch {
	case err != nil:
		return target{}, lookupFailed(name, err)
	case len(addrs) == 0:
		return target{}, measure.Fail(measure.KindUnreachable, "dns.no_address", measure.Figures{"host": name})
	}
	return target{name, addrs[0], explicit}, nil
}

// notAnAddress refuses a text that can only be meant as an address and is none. No host has
// such a name: the last label of one is not a number (RFC 3696, section 2), and a colon is
// in none.
func notAnAddress(name string) error {
	if strings.Contains(name, ":") {
		return measure.Fail(measure.KindUsage, "trial.not_ipv6", measure.Figures{"address": name})
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last != "" && strings.Trim(last, "0123456789") == "" {
		return measure.Fail(measure.KindUsage, "trial.not_ipv4", measure.Figures{"address": name})
	}
	return nil
}

func lookupFailed(name string, err error) *measure.Error {
	var dns *net.DNSError
	if ok := errors.As(err, &dns); ok && dns.IsNotFound {
		return measure.Fail(measure.KindUnreachable, "dns.not_found", measure.Figures{"host": name}).WithCause(err)
	} else if ok && dns.IsTimeout {
		return measure.Fail(measure.KindUnreachable, "dns.no_answer", measure.Figures{"host": name}).WithCause(err)
	}
	return measure.Fail(measure.KindUnreachable, "dns.failed", measure.Figures{"host": name, "cause": err})
}

// localAddress is the source address the kernel picks for the path, or the bound one.
func localAddress(ctx context.Context, remote netip.Addr, o measure.Options) netip.Addr {
	if a, err := netip.ParseAddr(o.Bind); err == nil {
		return a
	}
	// Connecting a datagram socket sends nothing; it only asks for the route.
	var d net.Dialer
	c, err := d.DialContext(ctx, "udp", netip.AddrPortFrom(remote, 9).String())
	if err != nil {
		return netip.Addr{}
	}
	defer c.Close()
	if u, ok := c.LocalAddr().(*net.UDPAddr); ok {
		return u.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// Ends finds the addresses of both ends of a path, as [Run] does, and the port of the server. It
// sends only the query for the name. client is the zero address if this host has no route. An
// error has kind usage if host is no valid host, and kind unreachable if the name has no address,
// as in Run.
func Ends(ctx context.Context, host string, o measure.Options) (client, server netip.Addr, port int, err error) {
	t, err := resolve(ctx, host, o)
	if err != nil {
		return client, server, 0, err
	}
	return localAddress(ctx, t.addr, o), t.addr, cmp.Or(t.explicit, option.ServerPort(o)), nil
}
