package roundtrip

import (
	"math"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

// book is the state of the recorder's goroutine: it owns the histograms.
type book struct {
	c     Config
	total *measure.Histogram
	app   *measure.Histogram // as total, but until the program read the reply; nil until one differs
	rows  rows
	slice series

	interval    *measure.Histogram
	intervalNs  int64
	startNs     int64 // of the open interval
	lost        int64 // in the open interval
	sawAnything bool
}

func newBook(c Config) *book {
	if c.Observe == nil {
		c.Observe = func(measure.Progress) {}
	}
	if c.Interval <= 0 {
		c.Interval = time.Second
	}
	return &book{
		c: c, total: measure.NewHistogram(), interval: measure.NewHistogram(), intervalNs: int64(c.Interval),
		rows:  rows{values: newValues(), length: c.Row},
		slice: newSeries(c.Duration, c.Count),
	}
}

// add records one entry. Values belong to the interval of their arrival; one that is
// passed on after its interval was shown goes to the open one.
func (b *book) add(e entry) {
	b.closeIntervals(e.atNs)
	b.sawAnything = true
	if e.sentNs == lossMark {
		b.lost++
		return
	}
	rtt := e.atNs - e.sentNs
	if b.app == nil && e.readNs != e.atNs {
		b.app = measure.NewHistogram()
		b.app.Merge(b.total)
	}
	if b.app != nil {
		b.app.Record(e.readNs - e.sentNs)
	}
	b.total.Record(rtt)
	b.interval.Record(rtt)
	b.slice.add(e.atNs, rtt)
	if b.rows.length > 0 {
		b.rows.add(e)
	}
}

// closeIntervals shows every interval that ended by nowNs.
func (b *book) closeIntervals(nowNs int64) {
	for !b.last() && b.startNs+b.intervalNs <= nowNs {
		b.show(b.startNs + b.intervalNs)
	}
}

// last reports whether the open interval extends to the nominal end. finish shows it, so
// that late replies do not form an interval of a few microseconds.
func (b *book) last() bool {
	return b.c.Duration > 0 && b.startNs+b.intervalNs >= int64(b.c.Duration)
}

func (b *book) show(endNs int64) {
	p := measure.Progress{StartNs: b.startNs, EndNs: endNs, Packets: b.interval.Count(), Lost: b.lost}
	if p.Packets > 0 {
		p.RTT = b.interval.Percentiles()
		if b.rows.length == 0 {
			b.rows.keep(measure.LatencyRow{StartNs: b.startNs, EndNs: endNs, RTT: *p.RTT})
		}
	}
	b.interval.Reset()
	b.startNs, b.lost, b.sawAnything = endNs, 0, false
	b.c.Observe(p)
}

// untilDue returns when the open interval must be shown even without a new value.
func (b *book) untilDue() time.Duration {
	if b.last() {
		return math.MaxInt64
	}
	due := time.Duration(b.startNs + b.intervalNs + graceNs)
	return max(time.Millisecond, due-sock.Since(b.c.Zero))
}

func (b *book) finish(endNs int64) Recorded {
	b.closeIntervals(endNs)
	if b.sawAnything {
		b.show(max(endNs, b.startNs+1))
	}
	b.rows.end()
	return Recorded{Histogram: b.total, Application: b.app, Rows: b.rows.kept, Series: b.slice.end(), RowsCut: b.rows.cut}
}

// rows divides the round trips into blocks of a fixed number.
type rows struct {
	values          values // of the open row
	length          int64
	firstNs, lastNs int64
	kept            []measure.LatencyRow
	cut             bool
}

func (r *rows) add(e entry) {
	if r.cut {
		return
	}
	if r.values.n == 0 {
		r.firstNs = e.sentNs
	}
	r.lastNs = e.atNs
	r.values.add(e.atNs - e.sentNs)
	if r.values.n == r.length {
		r.end()
	}
}

// end closes the open row, whatever its length.
func (r *rows) end() {
	if r.values.n > 0 {
		r.keep(measure.LatencyRow{StartNs: r.firstNs, EndNs: r.lastNs, RTT: r.values.summary()})
	}
}

func (r *rows) keep(row measure.LatencyRow) {
	if len(r.kept) == MaxRows {
		r.cut = true
		return
	}
	r.kept = append(r.kept, row)
}
