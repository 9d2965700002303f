package sock

import (
	"runtime"
	"slices"
	"sync"

	"soku/internal/measure"
)

// Pins keep the loops of one end of a trial each on one processor, and remember
// which. A nil *Pins keeps none. Safe for concurrent use.
type Pins struct {
	cpus []int // at least one, ascending

	mu                 sync.Mutex
	senders, receivers int   // loops so far
	kept               []int // one element a loop
	err                error
}

// NewPins are the pins that p asks for, nil for none. Errors are of kind usage:
// where the system has no way to keep a thread on a processor (only Linux has), and
// for a processor that this process may not use.
func NewPins(p measure.Pinning) (*Pins, error) {
	if !p.On {
		return nil, nil
	}
	allowed, err := allowedCPUs()
	if err != nil {
		return nil, err
	}
	for _, cpu := range p.CPUs {
		if !slices.Contains(allowed, cpu) {
			return nil, measure.Errorf(measure.KindUsage, "pin: this process may not use processor %d, only %s", cpu, measure.FormatCPUs(allowed)).
				WithHint("choose among these, or look at taskset and the control group's cpuset")
		}
	}
	if len(p.CPUs) > 0 {
		allowed = p.CPUs
	}
	return &Pins{cpus: allowed}, nil
}

// Keep keeps the calling goroutine on one thread and that thread on one processor
// until release, which the same goroutine calls. Loops that send, ask or connect
// take the processors from the first up, those that receive, answer or accept from
// the last down, so that both ends of one host meet as late as can be. What the
// system refuses is told by [Pins.Err].
func (p *Pins) Keep(role measure.Role) (release func()) {
	if p == nil {
		return func() {}
	}
	runtime.LockOSThread()
	p.mu.Lock()
	defer p.mu.Unlock()
	cpu := p.next(role)
	restore, err := keepThread(cpu)
	if err != nil {
		if p.err == nil {
			p.err = measure.Errorf(measure.KindPermission, "pin a loop to processor %d: %w", cpu, err).
				WithHint("was the processor taken offline or away from this process? Leave out --pin")
		}
		return runtime.UnlockOSThread
	}
	p.kept = append(p.kept, cpu)
	return func() {
		// A thread that stays where it is must not come back to the runtime, which
		// would run anything on it: locked, it dies with its goroutine.
		if restore() == nil {
			runtime.UnlockOSThread()
		}
	}
}

func (p *Pins) next(role measure.Role) int {
	n := len(p.cpus)
	if role == measure.Sender {
		p.senders++
		return p.cpus[(p.senders-1)%n]
	}
	p.receivers++
	return p.cpus[n-1-(p.receivers-1)%n]
}

// Pinned are the processors of the loops so far, one element a loop in the order in
// which they began.
func (p *Pins) Pinned() []int {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.kept)
}

// Err is the first refusal of the system, of kind permission.
func (p *Pins) Err() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}
