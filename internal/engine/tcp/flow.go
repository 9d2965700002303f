package tcp

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/meter"
)

// limits are how long to wait for what may never come.
type limits struct {
	engine.Timeouts
	spare time.Duration // for the far end's last word, beyond its own time to drain

	portable bool // take only the paths that every system has
	threads  int  // most streams of a flow whose senders wait each in a thread of its own
}

var usual = limits{Timeouts: engine.Timeouts{First: 10 * time.Second, Idle: 30 * time.Second}, spare: 2 * time.Second, threads: 32}

// flow is one direction at one end.
type flow struct {
	conns  []*net.TCPConn
	o      measure.Options
	policy engine.FlowPolicy
	ending *sock.Ending
	limits limits
	group  *sock.Group
	rec    *meter.Recorder
	length int
	path   string // that the bytes take
	pins   *sock.Pins
	watch  func() // gives the connections back to the runtime's poller
}

func newFlow(conns []*net.TCPConn, o measure.Options, role measure.Role, asked engine.Flow, l limits) (*flow, error) {
	if slices.ContainsFunc(conns, sock.IsMultipath) {
		o = ofMultipath(o)
	}
	f := &flow{watch: func() {}, policy: asked.Policy, pins: asked.Pins, conns: conns, o: o, limits: l, group: sock.NewGroup(conns), length: int(cmp.Or(o.Length, measure.UsualLength(len(conns))))}
	f.limits.Timeouts = f.limits.With(f.policy, role)
	cfg := meter.Config{Direction: asked.Direction, Role: role, Interval: o.Interval.Std(), Observe: asked.Observe}
	for _, c := range conns {
		cfg.Conns = append(cfg.Conns, c)
	}
	if role == measure.Sender {
		cfg.Info = func(i int) (measure.TCPInfo, bool) { return sock.TCPInfo(conns[i]) }
	}
	f.rec = meter.NewRecorder(cfg)
	f.ending = f.group.Watch(f.policy.Over, stallTimeoutOf(role))
	if len(conns) == 0 {
		return f, measure.Errorf(measure.KindInternal, "measure TCP over no connections")
	}
	if o.Duration <= 0 && o.Bytes <= 0 && f.policy.Over == nil {
		return f, measure.Errorf(measure.KindInternal, "measure TCP for no time and no bytes")
	}
	settings := sock.FromOptions(o)
	if role == measure.Receiver {
		settings.FlowLabel = 0 // a sender's
	}
	for _, c := range conns {
		if err := settings.Apply(c); err != nil {
			return f, err
		}
	}
	return f, nil
}

// ofMultipath are the options with the paths for Multipath TCP where none is asked for.
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

// idle is how long a flow may stand still; 0 is for any time.
func (f *flow) idle(role measure.Role) time.Duration {
	return f.policy.StallTimeout(role, f.timed(), f.limits.Idle, f.lull())
}

func (f *flow) timed() bool { return engine.Timed(f.o) }

// stallTimeoutOf is how long an end goes on when the protocol says that the flow is
// over: a receiver takes what is queued.
func stallTimeoutOf(role measure.Role) time.Duration {
	if role == measure.Sender {
		return 0
	}
	return lastBytes
}

func (f *flow) nominal() time.Duration { return engine.Nominal(f.o) }

// haste is by how much the far end of a timed flow may end before its time.
func (f *flow) haste() time.Duration { return min(time.Second, f.nominal()/2) }

// drain is how long after its nominal end a timed flow's receiver still reads.
func (f *flow) drain() time.Duration { return f.policy.Grace(f.o) }

// unit is how many bytes are written at once: o.Length, but with a rate no
// more than 5 ms of it, so that a low rate does not move in lumps, unless lumps
// are what is asked for.
func (f *flow) unit() int {
	if f.o.Rate <= 0 || f.o.Burst > 0 {
		return f.length
	}
	const least = 1448 // a usual segment
	return min(f.length, max(least, int(f.streamRate()/8*0.005)))
}

// burst is how many units go back to back.
func (f *flow) burst() int { return max(1, f.o.Burst) }

func (f *flow) streamRate() float64 { return float64(f.o.Rate) / float64(len(f.conns)) }

// lull is how long a stream may be silent because of its rate alone.
func (f *flow) lull() time.Duration {
	return engine.Lull(f.o, float64(f.unit()*f.burst()*len(f.conns)))
}

// run starts a worker a stream and records until all have ended; a context
// that ends, or a flow that stands still for longer than idle, ends them.
func (f *flow) run(ctx context.Context, w meter.Window, done <-chan struct{}) {
	w.Done = done
	err := f.rec.Watch(ctx, w)
	if errors.Is(err, meter.ErrIdle) {
		err = measure.Errorf(measure.KindBroken, "no byte moved for %v on any of %d streams", w.Idle.Round(100*time.Millisecond), len(f.conns)).
			WithHint("is the path still up?").WithCause(engine.ErrStalled)
	}
	if err != nil {
		f.group.Stop(err)
	}
	<-done
	f.watch()
	f.rec.End()
}

// start runs n workers; the channel is closed when all returned.
func start(n int, worker func(i int)) <-chan struct{} {
	var workers sync.WaitGroup
	for i := range n {
		workers.Go(func() { worker(i) })
	}
	done := make(chan struct{})
	go func() { workers.Wait(); close(done) }()
	return done
}

// end is the flow's result. When ctx has ended, what it did to the other end
// may have been seen here first, as a reset; its cause is the reason all the same.
func (f *flow) end(ctx context.Context) (measure.FlowEnd, error) {
	err := f.group.Err()
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	end := f.rec.Flow()
	end.Path = f.path
	return end, err
}

// expired tells whether err is a deadline that went by.
func expired(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// broken is the error for a stream that ended too early.
func (f *flow) broken(what string, stream int, err error) *measure.Error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = errno // without the addresses, which the sentence has
	}
	return measure.Errorf(measure.KindBroken, "%s %s (stream %d of %d): %w", what, f.conns[stream].RemoteAddr(), stream+1, len(f.conns), err).
		WithHint("the far end or the path went away; is the other soku still running?")
}
