package trial

import (
	"context"
	"math"
	"net"
	"net/netip"
	"time"

	"soku/internal/engine/connect"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
)

// entryTimeout is how long a session's own port may take to answer before the
// connections go to the server's main port: a firewall that drops says nothing.
const entryTimeout = 1500 * time.Millisecond

// Whose port a connect test connects to, as a result names it.
const (
	entrySession = "session"
	entryMain    = "main"
	entryForeign = "foreign"
)

// chooseEntry finds out where the connections of a connect test go. Only the
// server on Linux is known to count connections that were reset before it took
// them, so that elsewhere connections end in order unless asked otherwise.
func chooseEntry(ctx context.Context, session wire.Session, o measure.Options) (connect.Target, string, error) {
	e := session.Entry()
	if e.Plain {
		return connect.Target{Addr: e.Main, Reset: o.Close != "fin"}, entryForeign, nil
	}
	t := connect.Target{Addr: e.Own}
	t.Reset = o.Close == "rst" || o.Close == "auto" && session.Server().Facts.OS == "linux"
	t.Await = !t.Reset
	if o.Entry != entryMain && e.Own.IsValid() {
		err := knock(ctx, e.Own, o)
		switch {
		case err == nil:
			return t, entrySession, nil
		case ctx.Err() != nil:
			return t, "", context.Cause(ctx)
		case o.Entry == entrySession:
			return t, "", measure.Errorf(measure.KindUnreachable, "connect %s, the port the server opened for this test: %w", e.Own, err).
				WithHint("does a firewall let only the server's own port through? Leave out --entry")
		}
	}
	t.Addr, t.Preamble, t.Await = e.Main, e.Preamble, true
	return t, entryMain, nil
}

// knock makes one connection. It comes before the start, so nobody counts it.
func knock(ctx context.Context, to netip.AddrPort, o measure.Options) error {
	o.ConnectTimeout = min(o.ConnectTimeout, measure.Duration(entryTimeout))
	d := sock.Dialer(measure.Options{ConnectTimeout: o.ConnectTimeout, TOS: o.TOS, Device: o.Device, Bind: o.Bind})
	if o.Sources != "" {
		from, err := measure.ParseSources(o.Sources)
		if err != nil {
			return err
		}
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(from[0], 0))
	}
	c, err := d.DialContext(ctx, "tcp", to.String())
	if err != nil {
		return err
	}
	sock.Abort(c.(*net.TCPConn))
	return nil
}

// connectFloor measures what this host adds to a set-up. It is nil, with a
// warning in r, where that cannot be.
func connectFloor(ctx context.Context, r *measure.Result) *measure.FloorReading {
	floor, err := connect.Floor(ctx, r.Options)
	if err != nil {
		r.Findings.Add(measure.CodeBaselineFailed, measure.AtClient, measure.Figures{"error": err.Error()})
	}
	return floor
}

// runForeign connects to a port at which no soku server counts.
func runForeign(ctx context.Context, addr netip.Addr, o measure.Options, pins *sock.Pins, h Hooks, r *measure.Result) error {
	t := connect.Target{Addr: netip.AddrPortFrom(addr, uint16(o.ToPort)), Reset: o.Close == "rst"}
	if err := h.ready(ctx); err != nil {
		return err
	}
	watch := host.Watch(r.Hosts.Client.Facts.Interface)
	h.started()
	own, err := connect.Run(ctx, t, o, pins, h.Observe)
	counters := watch.Stop(host.Moved{})
	r.Hosts.Client.Counters = &counters
	err = pinned(pins, r, err)
	if own == nil {
		return err
	}
	own.Connect.Entry = entryForeign
	var floor *measure.FloorReading
	if err == nil {
		floor = connectFloor(ctx, r)
	}
	assemble(r, own, &measure.End{}, floor)
	return err
}

// assembleConnect makes the figures of a connect test: connections are counted
// where they are accepted, set-up times at the client.
func assembleConnect(r *measure.Result, own, other *measure.End, floor *measure.FloorReading) {
	c := own.Connect
	r.Connect = c
	if got := other.Connect; got != nil && got.Accepted != nil {
		n := max(*got.Accepted, 0)
		c.Accepted, c.AcceptedPerSecond = &n, max(got.AcceptedPerSecond, 0)
		c.ForeignConns, c.Unserved, c.ServerPath = max(got.ForeignConns, 0), max(got.Unserved, 0), got.ServerPath
	}
	assembleLatency(r, own.Latency, floor)
	s := &r.Summary
	// Connections are no packets, and nothing of a connection is lost but an attempt.
	s.PacketsSent, s.PacketsReceived, s.PacketsLost = 0, 0, 0
	s.DurationNs = measure.Duration(c.DurationNs)
	if s.RTT == nil {
		s.ConfidenceReason = "no connection was set up"
	}
	s.ConnectionsPerSecond = c.OpenedPerSecond
	if c.Accepted == nil {
		return
	}
	if *c.Accepted > 1 && c.AcceptedPerSecond > 0 {
		s.ConnectionsPerSecond = c.AcceptedPerSecond
	}
	if a, b := float64(*c.Accepted), float64(c.Opened); math.Abs(a-b) > disagreement*max(a, b)+1 {
		r.Findings.Add(measure.CodeConnectionCountsDiffer, "", measure.Figures{"client_connections": c.Opened, "server_connections": *c.Accepted})
	}
}
