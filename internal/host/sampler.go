package host

import (
	"sync"
	"time"

	"soku/internal/measure"
)

// Sampling says what a [Sampler] reads.
type Sampling struct {
	Interface string // whose traffic is read; may be empty
	// Series keeps readings between start and stop. A measuring run that nobody asks
	// for one does without: each reading takes 0.2 ms of processor time on two
	// processors, and more with their number.
	Series bool
	Every  time.Duration // between two readings of a series; 0 for 100 ms
	Most   int           // readings of a series, at least 3; 0 for 600
}

// Defaults of a series.
const (
	seriesEvery = 100 * time.Millisecond
	seriesMost  = 600
	seriesLeast = 3 // the first, the last, and one between them
)

// Sampler reads counters of this process, this host and one interface when it starts
// and when it stops, and regularly in between if it has a series. On Linux the
// interface and the protocols are those of the network namespace that the thread which
// started it was in then; if that is not the process's, the thread must live until Stop.
//
// It holds nothing open. With a series it has one goroutine, which Stop ends and waits for.
// All methods are safe for concurrent use.
type Sampler struct {
	source *source
	iface  string
	share  *share
	start  Reading

	end      chan struct{} // closed to end the series; nil without one
	finished chan struct{} // closed when its goroutine has ended
	once     sync.Once

	mu     sync.Mutex
	series series
}

// Watch starts a Sampler without a series.
func Watch(iface string) *Sampler { return Sample(Sampling{Interface: iface}) }

// Sample starts a Sampler. The caller must call Stop.
func Sample(what Sampling) *Sampler { return sample(newSource(procRoot), what) }

func sample(from *source, what Sampling) *Sampler {
	s := &Sampler{source: from, iface: what.Interface, share: watched.enter()}
	s.start = s.source.read(s.iface, what.Series)
	if !what.Series {
		return s
	}
	if what.Every <= 0 {
		what.Every = seriesEvery
	}
	if what.Most <= 0 {
		what.Most = seriesMost
	}
	s.series = series{most: max(what.Most, seriesLeast), every: what.Every}
	s.series.add(s.start)
	s.end, s.finished = make(chan struct{}), make(chan struct{})
	go s.run()
	return s
}

// run reads the series until it ends.
func (s *Sampler) run() {
	defer close(s.finished)
	every := s.series.every
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-s.end:
			return
		case <-tick.C:
		}
		r := s.source.read(s.iface, true)
		s.mu.Lock()
		s.series.add(r)
		if s.series.every != every {
			every = s.series.every
			tick.Reset(every)
		}
		s.mu.Unlock()
	}
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

// Stop returns the differences since the start. It may be called more than once;
// the first call ends the series, and the time in which another Sampler shares the
// process.
func (s *Sampler) Stop(moved Moved) measure.Counters {
	c := Difference(s.start, s.last())
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

// last reads the counters. The first call ends the series with what it reads.
func (s *Sampler) last() (r Reading) {
	if s.end != nil {
		s.once.Do(func() {
			close(s.end)
			<-s.finished
			r = s.source.read(s.iface, true)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.series.add(r)
		})
	}
	if r.At.IsZero() {
		r = s.source.read(s.iface, false)
	}
	return r
}

// Series are the readings until now, in the order of their times: the start first, and
// after Stop its reading last. It is nil without a series.
func (s *Sampler) Series() []Reading {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Reading(nil), s.series.readings...)
}
