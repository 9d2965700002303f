package ethr

import (
	"context"
	"net/netip"
	"strconv"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/flows"
	"soku/internal/engine/latency"
	"soku/internal/engine/trace"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/text"
	"soku/internal/wire"
	"soku/internal/wire/ethr"
)

// test is one test of a client.
type test struct {
	Settings
	out  *output
	addr netip.AddrPort
	o    measure.Options
	ask  tracer // probes the hops of a path
}

// measureAs runs the test of s.
func measureAs(ctx context.Context, s Settings, out *output) error {
	t := &test{Settings: s, out: out, ask: trace.Run}
	if err := t.find(ctx); err != nil {
		return err
	}
	port := strconv.Itoa(s.Port)
	if s.Protocol == "ICMP" {
		port = ""
	}
	out.say("Using destination: %s, ip: %s, port: %s", s.Host, t.addr.Addr(), port)
	t.Connections = t.connections()
	t.o = t.options()
	limited, cancel := ctx, context.CancelFunc(func() {})
	if s.Duration > 0 && (s.Test != "b" && s.Test != "p" && s.Test != "c") {
		limited, cancel = context.WithTimeout(ctx, s.Duration)
	}
	defer cancel()
	var err error
	switch s.Test {
	case "l":
		err = t.latency(limited)
	case "pi":
		err = t.ping(limited)
	case "tr", "mtr":
		err = t.route(limited)
	case "c":
		err = t.connects(ctx)
	default:
		err = t.bandwidth(ctx)
	}
	return out.done(ctx, s, err)
}

// find looks the host up.
func (t *test) find(ctx context.Context) error {
	network := "ip"
	if t.Version != 0 {
		network += strconv.Itoa(t.Version)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	found, err := host.Lookup(ctx, network, t.Host)
	switch {
	case err != nil:
		return measure.Fail(measure.KindUnreachable, "dns.failed", measure.Figures{"host": t.Host, "cause": err})
	case len(found) == 0:
		return measure.Fail(measure.KindUnreachable, "dns.not_found", measure.Figures{"host": t.Host})
	}
	t.out.debug("Resolved server: %s to IP address: %s", t.Host, found[0])
	t.addr = netip.AddrPortFrom(found[0], uint16(t.Port))
	return nil
}

// kind is soku's name of the test.
func (t *test) kind() measure.Test {
	switch {
	case t.Test == "l":
		return measure.TestLatency
	case t.Test == "c":
		return measure.TestConnect
	case t.Protocol == "UDP":
		return measure.TestUDP
	}
	return measure.TestTCP
}

// options are soku's options of the test. They are not checked as on soku's own command
// line, because Ethr has other limits.
func (t *test) options() measure.Options {
	o := option.Defaults(t.kind())
	o.Via, o.Port, o.TOS, o.Duration = option.ViaEthr, t.Port, t.TOS, measure.Duration(t.Duration)
	o.ConnectTimeout, o.Series = measure.Duration(5*time.Second), measure.SeriesOff
	if t.Bind.IsValid() {
		o.Bind = t.Bind.String()
	}
	if t.Test != "l" {
		o.Streams = t.Connections
	}
	if t.Test == "b" || t.Test == "p" {
		o.Rate = measure.Rate(min(t.Rate, 1<<50) * uint64(t.Connections))
	}
	switch t.kind() {
	case measure.TestTCP:
		o.Length = measure.Size(min(t.Length, 1<<20))
		if t.Reverse {
			o.Direction = measure.Reverse
		}
	case measure.TestUDP:
		o.Size = measure.Size(t.Length)
	case measure.TestLatency:
		o.Size = measure.Size(t.Length)
		measure.EditOwn(&o, func(own *latency.Options) { own.Row = int64(t.Rounds) })
	}
	return o
}

// request is the request for a session.
func (t *test) request() wire.Request {
	return wire.Request{Test: t.kind(), Options: t.o, LocalPort: t.LocalPort, Row: latency.OptionsOf(t.o).Row}
}

// explain prints the negotiated parameters.
func (t *test) explain(session wire.Session) {
	t.out.debug("Protocol: %s", session.Protocol())
	for _, f := range session.Findings() {
		t.out.debug("%s", text.ForPrograms().Finding(f))
	}
}

// part is how long an engine runs at a time in a test without an end, because the
// figures that it keeps grow with the duration.
const part = 10 * time.Minute

// bandwidth moves bytes or datagrams.
func (t *test) bandwidth(ctx context.Context) error {
	session, err := ethr.Open(ctx, t.addr.String(), t.request(), wire.Hooks{})
	if err != nil {
		return err
	}
	defer session.Close()
	t.explain(session)
	conns, err := t.open(ctx, session)
	if err != nil {
		return err
	}
	table := t.table(conns.List())
	if err := session.Start(ctx); err != nil {
		return err
	}
	for ctx.Err() == nil {
		policy, stop := session.FlowPolicy(), context.CancelFunc(func() {})
		if t.Duration == 0 {
			var over context.Context
			over, stop = context.WithTimeout(context.Background(), part)
			policy.Over = over.Done()
		}
		ends, err := flows.Sockets.Run(ctx, flows.Client, conns, t.o, engine.Flow{Policy: policy, Observe: table.second})
		stop()
		t.account(ctx, session, ends[0])
		if err != nil || t.Duration > 0 {
			return err
		}
		table.next()
	}
	return context.Cause(ctx)
}

// account prints the outcome of each connection.
func (t *test) account(ctx context.Context, session wire.Session, end measure.FlowEnd) {
	t.out.debug("As %s by way of %s, in %s", end.Role, end.Path, time.Duration(end.DurationNs).Round(time.Millisecond))
	for _, x := range end.Streams {
		retransmits := "not known"
		if x.TCP != nil {
			retransmits = strconv.FormatInt(x.TCP.Retransmits, 10)
		}
		t.out.debug("%s to %s: sent %d bytes, received %d bytes, retransmits: %s", x.Local, x.Remote, x.SentBytes, x.ReceivedBytes, retransmits)
	}
	if server, err := session.Finish(ctx, &measure.End{Flows: []measure.FlowEnd{end}}); err == nil {
		for _, f := range server.Findings {
			t.out.debug("%s", text.ForPrograms().Finding(f))
		}
	}
}

// open opens the connections of a test of bandwidth or packets.
func (t *test) open(ctx context.Context, session wire.Session) (conns flows.Conns, err error) {
	if t.Protocol == "UDP" {
		conns.UDP, err = session.UDP(ctx)
	} else {
		conns.TCP, err = session.TCP(ctx)
	}
	return conns, err
}
