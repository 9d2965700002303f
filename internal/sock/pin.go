package sock

import (
	"runtime"
	"slices"
	"sync"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

// Pins pin each loop of one end of a trial to one processor, and record which. A nil
// *Pins pins nothing. Safe for concurrent use.
type Pins struct {
	cpus []int // at least one, ascending

	mu                 sync.Mutex
	senders, receivers int   // loops pinned so far
	kept               []int // one element a loop
	err                error
}

// NewPins returns the pins that p asks for, or nil if it asks for none. An error has kind usage:
// the system cannot pin threads (only Linux can), or this process may not use one of the
// processors.
func NewPins(p option.Pinning) (*Pins, error) {
	if !p.On {
		return nil, nil
	}
	allowed, err := allowedCPUs()
	if err != nil {
		return nil, err
	}
	for _, cpu := range p.CPUs {
		if !slices.Contains(allowed, cpu) {
			return nil, measure.Fail(measure.KindUsage, "sock.pin.processor", measure.Figures{
				"processor": cpu, "allowed": option.FormatCPUs(allowed),
			})
		}
	}
	if len(p.CPUs) > 0 {
		allowed = p.CPUs
	}
	return &Pins{cpus: allowed}, nil
}

// Keep locks the calling goroutine to its thread and pins that thread to one processor
// until release, which the same goroutine calls. Loops that send, ask or connect get
// processors from the first upwards; loops that receive, answer or accept get them from
// the last downwards, so that both ends on one host share processors as late as possible.
// If the system refuses, [Pins.Err] returns the error.
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
			p.err = measure.Fail(measure.KindPermission, "sock.pin", measure.Figures{"processor": cpu, "cause": err})
		}
		return runtime.UnlockOSThread
	}
	p.kept = append(p.kept, cpu)
	return func() {
		// If the thread cannot be unpinned, it must not return to the runtime, which
		// would run other goroutines on it. It stays locked and ends with its goroutine.
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

// Pinned returns the processors of the loops so far: one element a loop, in the order in
// which they began.
func (p *Pins) Pinned() []int {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.kept)
}

// Err returns the first error of the system, of kind permission.
func (p *Pins) Err() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}
