package roundtrip

import (
	"math"
	"sync/atomic"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

// Limits of what a trial stores.
const (
	// MaxRows is how many rows are stored: the first ones. The histogram and the series
	// continue to the end of the trial.
	MaxRows = 10_000
	// MaxSeries is the most points of a series.
	MaxSeries = 1000
)

const (
	blockEntries = 256
	blocks       = 256
	// flushNs is how old a recorded value may get before it is passed to the recorder, so
	// that an interval is complete soon after its end.
	flushNs = int64(10 * time.Millisecond)
	// graceNs is how long after its end an interval without a later value stays open for
	// values that are not passed on yet.
	graceNs = 2 * flushNs
)

// Config configures a recorder.
type Config struct {
	Zero     time.Time        // when the measured part begins: 0 of all times
	Row      int64            // replies in a row; 0: one row each interval
	Interval time.Duration    // between two calls of Observe, or 0 for one second
	Duration time.Duration    // nominal length of the measured part, 0 if Count ends it
	Count    int64            // round trips, if they end it
	Observe  measure.Observer // or nil
	// Inline makes Reply and Lost update the histograms on the calling goroutine. The
	// caller must call Tick from time to time while no replies arrive. Observe is called
	// on another goroutine, because the caller's thread may not have the sockets and pipes of
	// the process.
	Inline bool
}

// Recorded is the result of a recorder. Rows has at most [MaxRows] elements, of which the
// last may be shorter; Series at most [MaxSeries].
type Recorded struct {
	Histogram *measure.Histogram
	// Application is the time from the request until the program read the reply, or nil if
	// it is always the same as until the reply arrived.
	Application *measure.Histogram
	Rows        []measure.LatencyRow
	Series      []measure.LatencyPoint
	RowsCut     bool // there were more rows than MaxRows
}

// entry is a round trip, or a lost request: then sentNs is lossMark. readNs is when the
// program had the reply.
type entry struct{ sentNs, atNs, readNs int64 }

const lossMark = math.MinInt64

// block passes entries to the recorder's goroutine. That goroutine may read the first n
// entries before it receives the block.
type block struct {
	n       atomic.Int64
	read    int64 // entries that the recorder's goroutine has read
	entries [blockEntries]entry
}

// Recorder receives round trips from one measuring goroutine. Reply and Lost do not
// allocate; they wait only if the recorder is 65,536 values behind.
type Recorder struct {
	current atomic.Pointer[block] // nil if inline
	flushed int64
	full    chan *block
	free    chan *block
	done    chan struct{}
	shown   chan measure.Progress // of an inline recorder with an observer
	book    *book
}

// mostShown is how many intervals an observer may be behind before an inline recorder
// waits for it.
const mostShown = 64

// Start starts a recorder and its goroutine. The caller must call [Recorder.Stop].
func Start(c Config) *Recorder {
	r := &Recorder{done: make(chan struct{})}
	if c.Inline {
		c.Observe = r.elsewhere(c.Observe)
		r.book = newBook(c)
		return r
	}
	r.book = newBook(c)
	r.full, r.free = make(chan *block, blocks), make(chan *block, blocks)
	storage := make([]block, blocks)
	for i := range storage {
		r.free <- &storage[i]
	}
	r.current.Store(<-r.free)
	go r.run()
	return r
}

// elsewhere makes observe run on a goroutine of its own, until r.shown is closed.
func (r *Recorder) elsewhere(observe measure.Observer) measure.Observer {
	if observe == nil {
		close(r.done)
		return nil
	}
	r.shown = make(chan measure.Progress, mostShown)
	go func() {
		defer close(r.done)
		for p := range r.shown {
			observe(p)
		}
	}()
	return func(p measure.Progress) { r.shown <- p }
}

// Reply records a round trip: the time from which its request counts and when the reply
// arrived, both ns since Config.Zero.
func (r *Recorder) Reply(sentNs, atNs int64) { r.ReplyRead(sentNs, atNs, atNs) }

// ReplyRead is Reply if the program is known to have read the reply later than it arrived
// at the host.
func (r *Recorder) ReplyRead(sentNs, atNs, readNs int64) { r.put(entry{sentNs, atNs, readNs}) }

// Lost records that a request was counted as lost at atNs, ns since Config.Zero.
func (r *Recorder) Lost(atNs int64) { r.put(entry{lossMark, atNs, atNs}) }

// Tick gives an inline recorder the time, ns since Config.Zero, so that it shows
// intervals without replies. Other recorders have a timer for that.
func (r *Recorder) Tick(nowNs int64) {
	if r.current.Load() == nil {
		r.book.closeIntervals(nowNs - graceNs)
	}
}

// Stop ends the recorder, waits for its goroutine and returns the result. endNs is the
// end of the trial, ns since Config.Zero. Call it once, after the last Reply and Lost.
func (r *Recorder) Stop(endNs int64) Recorded {
	if r.current.Load() == nil {
		kept := r.book.finish(endNs)
		if r.shown != nil {
			close(r.shown)
		}
		<-r.done // the observer has been called with all intervals
		return kept
	}
	r.full <- r.current.Load()
	close(r.full)
	<-r.done
	return r.book.finish(endNs)
}

func (r *Recorder) put(e entry) {
	b := r.current.Load()
	if b == nil {
		r.book.add(e)
		return
	}
	n := b.n.Load()
	b.entries[n] = e
	b.n.Store(n + 1)
	if n+1 == blockEntries || e.atNs-r.flushed >= flushNs {
		r.flushed = e.atNs
		r.full <- b
		r.current.Store(<-r.free)
	}
}

func (r *Recorder) run() {
	defer close(r.done)
	timer := time.NewTimer(r.book.untilDue())
	defer timer.Stop()
	for {
		select {
		case b, ok := <-r.full:
			if !ok {
				return
			}
			r.receive(b)
		case <-timer.C:
			now := int64(sock.Since(r.book.c.Zero))
			if !r.catchUp() {
				return
			}
			r.book.closeIntervals(now - graceNs)
			timer.Reset(r.book.untilDue())
		}
	}
}

// receive reads the rest of a full block and frees it.
func (r *Recorder) receive(b *block) {
	r.readFrom(b)
	b.read = 0
	b.n.Store(0)
	r.free <- b
}

func (r *Recorder) readFrom(b *block) {
	n := b.n.Load()
	for _, e := range b.entries[b.read:n] {
		r.book.add(e)
	}
	b.read = n
}

// catchUp reads all entries so far, those of the current block, too: if no further value
// comes, that block is not passed on before the interval of its entries ends. It reports
// false if the recorder was stopped.
func (r *Recorder) catchUp() bool {
	for {
		current := r.current.Load()
		select {
		case b, ok := <-r.full:
			if !ok {
				return false
			}
			r.receive(b)
		default: // all blocks before current have been read
			r.readFrom(current)
			return true
		}
	}
}
