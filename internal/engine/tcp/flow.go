package tcp

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/panics"
	"soku/internal/sock"
	"soku/internal/sock/meter"
	"soku/internal/sock/pace"
)

// limits are time-outs and bounds; tests shorten them.
type limits struct {
	engine.Timeouts
	spare time.Duration // for the peer's shutdown, added to its own time to drain

	portable bool // use only the portable paths
	threads  int  // most streams of a flow whose senders block, each in a thread of its own

	spreading spreading
}

var usual = limits{Timeouts: engine.Timeouts{First: 10 * time.Second, Idle: 30 * time.Second}, spare: 2 * time.Second, threads: 32, spreading: spreading{every: 50 * time.Millisecond, busy: 0.8, idle: 1}}

// flow is one direction at one end of a test.
type flow struct {
	conns  []*net.TCPConn
	o      measure.Options
	policy engine.FlowPolicy
	ending *sock.Ending
	limits limits
	group  *sock.Group
	rec    *meter.Recorder
	length int
	path   string // of the bytes: the value of tx or rx
	work   sync.WaitGroup
	pins   *sock.Pins
	limit  *pace.Budget // of this end; nil: none
	watch  func()       // adds the connections to the runtime's poller again
}

func newFlow(conns []*net.TCPConn, o measure.Options, role measure.Role, asked engine.Flow, l limits) (*flow, error) {
	if slices.ContainsFunc(conns, sock.IsMultipath) {
		o = ofMultipath(o)
	}
	f := &flow{watch: func() {}, policy: asked.Policy, pins: asked.Pins, conns: conns, o: o, limits: l, group: sock.NewGroup(conns), length: int(cmp.Or(o.Length, option.UsualLength(len(conns))))}
	f.limits.Timeouts = f.limits.With(f.policy, role)
	f.hold(asked.Limit.Of(role), role)
	cfg := meter.Config{Direction: asked.Direction, Role: role, Interval: o.Interval.Std(), Observe: asked.Observe}
	for _, c := range conns {
		cfg.Conns = append(cfg.Conns, c)
	}
	if role == measure.Sender {
		cfg.Info = func(i int) (measure.TCPInfo, bool) { return sock.TCPInfo(conns[i]) }
	} else if !asked.Policy.KeepOpen && len(conns) <= mostArrivals { // otherwise what the end leaves unread is no part of the flow
		cfg.Arrived = arrivals(conns)
	}
	f.rec = meter.NewRecorder(cfg)
	f.ending = f.group.Watch(f.policy.Over, f.graceAfterOver(role))
	if len(conns) == 0 {
		return f, measure.Fail(measure.KindInternal, "tcp.no_connections", nil)
	}
	if o.Duration <= 0 && o.Bytes <= 0 && f.policy.Over == nil {
		return f, measure.Fail(measure.KindInternal, "tcp.endless", nil)
	}
	settings := sock.FromOptions(o)
	settings.Unprivileged = asked.FarOptions
	if role == measure.Receiver {
		settings.FlowLabel = 0 // only the sender sets it
	}
	for _, c := range conns {
		if err := settings.Apply(c); err != nil {
			return f, err
		}
	}
	return f, nil
}

// mostArrivals limits the streams whose arrivals are read for a sample: more system calls would take
// so long that a sample has no moment.
const mostArrivals = 64

// arrivals returns what the kernel has received on each of conns from now on. It is called before
// anything is read. A connection whose count is unknown stays so.
func arrivals(conns []*net.TCPConn) func(i int) (int64, bool) {
	before := make([]int64, len(conns))
	known := make([]bool, len(conns))
	for i, c := range conns {
		before[i], known[i] = sock.Consumed(c)
	}
	return func(i int) (int64, bool) {
		if !known[i] {
			return 0, false
		}
		n, ok := sock.Received(conns[i])
		return n - before[i], ok
	}
}

// hold keeps the flow within a budget; nil is none. Calls then move little at a time, and a
// sender has a rate.
func (f *flow) hold(limit *pace.Budget, role measure.Role) {
	if limit == nil {
		return
	}
	f.limit = limit
	f.length = min(f.length, limit.Piece(len(f.conns)))
	if most := measure.Rate(limit.Rate()); role == measure.Sender && (f.o.Rate == 0 || f.o.Rate > most) {
		f.o.Rate = max(1, most)
	}
}

