package trial

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/flows"
	"soku/internal/engine/latency"
	"soku/internal/host"
	"soku/internal/host/series"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
	"soku/internal/tests"
	"soku/internal/wire"
	"soku/internal/wire/ethr"
	"soku/internal/wire/iperf3"
	"soku/internal/wire/native"
	"soku/internal/wire/ntttcp"
)

// runSession measures against a server: handshake, data connections, both
// engines, both halves into r. What goes on ahead ends before packets move.
func runSession(ctx context.Context, s Spec, d *tests.Descriptor, t target, o measure.Options, ahead *preparation, h Hooks, r *measure.Result) error {
	observe, live := serialise(h.Observe), liveCount{}
	session, err := open(ctx, o.Via, t.hostPort(o), wire.Request{
		Test: s.Test, Options: o, Token: s.Token, TLS: s.TLS, IPerf3: s.IPerf3,
		Row: latency.OptionsOf(o).Row,
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

	policy := session.FlowPolicy()
	var watch *host.Sampler
	if policy.Start != nil { // the server's clock starts when the connections stand
		ahead.into(r)
		watch = host.Watch(r.Hosts.Client.Facts.Interface)
	}
	fail := func(err error) error {
		if watch != nil {
			watch.Stop(host.Moved{})
		}
		return serverFirst(ctx, err)
	}
	end, err := d.Open(ctx, session, o)
	defer closeAll(end.Conns)
	if err != nil {
		return fail(err)
	}
	ahead.into(r)
	if err := h.ready(ctx); err != nil {
		return fail(err)
	}
	opened := tallyOf(end.Conns.TCP)
	if h.Opened != nil {
		h.Opened(end.Conns.List())
	}
	sampler := sample(o, r.Hosts.Client, end.Conns)
	if watch == nil {
		watch = host.Watch(r.Hosts.Client.Facts.Interface)
	}
	later, endLater := engine.Background(ctx)
	defer endLater()
	flow := engine.Flow{Policy: policy, Pins: ahead.pins, Observe: observe, Later: later}
	defer limitTime(o, cmp.Or(s.overtime, overtime), cancel)()
	own, runErr, err := startAndRun(ctx, cancel, session, sendsFirst(s.Test, o), h, func() (*measure.End, error) { return end.Run(ctx, o, flow) })
	if err != nil {
		sampler.Stop()
		return fail(err)
	}
	warnMultipath(r, opened, tallyOf(end.Conns.TCP))
	counters := watch.Stop(host.MovedBy(own, o))
	r.Hosts.Client.Counters, r.Hosts.Client.Series = &counters, sampler.Stop()
	own.Host = r.Hosts.Client
	runErr = pinned(ahead.pins, r, runErr)
	keepDetails := readDetails(ctx, t.addr, r)

	other := &measure.End{}
	switch {
	case runErr == nil:
		other, runErr = session.Finish(ctx, own)
	case errors.Is(runErr, engine.ErrPeer):
		if half, err := session.Finish(ctx, own); err == nil && half != nil && half.Error != nil {
			other, runErr = half, half.Error
		}
	}
	endLater()
	warnControlCuts(session, r)
	keepDetails() // before the baseline is measured, and not while the session reads own
	if runErr == nil && policy.NoPeerReport {
		acknowledged(own, r)
	}
	if other == nil {
		other = &measure.End{}
	}
	if runErr == nil && other.Error != nil {
		runErr = other.Error
	}
	var overhead *measure.FloorReading
	if runErr == nil {
		if own.Latency != nil {
			own.Latency.ServerTiming = other.Timing
		}
		overhead = overheadOf(ctx, d, own, s.Baselines, r)
	}
	assemble(r, own, other, overhead)
	if runErr == nil && !policy.KeepOpen && !policy.NoPeerReport {
		runErr = cutShort(r)
	}
	warnBypassed(r)
	if d.Finish != nil {
		d.Finish(r)
	}
	if runErr == nil {
		crossCheck(r)
		warnRate(r, own, other)
		warnBusy(r)
		warnUnpinned(r)
	} else {
		live.into(r)
	}
	return serverFirst(ctx, runErr)
}

// sample begins the series of this host and its connections; nil without the option.
func sample(o measure.Options, h *measure.Host, conns flows.Conns) *series.Sampler {
	if o.Series != measure.SeriesOn {
		return nil
	}
	return series.Start(series.Config{Interface: h.Facts.Interface, Sources: conns.Watch(flows.Client, o)})
}

// sendsFirst reports whether the server only receives and counts from the first byte. Then it may
// be started before the moment of the start.
func sendsFirst(test measure.Test, o measure.Options) bool {
	return o.Via == option.ViaSoku && (test == measure.TestTCP || test == measure.TestUDP) &&
		cmp.Or(o.Direction, measure.Forward) == measure.Forward
}

// startAndRun starts the session and runs the flows, which may be prepared before the
// start; err is a failed start. With early the session is started before the moment of the start:
// its server reads the counters of its host first, which takes milliseconds.
func startAndRun(ctx context.Context, stop context.CancelCauseFunc, session wire.Session, early bool, h Hooks, run func() (*measure.End, error)) (own *measure.End, runErr, err error) {
	flows := func() {
		own, runErr = run()
		if s, ok := session.(wire.Ender); ok && runErr == nil {
			s.Ended() // before anything that takes time
		}
	}
	prepared := session.FlowPolicy().Start != nil
	if early && !prepared {
		err = session.Start(ctx)
	}
	if err == nil {
		err = h.begin(ctx)
	}
	if err == nil && !early && !prepared {
		err = session.Start(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	if !prepared {
		h.started()
		flows()
		return own, runErr, nil
	}
	var running sync.WaitGroup
	running.Go(flows)
	if err = session.Start(ctx); err != nil {
		stop(err)
	} else {
		h.started()
	}
	running.Wait()
	return own, runErr, err
}

// serverFirst prefers what the server said over what an engine saw of it:
// "server is shutting down" is more specific than "connection reset".
func serverFirst(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// warnControlCuts adds that the control connection was cut and opened again.
func warnControlCuts(session wire.Session, r *measure.Result) {
	s, can := session.(wire.Resumer)
	if !can {
		return
	}
	if c := s.ControlCuts(); c.Cuts > 0 {
		r.Findings.Add(finding.ControlCut, "", measure.Figures{"cuts": c.Cuts, "cut_ns": c.Lasted, "longest_ns": c.Longest})
	}
}

func serialise(obs measure.Observer) measure.Observer {
	var mu sync.Mutex
	return func(p measure.Progress) {
		mu.Lock()
		defer mu.Unlock()
		obs(p)
	}
}

func closeAll(conns flows.Conns) {
	for _, c := range conns.List() {
		_ = c.Close()
	}
}

// overheadOf is what tool and host add to the figures of own: one of the known baselines, or
// measured now. It is nil, with a finding in r, where that failed.
func overheadOf(ctx context.Context, d *tests.Descriptor, own *measure.End, known []measure.FloorReading, r *measure.Result) *measure.FloorReading {
	if d.Overhead == nil {
		return nil
	}
	conditions := d.Conditions(r.Options, own)
	for _, reading := range known {
		// One that is above the median may be of a moment in which the host was busy.
		if reading.Conditions == conditions && reading.RTT.P50 < float64(own.Latency.Histogram.Percentile(50)) {
			return &reading
		}
	}
	reading, err := d.Overhead(ctx, r.Options, own)
	if err != nil {
		r.Findings.Add(finding.BaselineFailed, measure.AtClient, measure.Figures{"error": err})
	}
	if reading != nil {
		reading.Conditions = conditions
	}
	return reading
}

// open begins a session in the protocol that the option via names.
func open(ctx context.Context, via, hostPort string, r wire.Request, h wire.Hooks) (wire.Session, error) {
	switch via {
	case option.ViaSoku:
		return native.Open(ctx, hostPort, r, h)
	case option.ViaIperf3:
		return iperf3.Open(ctx, hostPort, r, h)
	case option.ViaEthr:
		return ethr.Open(ctx, hostPort, r, h)
	case option.ViaNtttcp:
		return ntttcp.Open(ctx, hostPort, r, h)
	}
	return nil, measure.Fail(measure.KindUsage, "trial.via", measure.Figures{"via": via, "own": option.ViaSoku})
}

// overtime is how much longer than its duration a trial may take from its start to the other
// end's result, whatever the other end sends: more than the 30 s after which a soku server ends
// it, and what the ends wait for each other then.
const overtime = time.Minute

// limitTime ends a trial that has a duration when it takes longer than that by over. The caller
// calls the returned function when the trial has ended. A trial of an amount has no limit.
func limitTime(o measure.Options, over time.Duration, cancel context.CancelCauseFunc) (stop func()) {
	if o.Duration <= 0 {
		return func() {}
	}
	timer := time.AfterFunc((o.Omit+o.Duration).Std()+over, func() {
		cancel(measure.Fail(measure.KindBroken, "trial.overtime", measure.Figures{"limit_ns": over}))
	})
	return func() { timer.Stop() }
}
