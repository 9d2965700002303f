package server

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

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

// factsAge is how long facts are good for: many clients that come at once
// share a reading.
const factsAge = 5 * time.Second

// factsCache keeps the last facts of each local address.
type factsCache struct {
	read func(context.Context, netip.Addr) measure.Facts

	mu   sync.Mutex
	kept map[netip.Addr]*reading
}

type reading struct {
	mu    sync.Mutex
	at    time.Time
	facts measure.Facts
}

func (f *factsCache) get(ctx context.Context, local netip.Addr) measure.Facts {
	f.mu.Lock()
	if f.kept == nil {
		f.kept = map[netip.Addr]*reading{}
	}
	r := f.kept[local]
	if r == nil {
		r = &reading{}
		f.kept[local] = r
	}
	f.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.IsZero() || time.Since(r.at) > factsAge {
		r.facts, r.at = f.read(ctx, local), time.Now()
	}
	return r.facts
}