// balancer waits until the flow is within its budget; nil without one.
func (f *flow) balancer() *pace.Waiter {
	if f.limit == nil {
		return nil
	}
	return pace.NewWaiter(f.ending.Halted())
}

// ofMultipath sets the default paths for Multipath TCP in o.
func ofMultipath(o measure.Options) measure.Options {
	tx, rx := sock.MultipathPaths()
	if o.TX == "" || o.TX == auto {
		o.TX = tx
	}
	if o.RX == "" || o.RX == auto {
		o.RX = rx
	}
	return o
}

// idle returns the stall timeout of the flow; 0 is none.
func (f *flow) idle(role measure.Role) time.Duration {
	return f.policy.StallTimeout(role, f.timed(), f.limits.Idle, f.lull())
}

func (f *flow) timed() bool { return engine.Timed(f.o) }

// graceAfterOver returns how long an end continues after the protocol ended the flow: a
// receiver reads what is queued.
func (f *flow) graceAfterOver(role measure.Role) time.Duration {
	if role == measure.Sender || f.policy.EndAtOnce {
		return 0
	}
	return lastBytes
}

func (f *flow) nominal() time.Duration { return engine.Nominal(f.o) }

// earlyMargin returns how long before its time the peer of a timed flow may end without
// an error.
func (f *flow) earlyMargin() time.Duration { return min(time.Second, f.nominal()/2) }

// drain returns how long after its nominal end a timed flow's receiver still reads.
func (f *flow) drain() time.Duration { return f.policy.Grace(f.o) }

// unit returns how many bytes one write takes: o.Length, but with a rate at most 5 ms of
// it, so that a low rate is sent evenly; unless bursts are requested.
func (f *flow) unit() int {
	if f.o.Rate <= 0 || f.o.Burst > 0 {
		return f.length
	}
	const least = 1448 // a usual segment
	return min(f.length, max(least, int(f.streamRate()/8*0.005)))
}

// burst returns how many units are sent back to back.
func (f *flow) burst() int { return max(1, f.o.Burst) }

func (f *flow) streamRate() float64 { return float64(f.o.Rate) / float64(len(f.conns)) }

// lull returns how long a stream may be silent because of its rate alone.
func (f *flow) lull() time.Duration {
	return engine.Lull(f.o, float64(f.unit()*f.burst()*len(f.conns)))
}

// run starts a worker a stream and records until all have ended. The end of the context,
// or a flow that moves nothing for longer than its stall timeout, ends them.
func (f *flow) run(ctx context.Context, w meter.Window, done <-chan struct{}) {
	w.Done = done
	err := f.rec.Watch(ctx, w)
	if errors.Is(err, meter.ErrIdle) {
		err = measure.Fail(measure.KindBroken, "tcp.stalled", measure.Figures{
			"idle_ns": w.Idle.Round(100 * time.Millisecond), "streams": len(f.conns),
		}).WithCause(engine.ErrStalled)
	}
	if err != nil {
		f.group.Stop(err)
	}
	<-done
	f.watch()
	f.rec.End()
}

// start runs n workers; the channel is closed when all have returned, and those that they launched.
func (f *flow) start(n int, worker func(i int)) <-chan struct{} {
	for i := range n {
		f.launch(func() { worker(i) })
	}
	done := make(chan struct{})
	go func() { f.work.Wait(); close(done) }()
	return done
}

// launch runs a worker. A panic of one stops the flow; [flow.end] raises it again.
func (f *flow) launch(worker func()) {
	f.work.Go(func() {
		if e := panics.Catch(worker); e != nil {
			f.group.Stop(e)
		}
	})
}

// end returns the flow's result. If ctx has ended, its cause is the error, even if its
// effect on the other end, such as a reset, was seen here first.
func (f *flow) end(ctx context.Context) (measure.FlowEnd, error) {
	err := f.group.Err()
	panics.Raise(err)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	end := f.rec.Flow()
	end.Path = f.path
	return end, err
}

// expired reports whether err is an expired deadline.
func expired(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
