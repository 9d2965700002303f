package server

import (
	"context"
	"net"
	"net/netip"

	"soku/internal/engine/connect"
	"soku/internal/engine/latency"
	"soku/internal/engine/tcp"
	"soku/internal/engine/udp"
	"soku/internal/host"
	"soku/internal/measure"
)

// engines are what moves packets and reads this host, so that tests can take
// the place of either.
type engines struct {
	tcpSend, tcpReceive func(context.Context, []*net.TCPConn, measure.Options, measure.Direction, measure.Observer) (measure.FlowEnd, error)
	udpSend, udpReceive func(context.Context, []net.Conn, measure.Options, measure.Direction, measure.Observer) (measure.FlowEnd, error)
	echo                func(context.Context, []net.Conn, measure.Options) (method string, err error)
	listen              func(local netip.Addr, peers []netip.Addr, o measure.Options) (*connect.Listener, error)
	facts               func(context.Context, netip.Addr) measure.Facts
	watch               func(iface string) (stop func(host.Moved) measure.Counters)
}

func realEngines() engines {
	return engines{
		tcpSend: tcp.Send, tcpReceive: tcp.Receive,
		udpSend: udp.Send, udpReceive: udp.Receive,
		echo: latency.EchoFlows, listen: connect.Listen, facts: host.Facts,
		watch: func(iface string) func(host.Moved) measure.Counters { return host.Watch(iface).Stop },
	}
}
