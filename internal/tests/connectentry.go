package tests

import (
	"context"
	"net"
	"net/netip"
	"time"

	"soku/internal/engine/connect"
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
	e, own := session.Entry(), connect.OptionsOf(o)
	if e.Plain {
		return connect.Target{Addr: e.Main, Reset: own.Close != "fin"}, entryForeign, nil
	}
	t := connect.Target{Addr: e.Own}
	t.Reset = own.Close == "rst" || own.Close == "auto" && session.Server().Facts.OS == "linux"
	t.Await = !t.Reset
	if own.Entry != entryMain && e.Own.IsValid() {
		err := knock(ctx, e.Own, o)
		switch {
		case err == nil:
			return t, entrySession, nil
		case ctx.Err() != nil:
			return t, "", context.Cause(ctx)
		case own.Entry == entrySession:
			return t, "", measure.Fail(measure.KindUnreachable, "connect.session_port", measure.Figures{"address": e.Own.String(), "cause": err})
		}
	}
	t.Addr, t.Preamble, t.Await = e.Main, e.Preamble, true
	return t, entryMain, nil
}

// knock opens one connection. It comes before the start, so it is not counted.
func knock(ctx context.Context, to netip.AddrPort, o measure.Options) error {
	o.ConnectTimeout = min(o.ConnectTimeout, measure.Duration(entryTimeout))
	d := sock.Dialer(measure.Options{ConnectTimeout: o.ConnectTimeout, TOS: o.TOS, Device: o.Device, Bind: o.Bind})
	if own := connect.OptionsOf(o); own.Sources != "" {
		from, err := connect.ParseSources(own.Sources)
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
