package connect

import (
	"cmp"
	"context"
	"math"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"soku/internal/engine/latency/roundtrip"
	"soku/internal/measure"
	"soku/internal/sock"
)

// MostInFlight is the most connections that an open loop sets up at a time.
const MostInFlight = 1024

// Run opens connections to t until o.Count of them or o.Duration are over. Without
// o.RequestRate, o.Streams connectors each open the next connection when the last is
// closed. With it, attempts begin on that schedule, in connections a second, by as many
// connectors as needed, up to [MostInFlight]; set-up times then count from when an
// attempt was due. o is effective. pins pin the connectors; nil pins none. obs, which may
// be nil, is called with a live interval every o.Interval.
//
// Failures caused by the path or the far end (refused, timeout, reset, unreachable) are
// counted and the trial continues. What is still being set up or served a round trip after
// o.Duration is counted as unfinished and given up, unless nothing was opened yet. Errors are: of [measure.KindUnreachable] if no attempt
// succeeded; of [measure.KindBroken] if this host ran out of ports, descriptors or
// memory, of [measure.KindPermission] or [measure.KindUsage] if it does not allow the
// connection or an option; or the cause of ctx, whose end is noticed within 100 ms. What
// was counted until then is returned with the error. The end has Latency and Connect; the
// far end provides Connect.Accepted.
func Run(ctx context.Context, t Target, o measure.Options, pins *sock.Pins, obs measure.Observer) (*measure.End, error) {
	return runWith(ctx, t, o, pins, obs, bestMaker)
}

func runWith(ctx context.Context, t Target, o measure.Options, pins *sock.Pins, obs measure.Observer, with makers) (*measure.End, error) {
	r, err := newRun(t, o)
	if err != nil {
		return nil, err
	}
	r.with, r.pins = with, pins
	return r.run(ctx, obs)
}

// run is one trial. Each group of fields belongs to the goroutine it names.
type run struct {
	// Set before the run.
	target  Target
	o       measure.Options
	sources []netip.Addr
	message []byte // preamble and request
	clock   clock
	ctx     context.Context
	cancel  context.CancelCauseFunc
	with    makers
	pins    *sock.Pins
	end     int64   // ns, 0 if the count ends the trial
	count   int64   // 0 if the time does
	timeout int64   // ns
	gap     float64 // ns between two attempts that are due; 0 in a closed loop

	next     atomic.Int64 // number of the next attempt
	waiting  atomic.Int32 // connectors whose attempt is not due yet
	shortest atomic.Int64 // ns in which a connection was set up and served; 0 before the first
	stop     atomic.Bool  // the context or the time has ended, or an attempt failed because of this host

	mu         sync.Mutex
	connectors []*connector
	working    sync.WaitGroup
	err        error // first reason to stop
}

func newRun(t Target, o measure.Options) (*run, error) {
	r := &run{target: t, o: o, count: o.Count, end: int64(o.Duration), timeout: int64(o.ConnectTimeout)}
	if o.RequestRate > 0 {
		r.gap = 1e9 / o.RequestRate
	}
	from, err := sources(o)
	if err != nil {
		return nil, err
	}
	r.sources = from
	switch {
	case !t.Addr.IsValid() || t.Addr.Port() == 0:
		return nil, measure.Fail(measure.KindUsage, "connect.no_address", nil)
	case r.end <= 0 && r.count <= 0:
		return nil, measure.Fail(measure.KindUsage, "connect.endless", nil)
	case r.timeout <= 0:
		return nil, measure.Fail(measure.KindUsage, "connect.timeout", nil)
	}
	for _, s := range from {
		if s.Is4() != t.Addr.Addr().Unmap().Is4() {
			return nil, measure.Fail(measure.KindUsage, "connect.families", measure.Figures{
				"target": t.Addr.String(), "source": s.String(),
			})
		}
	}
	r.message = append(slices.Clone(t.Preamble), request(int(o.Size))...)
	return r, nil
}

