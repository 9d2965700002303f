package connect

import (
	"runtime"
	"sync"
	"time"

	"soku/internal/measure"
	"soku/internal/sock/pace"
)

// entry is one attempt: a set-up from fromNs to atNs, or a failure at atNs.
type entry struct {
	fromNs, atNs int64
	lost         bool
}

// held is how many entries a connector stores for the collector; a connector waits if it
// is further ahead.
const held = 8192

// connector opens one connection after the other on a thread of its own.
type connector struct {
	r      *run
	maker  maker
	counts counts // owned by the connector until it has ended

	mu   sync.Mutex
	full []entry // written by the connector
	read []entry // the collector's
}

func newConnector(r *run) *connector {
	return &connector{r: r, full: make([]entry, 0, 512)}
}

func (c *connector) work() {
	// A blocking call then wakes this goroutine's own thread, and timer slack is set for
	// this thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer c.r.pins.Keep(measure.Sender)()
	if c.r.gap > 0 {
		c.open()
	} else {
		c.closed()
	}
}

// closed is the closed loop: it opens the next connection when the last is closed.
func (c *connector) closed() {
	r := c.r
	for now := int64(0); !r.stop.Load(); {
		if r.end > 0 && now >= r.end || r.count > 0 && r.next.Add(1) > r.count {
			return
		}
		start, end, how := c.maker.connect()
		if c.finish(start, end, how) == stopped {
			return
		}
		now = end
		if how != opened {
			// A refusal arrives immediately; do not flood a host that refuses.
			now = r.clock.now()
			sleep(int64(refusalPause), r)
		}
	}
}

// refusalPause is the pause of a connector in a closed loop after a failure.
const refusalPause = 10 * time.Millisecond

// open is the open loop: it begins each attempt when it is due. Attempts are assigned one
// by one, so that a delayed connector delays no other attempt. If none was free in time,
// another connector is added.
func (c *connector) open() {
	r := c.r
	p := newPacer(r)
	defer p.release()
	for !r.stop.Load() {
		n := r.next.Add(1) - 1
		due := int64(float64(n) * r.gap)
		if r.count > 0 && n >= r.count || r.end > 0 && due >= r.end {
			return
		}
		r.waiting.Add(1)
		now := p.until(due)
		r.waiting.Add(-1)
		if r.stop.Load() || r.end > 0 && now >= r.end {
			return // attempts that were still due count as late
		}
		if float64(now-due) > r.gap {
			c.counts.late++
		}
		if now-due > lateBound && r.waiting.Load() == 0 {
			r.grow()
		}
		_, end, how := c.maker.connect()
		if c.finish(due, end, how) == stopped {
			return
		}
	}
}

// lateBound is how late an attempt may be, while no connector waits for the next, before
// a connector is added. For shorter delays, which a busy processor causes, more threads
// would only add delay.
const lateBound = int64(2 * time.Millisecond)

// finish serves and closes a connection that was set up, and counts it.
func (c *connector) finish(fromNs, endNs int64, how outcome) outcome {
	if how == opened {
		served := endNs
		if c.r.serves() {
			how = c.maker.serve()
			served = c.r.clock.now()
		}
		c.maker.close()
		if old := c.r.shortest.Load(); how == opened && (old == 0 || served-fromNs < old) {
			c.r.shortest.CompareAndSwap(old, served-fromNs)
		}
	}
	switch {
	case how == opened:
		c.put(entry{fromNs: fromNs, atNs: endNs})
	case how == stopped:
		c.counts.by[stopped]++
		return stopped
	case how.own():
		c.counts.by[how]++
		c.r.fail(how.explain(c.r.target.Addr.String(), c.counts.by[opened]))
		return stopped
	default:
		c.put(entry{atNs: c.r.clock.now(), lost: true})
	}
	c.counts.by[how]++
	return how
}

// put stores an entry for the collector. It allocates only while the buffer grows to the
// size that the rate needs.
func (c *connector) put(e entry) {
	c.counts.lastNs = e.atNs
	for {
		c.mu.Lock()
		if len(c.full) < held {
			c.full = append(c.full, e)
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
}

// take returns the entries since the last call; the slice is valid until the next call.
func (c *connector) take() []entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read, c.full = c.full, c.read[:0]
	return c.read
}

// sleep sleeps ns in steps, so that the end of the run is noticed.
func sleep(ns int64, r *run) {
	for ns > 0 && !r.stop.Load() {
		step := min(ns, int64(tick))
		time.Sleep(time.Duration(step))
		ns -= step
	}
}

// pacer waits for the times of a schedule on a goroutine locked to its thread: it sleeps
// until shortly before and then polls the clock for the duration spin, because a sleep
// ends late by about that much and the delay would count as latency.
type pacer struct {
	r       *run
	spin    int64
	release func() // restores the thread
}

func newPacer(r *run) *pacer {
	late, restore := pace.FineSleep()
	return &pacer{r: r, spin: int64(late), release: restore}
}

// until waits for a time of the schedule, or the end of the run, and returns the time
// then.
func (p *pacer) until(due int64) int64 {
	for {
		now := p.r.clock.now()
		left := due - now
		switch {
		case left <= 0, p.r.stop.Load():
			return now
		case left > p.spin:
			pace.Sleep(time.Duration(min(left-p.spin, int64(tick))))
		}
	}
}
