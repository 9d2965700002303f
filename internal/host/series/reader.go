package series

import (
	"sync"
	"time"
)

// A source is read each time as long as that takes at most cheap of processor time, a 1000th of
// the usual interval, and less often otherwise, down to every longestStride-th time.
const (
	cheap         = every / 1000
	longestStride = 20
)

// reader reads sources on a goroutine of its own, one request after the other.
type reader struct {
	requests chan bool    // true: all sources, also those that are not due
	results  chan reading // one a request, unless a source hangs
	ended    chan struct{}

	sources []*state
	columns []Column // of all that were opened
	row     []int64

	mu   sync.Mutex
	at   int  // the source that is read
	left bool // nobody waits for the goroutine
}

// state is one source as it is read.
type state struct {
	open opener
	Source
	first   int // its first column
	cost    time.Duration
	skipped int // readings that left it out
}

// reading are all sources at one moment.
type reading struct {
	at      time.Time
	columns []Column // of the row: those of the reading before, and those that were opened since
	row     []int64  // valid until the next request
	late    []*state // that earlier readings left out
}

func newReader(openers []opener) *reader {
	r := &reader{}
	for _, open := range openers {
		r.sources = append(r.sources, &state{open: open})
	}
	r.start()
	return r
}

func (r *reader) start() {
	r.requests, r.results, r.ended = make(chan bool, 1), make(chan reading, 1), make(chan struct{})
	go r.run()
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
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left { // after all, the source did not hang; the others belong to the next reader
		r.sources[r.at].free()
		return
	}
	for _, s := range r.sources {
		s.free()
	}
}

// read returns false when nobody waits any more.
func (r *reader) read(all bool) (reading, bool) {
	got := reading{at: time.Now()}
	for i, s := range r.sources {
		if !r.enter(i) {
			return got, false
		}
		if s.open != nil {
			if !r.take(s, s.open()) {
				return got, false
			}
		}
		row := r.row[s.first : s.first+len(s.Columns)]
		for c := range row {
			row[c] = Unknown
		}
		if len(row) == 0 || !all && !s.due() {
			continue
		}
		began := processorTime()
		s.Read(row)
		if r.leftIn(s.Source) {
			return got, false
		}
		if s.skipped > 0 {
			got.late, s.skipped = append(got.late, s), 0
		}
		s.took(processorTime() - began)
	}
	got.columns, got.row = r.columns, r.row
	return got, true
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

// enter reports whether somebody still waits, before source i is touched.
func (r *reader) enter(i int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = i
	return !r.left
}

// take makes the columns of an opened source part of the row; false where nobody waits any
// more: the source is closed then.
func (r *reader) take(s *state, opened Source) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left {
		opened.free()
		return false
	}
	s.Source, s.open, s.first = opened, nil, len(r.columns)
	r.columns = append(r.columns, s.Columns...)
	r.row = append(r.row, make([]int64, len(s.Columns))...)
	return true
}

// leftIn reports whether the reader was given up in the source s, which is closed then. The
// others belong to the next reader.
func (r *reader) leftIn(s Source) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left {
		s.free()
	}
	return r.left
}

// withoutHanging leaves the goroutine where it hangs, and starts another one for the other
// sources.
func (r *reader) withoutHanging() *reader {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = true
	close(r.requests)
	next := &reader{columns: r.columns}
	next.row = make([]int64, len(r.columns))
	for i, s := range r.sources {
		if i == r.at {
			s = &state{Source: Source{Columns: s.Columns, Read: func([]int64) {}}, first: s.first}
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
