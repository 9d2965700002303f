package connect

import (
	"runtime"
	"sync"
	"time"

	"soku/internal/measure"
)

// entry is one attempt: a set-up from fromNs to atNs, or a failure at atNs.
type entry struct {
	fromNs, atNs int64
	lost         bool
}

// held is how many entries a connector keeps for the collector; a connector
// that is further ahead waits.
const held = 8192

// connector opens one connection after the other on a thread of its own.
type connector struct {
	r      *run
	maker  maker
	counts counts // the connector's until it has ended

	mu   sync.Mutex
	full []entry // written by the connector
	read []entry // the collector's
}

func newConnector(r *run) *connector {
	return &connector{r: r, full: make([]entry, 0, 512)}
}

func (c *connector) work() {
	// A blocking call then wakes this goroutine's own thread, and the schedule's
	// naps are the thread's.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer c.r.pins.Keep(measure.Sender)()
	if c.r.gap > 0 {
		c.open()
	} else {
		c.closed()
	}
}

// closed opens the next connection when the last is closed.
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
			// Refusals come at once; a host that refuses is not to be stormed.
			now = r.clock.now()
			nap(int64(refusalPause), r)
		}
	}
}

// refusalPause is how long a connector of a closed loop rests after a failure.
const refusalPause = 10 * time.Millisecond

// open begins each attempt when it is due. The attempts are shared out one by
// one, so that a connector that is held up holds up nothing else; when none was
// free in time there are more from then on.
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
			return // what was still due was late and is counted as that
		}
		if float64(now-due) > r.gap {
			c.counts.late++
		}
		if now-due > patience && r.waiting.Load() == 0 {
			r.grow()
		}
		_, end, how := c.maker.connect()
		if c.finish(due, end, how) == stopped {
			return
		}
	}
}

// patience is how late an attempt may be, while no connector waits for the next,
// before there is one more. What a busy processor delays by less, more threads
// would only delay further.
const patience = int64(2 * time.Millisecond)

// finish serves and closes a connection that was set up, and counts.
func (c *connector) finish(fromNs, endNs int64, how outcome) outcome {
	if how == opened {
		if c.r.serves() {
			how = c.maker.serve()
		}
		c.maker.close()
	}
	switch {
	case how == opened:
		c.put(entry{fromNs: fromNs, atNs: endNs})
	case how == stopped:
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

// put keeps an entry for the collector. It allocates while the buffer grows to
// the size that the rate needs, and no more.
func (c *connector) put(e entry) {
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

// take gives the collector what was put since; it is good until the next take.
func (c *connector) take() []entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read, c.full = c.full, c.read[:0]
	return c.read
}

// nap sleeps ns, in steps after which the end of the run is noticed.
func nap(ns int64, r *run) {
	for ns > 0 && !r.stop.Load() {
		step := min(ns, int64(tick))
		time.Sleep(time.Duration(step))
		ns -= step
	}
}
