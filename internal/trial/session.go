package trial

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/connect"
	"soku/internal/engine/flows"
	"soku/internal/engine/latency"
	"soku/internal/engine/ping"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
)

func asDNS(err error, target **net.DNSError) bool { return errors.As(err, target) }

// runSession measures against a server: handshake, data connections, both
// engines, both halves into r. What goes on ahead ends before packets move.
func runSession(ctx context.Context, s Spec, t target, o measure.Options, ahead *preparation, h Hooks, r *measure.Result) error {
	observe, live := serialise(h.Observe), liveCount{}
	session, err := open(ctx, o.Via, t.hostPort(o), wire.Request{
		Test: s.Test, Options: o, Token: s.Token, TLS: s.TLS, IPerf3: s.IPerf3,
	}, wire.Hooks{State: h.State, Observe: live.of(observe)})
	if err != nil {
		return err
	}
	defer session.Close()
	if h.Session != nil {
		h.Session(session)
	}
	r.Tool.Protocol = session.Protocol()
	r.Hosts.Server = session.Server()
	o = session.Options() // as the server allows them
	r.Options = o

	// Ends when the server goes away, so that no engine waits for a dead peer.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	defer func() { cancel(nil); <-watched }()
	go func() {
		defer close(watched)
		select {
		case err := <-session.Err():
			cancel(err)
		case <-ctx.Done():
		}
	}()

	data, err := openData(ctx, session, s.Test, o)
	if err != nil {
		return serverFirst(ctx, err)
	}
	defer data.close()
	ahead.into(r)
	if err := h.ready(ctx); err != nil {
		return serverFirst(ctx, err)
	}
	watch := host.Watch(r.Hosts.Client.Facts.Interface)
	if err := session.Start(ctx); err != nil {
		watch.Stop(host.Moved{})
		return serverFirst(ctx, err)
	}
	h.started()
	data.policy, data.pins = session.FlowPolicy(), ahead.pins
	if h.Opened != nil {
		h.Opened(data.conns.List())
	}
	opened := tallyOf(data.conns.TCP)
	own, runErr := data.run(ctx, s.Test, o, observe)
	warnMultipath(r, opened, tallyOf(data.conns.TCP))
	counters := watch.Stop(host.MovedBy(own, o))
	r.Hosts.Client.Counters = &counters
	own.Host = r.Hosts.Client
	runErr = pinned(ahead.pins, r, runErr)

	other := &measure.End{}
	if runErr == nil {
		other, runErr = session.Finish(ctx, own)
	}
	if runErr == nil && data.policy.NoPeerReport {
		acknowledged(own, r)
	}
	if other == nil {
		other = &measure.End{}
	}
	if runErr == nil && other.Error != nil {
		runErr = other.Error
	}
	var floor *measure.FloorReading
	switch {
	case runErr != nil:
	case own.Connect != nil:
		own.Connect.Entry = data.entry
		floor = connectFloor(ctx, r)
	case own.Latency != nil:
		own.Latency.ServerMethod = other.Method
		floor = latencyFloor(ctx, o, own.Latency, r)
	}
	assemble(r, own, other, floor)
	if runErr == nil {
		warnUnpinned(r)
	} else {
		live.into(r)
	}
	return serverFirst(ctx, runErr)
}

// serverFirst prefers what the server said over what an engine saw of it:
// "server is shutting down" tells more than "connection reset".
func serverFirst(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

func serialise(obs measure.Observer) measure.Observer {
	var mu sync.Mutex
	return func(p measure.Progress) {
		mu.Lock()
		defer mu.Unlock()
		obs(p)
	}
}

// data are the open connections of a trial.
type data struct {
	conns  flows.Conns
	policy engine.FlowPolicy
	pins   *sock.Pins

	connect connect.Target // of a connect test, and which entry that is
	entry   string
}

func openData(ctx context.Context, session wire.Session, test measure.Test, o measure.Options) (d data, err error) {
	switch {
	case test == measure.TestConnect:
		d.connect, d.entry, err = chooseEntry(ctx, session, o)
	case test == measure.TestUDP || test == measure.TestLatency && o.Protocol == "udp":
		d.conns.UDP, err = session.UDP(ctx)
	default:
		d.conns.TCP, err = session.TCP(ctx)
	}
	return d, err
}

func (d data) close() {
	for _, c := range d.conns.List() {
		_ = c.Close()
	}
}

// run moves the packets of this end and returns what it counted, also when it fails.
func (d data) run(ctx context.Context, test measure.Test, o measure.Options, obs measure.Observer) (*measure.End, error) {
	if test == measure.TestConnect {
		end, err := connect.Run(ctx, d.connect, o, d.pins, obs)
		if end == nil {
			end = &measure.End{}
		}
		return end, err
	}
	if test == measure.TestLatency {
		l, err := latency.Run(ctx, d.conns.List(), o, engine.Flow{Policy: d.policy, Pins: d.pins, Observe: obs})
		return &measure.End{Latency: l}, err
	}
	if o.WithLatency {
		return d.underLoad(ctx, o, obs)
	}
	ends, err := d.flows(ctx, o, obs)
	return &measure.End{Flows: ends}, err
}

// flows runs this end of every direction.
func (d data) flows(ctx context.Context, o measure.Options, obs measure.Observer) ([]measure.FlowEnd, error) {
	flow := engine.Flow{Policy: d.policy, Pins: d.pins, Observe: obs}
	return flows.Sockets.Run(ctx, flows.Client, d.conns, o, flow)
}

// latencyFloor measures what this host adds to a round trip like those of l. It
// is nil, with a warning in r, where that cannot be.
func latencyFloor(ctx context.Context, o measure.Options, l *measure.Latency, r *measure.Result) *measure.FloorReading {
	floor, err := latency.Floor(ctx, o, time.Duration(l.Histogram.Percentile(50)))
	if err != nil {
		r.Findings.Add(measure.CodeBaselineFailed, measure.AtClient, measure.Figures{"error": err.Error()})
	}
	return floor
}

func runPing(ctx context.Context, addr netip.Addr, o measure.Options, h Hooks, r *measure.Result) error {
	floor, err := ping.Floor(ctx, o, addr.Is6())
	if err != nil {
		if measure.KindOf(err) == measure.KindPermission {
			return err
		}
		r.Findings.Add(measure.CodeBaselineFailed, measure.AtClient, measure.Figures{"error": err.Error()})
	}
	if err := h.ready(ctx); err != nil {
		return err
	}
	watch := host.Watch(r.Hosts.Client.Facts.Interface)
	h.started()
	l, err := ping.Run(ctx, addr, o, h.Observe)
	counters := watch.Stop(host.Moved{})
	r.Hosts.Client.Counters = &counters
	assemble(r, &measure.End{Latency: l}, &measure.End{}, floor)
	if err == nil && l != nil && l.Received == 0 {
		err = measure.Errorf(measure.KindUnreachable, "ping %s: no reply to %d echo requests", addr, l.Sent).
			WithHint("the host may be down or drop ICMP; try: soku latency %s", addr)
	}
	return err
}
