package series

import (
	"sync"
	"time"

	"soku/internal/panics"
)

// A source is read each time as long as that takes at most cheap of processor time, a 1000th of
// the usual interval, and less often otherwise, down to every longestStride-th time.
const (
	cheap         = every / 1000
	longestStride = 20
)

// reader reads sources on a goroutine of its own, one request after the other. Every source has
// one owner: the goroutine from enter to leave, and the reader at all other times. A goroutine
// that hangs keeps the source that it is in, and closes it when it comes back; the others go to
// another reader.
type reader struct {
	clock    processorClock
	requests chan bool    // true: all sources, also those that are not due
	results  chan reading // one a request, unless a source hangs
	ended    chan struct{}
	failed   chan *panics.Error // a panic, after which there are no more results
	sources  []*state           // the slice is not changed

	mu      sync.Mutex
	inside  *state   // what the goroutine owns; nil between two sources
	left    bool     // another reader has the sources
	columns []Column // of all that were opened
	row     []int64
}

// state is one source as it is read.
type state struct {
	open opener // nil when it was opened
	Source
	first   int // its first column; notPlaced before it was opened
	row     []int64
	cost    time.Duration
	skipped int // readings that left it out
}

const notPlaced = -1

// reading are all sources at one moment.
type reading struct {
	at      time.Time
	columns []Column // of the row: those of the reading before, and those that were opened since
	row     []int64  // valid until the next request
	late    []*state // that earlier readings left out
}

// processorClock returns the processor time that the calling thread has used.
type processorClock func() time.Duration

func newReader(openers []opener, clock processorClock) *reader {
	r := &reader{clock: clock}
	for _, open := range openers {
		r.sources = append(r.sources, &state{open: open, first: notPlaced})
	}
	r.start()
	return r
}

func (r *reader) start() {
	r.requests, r.results, r.ended = make(chan bool, 1), make(chan reading, 1), make(chan struct{})
	r.failed = make(chan *panics.Error, 1)
	go func() {
		if e := panics.Catch(r.run); e != nil {
			r.failed <- e
		}
	}()
}

func (r *reader) run() {
	defer close(r.ended)
	for all := range r.requests {
		got, ok := r.read(all)
		if !ok {
			return
		}
		r.results <- got
	}
	for _, s := range r.sources {
		if !r.enter(s) {
			return
		}
		s.free()
	}
}

// read returns false when another reader has the sources.
func (r *reader) read(all bool) (got reading, ok bool) {
	got.at = time.Now()
	for _, s := range r.sources {
		if !r.enter(s) {
			return got, false
		}
		late := s.read(all, r.clock)
		if !r.leave() {
			running.Add(-1) // see withoutHanging
			s.free()
			return got, false
		}
		if late {
			got.late = append(got.late, s)
		}
	}
	got.columns, got.row = r.columns, r.row
	return got, true
}

// enter makes a source the goroutine's, unless another reader has it.
func (r *reader) enter(s *state) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left {
		return false
	}
	r.inside = s
	return true
}

// leave gives the source back and takes its values; false when the reader was given up
// meanwhile, and the source is still the goroutine's.
func (r *reader) leave() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left {
		return false
	}
	s := r.inside
	r.inside = nil
	if s.first == notPlaced {
		s.first = len(r.columns)
		r.columns = append(r.columns, s.Columns...)
		r.row = append(r.row, s.row...)
	}
	copy(r.row[s.first:], s.row)
	return true
}

// withoutHanging gives up the goroutine, and returns a reader of all sources but the one that
// the goroutine is in. Until that one returns it counts as a sampler that runs.
func (r *reader) withoutHanging() *reader {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = true
	close(r.requests)
	next := &reader{clock: r.clock, columns: r.columns, row: unknownRow(len(r.columns))}
	for _, s := range r.sources {
		if s == r.inside {
			running.Add(1)
			continue
		}
		next.sources = append(next.sources, s)
	}
	next.start()
	return next
}

// close ends a reader that waits for a request.
func (r *reader) close() {
	close(r.requests)
	<-r.ended
}

// read opens a source that was not opened yet, and reads its row if it is due or all are. late
// reports whether earlier readings left it out.
func (s *state) read(all bool, clock processorClock) (late bool) {
	if s.open != nil {
		s.Source, s.open = s.open(), nil
		s.row = make([]int64, len(s.Columns))
	}
	for i := range s.row {
		s.row[i] = Unknown
	}
	if len(s.row) == 0 || !all && !s.due() {
		return false
	}
	began := clock()
	s.Read(s.row)
	s.took(clock() - began)
	late, s.skipped = s.skipped > 0, 0
	return late
}

// due reports whether the source is read this time.
func (s *state) due() bool {
	if left := min(max(int(s.cost/cheap), s.Seldom-1), longestStride-1); s.skipped < left {
		s.skipped++
		return false
	}
	return true
}

// took follows the least times. The goroutine may have changed its thread meanwhile, and d be
// anything.
func (s *state) took(d time.Duration) {
	if d < 0 {
		return
	}
	if d < s.cost || s.cost == 0 {
		s.cost = d
	} else {
		s.cost += (d - s.cost) / 16
	}
}

// free closes the source if it needs that.
func (s *Source) free() {
	if s.Close != nil {
		s.Close()
	}
}
