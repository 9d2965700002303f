package udp

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/sock"
	"soku/internal/sock/datagram"
	"soku/internal/sock/meter"
	"soku/internal/sock/pace"
)

// limits are time-outs; tests shorten them.
type limits struct {
	engine.Timeouts
	refused time.Duration // while the far end answers "port unreachable"
}

var usual = limits{Timeouts: engine.Timeouts{First: 10 * time.Second, Idle: 10 * time.Second}, refused: 2 * time.Second}

// flow is one direction at one end of a test.
type flow struct {
	conns  []net.Conn
	o      measure.Options
	policy engine.FlowPolicy
	ending *sock.Ending
	limits limits
	path   string // of the datagrams: the value of tx or rx
	group  *sock.Group
	rec    *meter.Recorder
	pins   *sock.Pins
	limit  *pace.Budget // of this end; nil: none
}

func newFlow(conns []net.Conn, o measure.Options, role measure.Role, asked engine.Flow, l limits) (*flow, error) {
	f := &flow{policy: asked.Policy, pins: asked.Pins, conns: conns, o: o, limits: l, group: sock.NewGroup(conns), limit: asked.Limit.Of(role)}
	if f.limit != nil && role == measure.Sender {
		if most := max(1, measure.Rate(f.limit.Rate())); f.o.Rate == 0 || f.o.Rate > most {
			f.o.Rate = most
		}
	}
	f.rec = meter.NewRecorder(meter.Config{
		Direction: asked.Direction, Role: role, Interval: o.Interval.Std(), Observe: asked.Observe, Conns: conns,
	})
	f.limits.Timeouts = f.limits.With(f.policy, role)
	f.ending = f.group.Watch(f.policy.Over, f.graceAfterOver(role))
	switch {
	case len(conns) == 0:
		return f, measure.Fail(measure.KindInternal, "udp.no_sockets", nil)
	case o.Duration <= 0 && o.Bytes <= 0 && f.policy.Over == nil:
		return f, measure.Fail(measure.KindInternal, "udp.endless", nil)
	case int(o.Size) < f.header():
		return f, measure.Fail(measure.KindUsage, "udp.header", measure.Figures{"size_bytes": o.Size, "least_bytes": f.header()})
	}
	if err := f.choosePath(role); err != nil {
		return f, err
	}
	settings := sock.FromOptions(o)
	settings.Unprivileged = asked.FarOptions
	if role == measure.Receiver {
		settings.FlowLabel, settings.NoFragment = 0, false // only the sender sets them
	}
	for _, c := range conns {
		if err := settings.Apply(c); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (f *flow) choosePath(role measure.Role) (err error) {
	if role == measure.Sender {
		f.path, err = datagram.SendPath(f.o.TX, f.conns)
	} else {
		f.path, err = datagram.ReceivePath(f.o.RX, f.conns)
	}
	return err
}

// take takes the connections out of the runtime's poller if the path makes its own system
// calls; the returned function adds them again.
func (f *flow) take() func() {
	if f.path == datagram.Write || f.path == datagram.Read {
		return func() {}
	}
	return sock.Unwatch(f.conns)
}

// count returns what this end counted, and by which path.
func (f *flow) count() measure.FlowEnd {
	end := f.rec.Flow()
	end.Path = f.path
	return end
}

// header returns the length of a datagram's header in bytes.
func (f *flow) header() int {
	if f.policy.Datagrams == nil {
		return headerSize
	}
	return f.policy.Datagrams.Size()
}

// idle returns the stall timeout of the flow; 0 is none.
func (f *flow) idle(role measure.Role) time.Duration {
	return f.policy.StallTimeout(role, f.timed(), f.limits.Idle, f.lull())
}

func (f *flow) timed() bool { return engine.Timed(f.o) }

// graceAfterOver returns how long an end continues after the protocol ended the flow:
// datagrams may still be in flight to a receiver.
func (f *flow) graceAfterOver(role measure.Role) time.Duration {
	if role == measure.Sender || f.policy.EndAtOnce {
		return 0
	}
	return reorderWait
}

func (f *flow) nominal() time.Duration { return engine.Nominal(f.o) }

// grace returns how long after its nominal end a timed flow's receiver still waits for
// the sender's FIN.
func (f *flow) grace() time.Duration { return f.policy.Grace(f.o) }

// burst returns how many datagrams of a stream are sent back to back.
func (f *flow) burst() int { return max(1, f.o.Burst) }

// lull returns how long a flow may be silent because of its rate alone.
func (f *flow) lull() time.Duration { return engine.Lull(f.o, float64(f.o.Size)*float64(f.burst())) }

// start runs workers; the channel is closed when all have returned. A panic of one stops the
// flow; [flow.failure] raises it again.
func (f *flow) start(n int, worker func(i int)) <-chan struct{} {
	var workers sync.WaitGroup
	for i := range n {
		workers.Go(func() {
			if e := panics.Catch(func() { worker(i) }); e != nil {
				f.group.Stop(e)
			}
		})
	}
	done := make(chan struct{})
	go func() { workers.Wait(); close(done) }()
	return done
}

// run records until all workers have ended. The end of the context, or a flow that moves
// nothing for longer than w.Idle, ends them.
func (f *flow) run(ctx context.Context, w meter.Window, done <-chan struct{}) {
	w.Done = done
	err := f.rec.Watch(ctx, w)
	if errors.Is(err, meter.ErrIdle) {
		err = engine.FailStream(f.conns, 0, "udp.stalled", measure.Figures{"idle_ns": w.Idle.Round(100 * time.Millisecond)}).WithCause(engine.ErrStalled)
	}
	if err != nil {
		f.group.Stop(err)
	}
	<-done
	f.rec.End()
}

// failure returns why the flow was stopped, or nil. If ctx has ended, its cause is the
// error, even if its effect on the other end was seen here first.
func (f *flow) failure(ctx context.Context) error {
	err := f.group.Err()
	panics.Raise(err)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
