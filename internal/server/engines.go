package server

import (
	"context"
	"net"
	"net/netip"

	"soku/internal/engine"
	"soku/internal/engine/connect"
	"soku/internal/engine/flows"
	"soku/internal/engine/latency"
	"soku/internal/host"
	"soku/internal/measure"
)

// engines are what moves packets and reads this host, so that tests can take
// the place of either.
type engines struct {
	flows  flows.Engines
	echo   func(ctx context.Context, conns []net.Conn, o measure.Options, f engine.Flow, seen func(ns int64)) (method string, err error)
	listen func(local netip.Addr, peers []netip.Addr, o measure.Options) (*connect.Listener, error)
	facts  func(context.Context, netip.Addr) measure.Facts
	watch  func(iface string) (stop func(host.Moved) measure.Counters)
}

func realEngines() engines {
	return engines{
		flows: flows.Sockets, echo: latency.Echo, listen: connect.Listen, facts: host.Facts,
		watch: func(iface string) func(host.Moved) measure.Counters { return host.Watch(iface).Stop },
	}
}
