package meter

import (
	"net"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

// Step is the length of a sample of all streams together.
const Step = 100 * time.Millisecond

// Limits of what a flow stores: 55 minutes of steps, and this many samples of single
// streams. Longer flows store samples of twice, four times... the length.
const (
	mostSteps       = 1 << 15
	mostPerStream   = 20_000 // all streams together
	fewestPerStream = 16
	streamsShown    = 32 // in measure.Progress
)

// clock is [sock.Now]; tests replace it.
var clock = sock.Now

// Config describes the flow of a Recorder.
type Config struct {
	Direction measure.Direction
	Role      measure.Role
	Interval  time.Duration // of live lines and of samples of single streams; 0 means 1 s
	Observe   measure.Observer
	Conns     []net.Conn // one element a stream, for the addresses
	// Info returns the kernel's TCP_INFO of a stream. Info is nil if there is none.
	Info func(stream int) (measure.TCPInfo, bool)
	// Arrived returns how many bytes of a stream the receiver's kernel has, read and unread, or
	// false if that is unknown. Samples count these: a program that is kept from its processor
	// reads late, and then much at a time. Arrived is nil for flows whose workers count what
	// samples are of.
	Arrived func(stream int) (bytes int64, known bool)
}

// reading is the counts of all streams at one moment.
type reading struct {
	at     time.Time
	counts []Count
}

// Recorder makes samples of one flow. One goroutine calls its methods; the streams'
// workers write the cells.
type Recorder struct {
	cfg    Config
	called time.Time // when NewRecorder was called
	cells  []Cell

	begun    bool
	base     reading // beginning of the measured part
	retrans  []int64 // each stream's retransmits at that time
	step     reading // end of the last step
	interval reading // end of the last interval
	retrans0 int64   // all retransmits at the end of the last interval
	final    reading

	steps   *series
	streams []*series
}

// NewRecorder returns a recorder whose time of call is now.
func NewRecorder(cfg Config) *Recorder {
	n := len(cfg.Conns)
	if cfg.Interval <= 0 {
		cfg.Interval = time.Second
	}
	r := &Recorder{
		cfg: cfg, called: clock(), cells: make([]Cell, n), retrans: make([]int64, n),
		steps: newSeries(mostSteps), streams: make([]*series, n),
	}
	for i := range r.streams {
		r.streams[i] = newSeries(max(mostPerStream/n, fewestPerStream))
	}
	return r
}

// Cell returns the cell that stream's worker publishes to.
func (r *Recorder) Cell(stream int) *Cell { return &r.cells[stream] }

// maxReadSpread limits how far apart the reads of one reading may be; a reading that
// was interrupted for longer is taken again, a few times.
const (
	maxReadSpread = 200 * time.Microsecond
	attempts      = 4
)

// read reads all cells, and what has arrived for each. Its time is the middle of the time that
// this took.
func (r *Recorder) read() reading { return r.readWith(r.cfg.Arrived) }

func (r *Recorder) readWith(arrived func(stream int) (int64, bool)) reading {
	counts := make([]Count, len(r.cells))
	for attempt := 1; ; attempt++ {
		before := clock()
		for i := range r.cells {
			counts[i] = r.cells[i].load()
			if arrived == nil {
				continue
			}
			if n, known := arrived(i); known {
				counts[i].Bytes = max(counts[i].Bytes, n)
			}
		}
		took := clock().Sub(before)
		if took < maxReadSpread || attempt == attempts {
			return reading{at: before.Add(took / 2), counts: counts}
		}
	}
}

// omit makes from the zero of the live lines of the omitted start.
func (r *Recorder) omit(from reading) { r.base, r.interval = from, from }

// tickOmitted shows a live line of the omitted start if an interval has ended, or the
// start itself has, unless its last interval is too short.
func (r *Recorder) tickOmitted(now reading, last bool) {
	if last && now.at.Sub(r.interval.at) < r.cfg.Interval/10 || !last && now.at.Before(r.nextInterval()) {
		return
	}
	p := r.progress(now, r.between(now))
	p.Omitted = true
	r.interval = now
	if r.cfg.Observe != nil {
		r.cfg.Observe(p)
	}
}

// begin makes from the zero of all times and counts.
func (r *Recorder) begin(from reading) {
	r.begun = true
	r.base, r.step, r.interval, r.retrans0 = from, from, from, 0
	for i := range r.retrans {
		if t, ok := r.info(i); ok {
			r.retrans[i] = t.Retransmits
		}
	}
}

// info returns the kernel's TCP_INFO of a stream, with retransmits counted from the
// beginning of the measured part.
func (r *Recorder) info(stream int) (measure.TCPInfo, bool) {
	if r.cfg.Info == nil {
		return measure.TCPInfo{}, false
	}
	t, ok := r.cfg.Info(stream)
	t.Retransmits -= r.retrans[stream]
	return t, ok
}

// tick records the steps and intervals that have ended.
func (r *Recorder) tick() {
	now := r.read()
	if !now.at.Before(r.nextStep()) {
		r.endStep(now)
	}
	if !now.at.Before(r.nextInterval()) {
		r.endInterval(now, false)
	}
}

func (r *Recorder) nextStep() time.Time     { return after(r.base.at, r.step.at, Step) }
func (r *Recorder) nextInterval() time.Time { return after(r.base.at, r.interval.at, r.cfg.Interval) }

// after returns the first multiple of every, counted from zero, that lies after last. If
// last is just short of a multiple it counts as that multiple.
func after(zero, last time.Time, every time.Duration) time.Time {
	slack := every / 20
	return zero.Add((last.Sub(zero) + slack).Truncate(every) + every)
}

func (r *Recorder) endStep(now reading) {
	r.steps.add(r.sample(r.step, now, all))
	r.step = now
}

// all stands for all streams together.
const all = -1

// sample is the difference of two readings of one stream, or of all.
func (r *Recorder) sample(from, to reading, stream int) measure.Sample {
	n, jitter := difference(from, to, stream)
	s := measure.Sample{StartNs: r.ns(from.at), EndNs: r.ns(to.at)}
	if r.cfg.Role == measure.Sender {
		s.SentBytes = n.Bytes
		return s
	}
	s.ReceivedBytes, s.Packets, s.Lost, s.JitterNs = n.Bytes, n.Packets, n.Gaps, jitter
	return s
}

// difference sums what moved between two readings; the jitter is the mean over the
// streams that have a jitter.
func difference(from, to reading, stream int) (n Count, jitter float64) {
	lo, hi := stream, stream+1
	if stream == all {
		lo, hi = 0, len(to.counts)
	}
	active := 0
	for i := lo; i < hi; i++ {
		d := to.counts[i].since(from.counts[i])
		n.Bytes += d.Bytes
		n.Packets += d.Packets
		n.Gaps += d.Gaps
		if d.JitterNs > 0 {
			jitter += d.JitterNs
			active++
		}
	}
	if active > 0 {
		jitter /= float64(active)
	}
	return n, jitter
}

func (r *Recorder) ns(t time.Time) int64 { return int64(t.Sub(r.base.at)) }

// endInterval ends each stream's sample, and a live line; rest marks a short last
// interval.
func (r *Recorder) endInterval(now reading, rest bool) {
	samples := r.between(now)
	for i, s := range r.streams {
		s.add(samples[i])
	}
	p := r.progress(now, samples)
	p.Rest = rest
	r.interval = now
	if r.cfg.Observe != nil {
		r.cfg.Observe(p)
	}
}

// between returns each stream's sample since the last interval.
func (r *Recorder) between(now reading) []measure.Sample {
	samples := make([]measure.Sample, len(r.streams))
	for i := range samples {
		samples[i] = r.sample(r.interval, now, i)
		if t, ok := r.info(i); ok {
			samples[i].TCP = &t
		}
	}
	return samples
}

// progress returns the live line of the interval that ends now, from these samples.
func (r *Recorder) progress(now reading, samples []measure.Sample) measure.Progress {
	n, jitter := difference(r.interval, now, all)
	p := measure.Progress{
		Direction: r.cfg.Direction, Role: r.cfg.Role,
		StartNs: r.ns(r.interval.at), EndNs: r.ns(now.at),
		Bytes: n.Bytes, Packets: n.Packets, Lost: n.Gaps, JitterNs: jitter, Samples: samples,
	}
	if d := p.EndNs - p.StartNs; d > 0 {
		p.Bps = float64(n.Bytes) * 8e9 / float64(d)
	}
	var retrans int64
	known := false
	for _, s := range samples {
		if s.TCP != nil {
			retrans += s.TCP.Retransmits
			known = true
		}
		if len(samples) <= streamsShown {
			p.Streams = append(p.Streams, s.SentBytes+s.ReceivedBytes)
		}
	}
	if known {
		d := retrans - r.retrans0
		p.Retrans, r.retrans0 = &d, retrans
	}
	return p
}

// End takes the last reading. The workers must have ended. What moved since the last step
// and interval becomes a last, shorter sample, which ends when the last byte moved.
func (r *Recorder) End() {
	r.final = r.readWith(nil) // the workers have read what counts
	if !r.begun {
		return
	}
	if last := r.last(); last.After(r.step.at) {
		r.final.at = last
	}
	tail := r.final.at.Sub(r.interval.at)
	if n, _ := difference(r.step, r.final, all); n.Bytes > 0 {
		r.endStep(r.final)
	}
	if n, _ := difference(r.interval, r.final, all); n.Bytes > 0 {
		r.endInterval(r.final, tail < r.cfg.Interval/10)
	}
}

// last returns when the last byte of any stream moved.
func (r *Recorder) last() time.Time {
	var last time.Time
	for _, n := range r.final.counts {
		if n.Last.After(last) {
			last = n.Last
		}
	}
	return last
}