// request returns the bytes that a client sends; their values have no meaning.
func request(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// serves reports whether a connection sends or awaits anything after its set-up.
func (r *run) serves() bool { return len(r.message) > 0 || r.target.Await }

func (r *run) run(ctx context.Context, obs measure.Observer) (*measure.End, error) {
	// Without ctx's deadline: package net would end a handshake at the deadline, a moment
	// before the context does, and that would count as a timeout.
	r.ctx, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	defer r.cancel(nil)
	defer context.AfterFunc(ctx, func() { r.cancel(context.Cause(ctx)) })()
	r.clock.start = sock.Now()
	unwatch := context.AfterFunc(r.ctx, func() { r.stop.Store(true) })
	defer unwatch()

	first := max(r.o.Streams, 1)
	if r.gap > 0 {
		first = min(first, MostInFlight)
	}
	for range first {
		r.grow()
	}
	over := r.endInTime()
	books := r.collect(obs)
	r.working.Wait()
	endNs, cut := r.clock.now(), over()
	total := r.total()
	if err := r.abortedBy(ctx); err == nil {
		if cut {
			endNs = total.lastNs
		}
		if r.gap > 0 || cut {
			endNs = max(endNs, r.end) // the last attempt was due before the end
		}
		total.late += r.neverBegun(total)
	}
	r.cancel(nil)
	kept := books(endNs)

	l := &measure.Latency{
		Timing: r.timing(), Histogram: kept.Histogram, Rows: kept.Rows, RowsCut: kept.RowsCut, Series: kept.Series,
		Sent: total.attempts(), Received: total.by[opened], Lost: total.failed(), LateSends: total.late,
	}
	c := &measure.Connect{
		Opened: total.by[opened], Failed: total.failed(), Failures: total.failures(), Unfinished: total.by[stopped], DurationNs: endNs,
		Port: int(r.target.Addr.Port()), Close: "fin", ClientPath: rawPath,
	}
	if r.target.Reset {
		c.Close = "rst"
	}
	if r.net() {
		c.ClientPath = netPath
	}
	if endNs > 0 {
		c.OpenedPerSecond = float64(c.Opened) * 1e9 / float64(endNs)
	}
	return &measure.End{Latency: l, Connect: c}, r.verdict(ctx, total)
}

func (r *run) verdict(ctx context.Context, total counts) error {
	err := r.abortedBy(ctx)
	if err == nil && total.by[opened] == 0 {
		return nothingOpened(r.target.Addr.String(), total.attempts(), total.failures())
	}
	return err
}

// abortedBy returns the reason why the run ended early, or nil.
func (r *run) abortedBy(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// endInTime gives up the attempts in progress a round trip after the end of a timed run: a SYN that
// was lost is sent again after a second. If nothing was opened until then, the connect timeout
// decides. The function it returns ends the watching and reports whether attempts were given up.
func (r *run) endInTime() func() bool {
	if r.end == 0 {
		return func() bool { return false }
	}
	over, cut := make(chan struct{}), make(chan bool, 1)
	go func() {
		for left := r.end; left > 0; {
			select {
			case <-over:
				cut <- false
				return
			case <-time.After(time.Duration(left)):
			}
			if left = int64(tick); r.shortest.Load() > 0 {
				left = r.end + r.shortest.Load() - r.clock.now()
			}
		}
		r.stop.Store(true)
		r.cancel(nil)
		cut <- true
	}()
	return func() bool { close(over); return <-cut }
}

// fail ends the run; the first error is kept.
func (r *run) fail(err error) {
	r.mu.Lock()
	if r.err == nil {
		r.err = err
	}
	r.mu.Unlock()
	r.stop.Store(true)
	r.cancel(err)
}

// net reports whether the run uses package net.
func (r *run) net() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.connectors) == 0 {
		return false
	}
	_, ok := r.connectors[0].maker.(*netMaker)
	return ok
}

func (r *run) timing() *measure.Timing {
	t := &measure.Timing{Loop: measure.LoopClosed, Clock: measure.ClockProgram, Call: "connect(2)"}
	if r.gap > 0 {
		t.Loop = measure.LoopOpen
	}
	if r.net() {
		t.Call = "net.Dialer"
	}
	return t
}

// grow adds a connector, up to the maximum.
func (r *run) grow() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gap > 0 && len(r.connectors) >= MostInFlight {
		return
	}
	index := len(r.connectors)
	c := newConnector(r)
	m, err := r.with(r, index)
	if err != nil {
		if r.err == nil {
			r.err = err
		}
		r.stop.Store(true)
		return
	}
	c.maker = m
	r.connectors = append(r.connectors, c)
	r.working.Go(c.work)
}

// list returns the current connectors.
func (r *run) list() []*connector {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.connectors)
}

func (r *run) total() counts {
	var sum counts
	for _, c := range r.list() {
		for i, n := range c.counts.by {
			sum.by[i] += n
		}
		sum.late += c.counts.late
		sum.lastNs = max(sum.lastNs, c.counts.lastNs)
	}
	return sum
}

// neverBegun returns how many attempts were due and not made because the time ended.
func (r *run) neverBegun(total counts) int64 {
	if r.gap == 0 || r.count > 0 {
		return 0
	}
	due := int64(math.Ceil(float64(r.end) / r.gap))
	return max(0, due-total.attempts()-total.by[stopped])
}

// counts are attempts by outcome; stopped ones were in progress at the end.
type counts struct {
	by     [outcomes]int64
	late   int64 // began more than a gap after they were due
	lastNs int64 // when the last one that did not stop was set up or failed
}

func (c counts) attempts() int64 { return c.by[opened] + c.failed() }

func (c counts) failed() int64 {
	var n int64
	for o, v := range c.by {
		if outcome(o) != opened && outcome(o) != stopped {
			n += v
		}
	}
	return n
}

func (c counts) failures() map[string]int64 {
	var out map[string]int64
	for o, n := range c.by {
		if n == 0 || outcome(o) == opened || outcome(o) == stopped {
			continue
		}
		if out == nil {
			out = map[string]int64{}
		}
		out[names[o]] = n
	}
	return out
}

// collect starts the goroutine that passes the records of all connectors, in order of
// time, to the recorder. The function it returns ends it.
func (r *run) collect(obs measure.Observer) func(endNs int64) roundtrip.Recorded {
	rec := roundtrip.Start(roundtrip.Config{
		Zero: r.clock.start, Interval: r.o.Interval.Std(), Duration: r.o.Duration.Std(), Count: r.count, Observe: obs,
	})
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		every := time.NewTicker(collectEvery)
		defer every.Stop()
		var batch []entry
		for {
			select {
			case <-every.C:
			case <-over:
				r.drain(rec, &batch)
				return
			}
			r.drain(rec, &batch)
		}
	}()
	return func(endNs int64) roundtrip.Recorded {
		close(over)
		<-done
		return rec.Stop(endNs)
	}
}

// collectEvery is how old a record may get before it is passed to the recorder.
const collectEvery = 10 * time.Millisecond

func (r *run) drain(rec *roundtrip.Recorder, batch *[]entry) {
	*batch = (*batch)[:0]
	for _, c := range r.list() {
		*batch = append(*batch, c.take()...)
	}
	slices.SortFunc(*batch, func(a, b entry) int { return cmp.Compare(a.atNs, b.atNs) })
	for _, e := range *batch {
		if e.lost {
			rec.Lost(e.atNs)
		} else {
			rec.Reply(e.fromNs, e.atNs)
		}
	}
}
