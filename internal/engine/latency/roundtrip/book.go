package roundtrip

import (
	"math"
	"time"

	"soku/internal/measure"
)

// book is the recorder's goroutine's side: it owns the histograms.
type book struct {
	c     Config
	total *measure.Histogram
	rows  rows
	slice series

	interval    *measure.Histogram
	intervalNs  int64
	startNs     int64 // of the open interval
	lost        int64 // in it
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
		rows:  rows{hist: measure.NewHistogram(), length: c.Row},
		slice: newSeries(c.Duration, c.Count),
	}
}

// add files one entry. Values belong to the interval of their arrival; one that
// is handed over after its interval was shown goes to the open one.
func (b *book) add(e entry) {
	b.closeIntervals(e.atNs)
	b.sawAnything = true
	if e.sentNs == lossMark {
		b.lost++
		return
	}
	rtt := e.atNs - e.sentNs
	b.total.Record(rtt)
	b.interval.Record(rtt)
	b.slice.add(e.atNs, rtt)
	if b.rows.length > 0 {
		b.rows.add(e)
	}
}

// closeIntervals shows every interval that ended by the time.
func (b *book) closeIntervals(nowNs int64) {
	for !b.last() && b.startNs+b.intervalNs <= nowNs {
		b.show(b.startNs + b.intervalNs)
	}
}

// last reports whether the open interval reaches to the nominal end. It is
// shown by finish, so that replies on their way at the end make no interval of
// a few microseconds.
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

// untilDue is how long until the open interval must be shown even if nothing comes.
func (b *book) untilDue() time.Duration {
	if b.last() {
		return math.MaxInt64
	}
	due := time.Duration(b.startNs + b.intervalNs + graceNs)
	return max(time.Millisecond, due-time.Since(b.c.Zero))
}

func (b *book) finish(endNs int64) Recorded {
	b.closeIntervals(endNs)
	if b.sawAnything {
		b.show(max(endNs, b.startNs+1))
	}
	b.rows.end()
	return Recorded{Histogram: b.total, Rows: b.rows.kept, Series: b.slice.end(), RowsCut: b.rows.cut}
}

// rows cuts the round trips into blocks of a fixed number.
type rows struct {
	hist            *measure.Histogram
	length          int64
	firstNs, lastNs int64
	kept            []measure.LatencyRow
	cut             bool
}

func (r *rows) add(e entry) {
	if r.cut {
		return
	}
	if r.hist.Count() == 0 {
		r.firstNs = e.sentNs
	}
	r.lastNs = e.atNs
	r.hist.Record(e.atNs - e.sentNs)
	if r.hist.Count() == r.length {
		r.end()
	}
}

// end closes the open row, whatever it has.
func (r *rows) end() {
	if r.hist.Count() == 0 {
		return
	}
	r.keep(measure.LatencyRow{StartNs: r.firstNs, EndNs: r.lastNs, RTT: *r.hist.Percentiles()})
	r.hist.Reset()
}

func (r *rows) keep(row measure.LatencyRow) {
	if len(r.kept) == MaxRows {
		r.cut = true
		return
	}
	r.kept = append(r.kept, row)
}

// series cuts the trial into at most MaxSeries slices: of equal time where the
// duration is known, else of equal numbers of round trips.
type series struct {
	hist   *measure.Histogram
	sliceN int64 // round trips in a slice, or
	sliceT int64 // ns in a slice
	index  int64
	atNs   int64
	points []measure.LatencyPoint
}

func newSeries(duration time.Duration, count int64) series {
	s := series{hist: measure.NewHistogram()}
	if duration > 0 {
		s.sliceT = max(1, (int64(duration)+MaxSeries-1)/MaxSeries)
	} else {
		s.sliceN = max(1, (count+MaxSeries-1)/MaxSeries)
	}
	return s
}

func (s *series) add(atNs, rtt int64) {
	if s.sliceT > 0 {
		// Replies after the nominal end belong to the last slice.
		if i := min(max(atNs, 0)/s.sliceT, MaxSeries-1); i > s.index {
			s.close()
			s.index = i
		}
		s.atNs = s.index * s.sliceT
	} else if s.hist.Count() == 0 {
		s.atNs = atNs
	}
	s.hist.Record(rtt)
	if s.sliceN > 0 && s.hist.Count() == s.sliceN {
		s.close()
	}
}

func (s *series) close() {
	if s.hist.Count() == 0 || len(s.points) == MaxSeries {
		return
	}
	s.points = append(s.points, measure.LatencyPoint{AtNs: s.atNs, P50Ns: s.hist.Percentile(50), MaxNs: s.hist.Max()})
	s.hist.Reset()
}

func (s *series) end() []measure.LatencyPoint {
	s.close()
	return s.points
}
