// Package flows runs one end of a TCP or UDP test: the flows of all its directions, each
// by the engine that sends or receives it. Both ends of every protocol use it.
//
// It opens no connections and knows no protocol; an [engine.FlowPolicy] says how the
// protocol moves its bytes. Run starts one goroutine a direction and waits for all.
package flows

import (
	"context"
	"errors"
	"net"
	"slices"

	"soku/internal/engine"
	"soku/internal/engine/tcp"
	"soku/internal/engine/udp"
	"soku/internal/measure"
	"soku/internal/panics"
)

// Side is which end of a test this is.
type Side int

// The sides.
const (
	Client Side = iota // sends in the forward direction
	Server             // sends in the reverse direction
)

// sends reports whether this end sends in a direction.
func (s Side) sends(d measure.Direction) bool { return (d == measure.Forward) == (s == Client) }

// Descriptors returns how many file descriptors this end of a TCP test takes at most,
// connections included.
func (s Side) Descriptors(o measure.Options) (n int) {
	for _, d := range o.Direction.Flows() {
		role := measure.Receiver
		if s.sends(d) {
			role = measure.Sender
		}
		n += o.Streams + tcp.Descriptors(o.Streams, role)
	}
	return n
}

// Conns are the connections of a test, all TCP or all UDP: o.Streams of them for each of
// o.Direction.Flows(), in that order. Further ones are not used.
type Conns struct {
	TCP []*net.TCPConn
	UDP []net.Conn
}

// List returns the connections of either kind.
func (c Conns) List() []net.Conn {
	conns := slices.Clone(c.UDP)
	for _, c := range c.TCP {
		conns = append(conns, c)
	}
	return conns
}

// Engines are the functions that move the bytes of one direction at one end: [tcp.Send],
// [tcp.Receive], [udp.Send], [udp.Receive], or replacements in tests.
type Engines struct {
	SendTCP, ReceiveTCP func(context.Context, []*net.TCPConn, measure.Options, engine.Flow) (measure.FlowEnd, error)
	SendUDP, ReceiveUDP func(context.Context, []net.Conn, measure.Options, engine.Flow) (measure.FlowEnd, error)
}

// Sockets are the engines over sockets of this host.
var Sockets = Engines{tcp.Send, tcp.Receive, udp.Send, udp.Receive}

// Run runs this side's end of each of o.Direction.Flows() and returns what it counted,
// one element a flow, also with an error; the error joins those of all flows. f applies
// to each flow, except its direction; f.Observe is called from one goroutine a direction.
// o must be effective. Run returns within 100 ms of ctx's end.
func (e Engines) Run(ctx context.Context, side Side, conns Conns, o measure.Options, f engine.Flow) ([]measure.FlowEnd, error) {
	directions := o.Direction.Flows()
	ends := make([]measure.FlowEnd, len(directions))
	errs := make([]error, len(directions))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all := panics.Group{Stop: cancel}
	for i, d := range directions {
		all.Go(func() {
			flow := f
			flow.Direction = d
			ends[i], errs[i] = e.one(ctx, side, conns, i*o.Streams, o, flow)
		})
	}
	all.Wait()
	return ends, errors.Join(errs...)
}

// one runs one flow over the connections from index first on.
func (e Engines) one(ctx context.Context, side Side, conns Conns, first int, o measure.Options, f engine.Flow) (measure.FlowEnd, error) {
	if conns.UDP != nil {
		move := e.ReceiveUDP
		if side.sends(f.Direction) {
			move = e.SendUDP
		}
		return move(ctx, conns.UDP[first:first+o.Streams], o, f)
	}
	move := e.ReceiveTCP
	if side.sends(f.Direction) {
		move = e.SendTCP
	}
	return move(ctx, conns.TCP[first:first+o.Streams], o, f)
}
