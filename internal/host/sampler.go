package host

import (
	"sync"

	"soku/internal/measure"
)

// Sampler reads counters of this process, this host and one interface when it starts and when
// it stops; package series reads them in between. On Linux the interface and the protocols are
// those of the network namespace that the thread which started it was in then; if that is not
// the process's, the thread must live until Stop.
//
// It holds nothing open and has no goroutine. All methods are safe for concurrent use.
type Sampler struct {
	source *source
	iface  string
	share  *share
	start  Reading
	vf     *functionWatch
}

// Watch starts a Sampler of an interface, whose name may be empty. The caller must call Stop.
func Watch(iface string) *Sampler {
	s := &Sampler{source: newSource(procRoot), iface: iface, share: watched.enter(), vf: watchFunction(iface)}
	s.start = s.source.read(s.iface)
	return s
}

// Moved is what a trial moved at this end in the time that is watched: what its
// cost is divided by. Zeros leave the quotients out.
type Moved struct{ Bytes, Packets int64 }

// MovedBy is what an end of a trial moved. With an omitted start the end counts
// only what came after it and its processor time began before: no quotient of
// the two means anything, so there is none.
func MovedBy(e *measure.End, o measure.Options) Moved {
	if o.Omit > 0 {
		return Moved{}
	}
	bytes, packets := e.Moved()
	return Moved{Bytes: bytes, Packets: packets}
}

// What must have moved before the cost of a byte or a packet is computed: of less it is the
// cost of setting the trial up.
const (
	leastBytes   = 1_000_000
	leastPackets = 1000
)

// Stop returns the differences since the start. It may be called more than once; the first
// call ends the time in which another Sampler shares the process.
func (s *Sampler) Stop(moved Moved) measure.Counters {
	c := Difference(s.start, s.source.read(s.iface))
	c.FunctionBytes = s.vf.moved()
	c.Shared = watched.leave(s.share)
	if work := float64(c.ProcessUserNs + c.ProcessSysNs); !c.Shared {
		if moved.Bytes >= leastBytes {
			c.CPUSecPerGB = work / float64(moved.Bytes)
		}
		if moved.Packets >= leastPackets {
			c.CPUNsPerPacket = work / float64(moved.Packets)
		}
	}
	return c
}

// watched are the watchers that run now. Processor time is known of the process
// as a whole, so the time of two that overlap cannot be divided between them. It belongs to the
// process as the times do, which is why it is no member of anything.
var watched shares

// shares is for any goroutine.
type shares struct {
	mu  sync.Mutex
	now map[*share]struct{}
}

// share is one watcher's time.
type share struct{ others bool }

// enter begins a time; all that overlap it are shared from now on.
func (s *shares) enter() *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := &share{others: len(s.now) > 0}
	for other := range s.now {
		other.others = true
	}
	if s.now == nil {
		s.now = map[*share]struct{}{}
	}
	s.now[own] = struct{}{}
	return own
}

// leave ends the time, once, and reports whether it was shared.
func (s *shares) leave(own *share) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.now, own)
	return own.others
}
