package series

import (
	"sync"
	"sync/atomic"
	"time"

	"soku/internal/measure"
	"soku/internal/panics"
)

// Config says what a [Sampler] reads.
type Config struct {
	Interface string   // that carries the path; may be empty
	Sources   []Source // in addition to those of the host: the sockets of a trial

	every time.Duration  // between two readings; 0: the constant every
	clock processorClock // of what a source costs; nil: processorTime
}

const (
	every = 100 * time.Millisecond
	// hang is how long a reading may take before its source is given up.
	hang = time.Second
	// longestWait is how long Start waits for the first reading, and Stop for the last one.
	longestWait = 100 * time.Millisecond
)

// MostAtOnce is how many samplers a process has at the same time: each costs files and
// processor time, and many together would slow down what they watch.
const MostAtOnce = 4

// Descriptors is more than the files that a sampler holds open: one a thread of the process, of
// at most 80, and those of the host.
const Descriptors = 128

// running is how many samplers have not ended, and how many sources hang.
var running atomic.Int64

// Sampler reads the counters of this host and of sockets regularly, from Start to Stop. On
// Linux the interface and the protocols are those of the network namespace of the thread that
// started it. Its methods are safe for concurrent use.
type Sampler struct {
	every time.Duration
	hang  time.Duration

	stop chan struct{}
	once sync.Once
	runs panics.Group // the goroutine that keeps the time

	table table // of that goroutine; final when it has ended
}

// Start begins to sample. It returns within 100 ms, and the caller must call Stop.
//
// Start returns nil if this process already has [MostAtOnce] samplers. A source that hangs counts
// as a sampler, also after its sampler has ended.
func Start(c Config) *Sampler {
	if running.Add(1) > MostAtOnce {
		running.Add(-1)
		return nil
	}
	return start(hostSources(c.Interface), c, hang)
}

// start begins a sampler that is among the running already.
func start(host []opener, c Config, hang time.Duration) *Sampler {
	s := &Sampler{every: c.every, hang: hang, stop: make(chan struct{})}
	if s.every <= 0 {
		s.every = every
	}
	s.table.most = measure.SeriesReadings
	openers := host
	for _, source := range c.Sources {
		openers = append(openers, func() Source { return source })
	}
	clock := c.clock
	if clock == nil {
		clock = processorTime
	}
	first := make(chan struct{})
	r := newReader(openers, clock)
	s.runs.Go(func() { s.run(r, first) })
	limit := time.NewTimer(longestWait)
	defer limit.Stop()
	select {
	case <-first:
	case <-limit.C:
	}
	return s
}

// Stop reads once more and returns the series, or nil if there is none. It waits at most 100 ms
// for a source. Further calls return the same.
func (s *Sampler) Stop() *measure.Series {
	if s == nil {
		return nil
	}
	s.once.Do(func() { close(s.stop) })
	s.runs.Wait()
	v, ok := s.table.values()
	if !ok {
		return nil
	}
	return measure.NewSeries(v)
}

// run keeps the time. first is closed after the first reading.
func (s *Sampler) run(r *reader, first chan struct{}) {
	defer running.Add(-1)
	interval := s.every
	tick := time.NewTicker(interval)
	defer tick.Stop()
	r, _ = s.reading(r, true)
	close(first)
	for last := false; !last; {
		select {
		case <-tick.C:
		case <-s.stop:
			last = true
		}
		var halved bool
		if r, halved = s.reading(r, last); halved {
			interval *= 2
			tick.Reset(interval)
		}
	}
	r.close()
}

// reading takes one reading, of all sources or of those that are due, and reports whether the
// table was halved for it. Where a source hangs there is none, and a reader without that source.
func (s *Sampler) reading(r *reader, all bool) (next *reader, halved bool) {
	r.requests <- all
	limit, stop := time.NewTimer(s.hang), s.stop
	defer limit.Stop()
	for {
		select {
		case got := <-r.results:
			return r, s.add(got)
		case e := <-r.failed:
			panic(e)
		case <-limit.C:
			// Where this goroutine was late itself, the reading may be there.
			select {
			case got := <-r.results:
				return r, s.add(got)
			default:
				return r.withoutHanging(), false
			}
		case <-stop:
			limit.Reset(longestWait)
			stop = nil
		}
	}
}

func (s *Sampler) add(got reading) (halved bool) {
	// All columns that the table lacks, also those of a reading that came too late.
	s.table.widen(got.columns[len(s.table.columns):])
	halved = s.table.add(got.at, got.row)
	for _, source := range got.late {
		s.table.spread(source.first, len(source.Columns))
	}
	return halved
}
