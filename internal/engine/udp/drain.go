package udp

import (
	"errors"
	"os"
	"runtime"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/datagram"
	"soku/internal/sock/pace"
)

// drain is a receiver's worker: it empties the sockets of its streams.
type drain struct {
	*receiver
	box     *datagram.Receiver
	streams []*listener
	open    int // streams that have not ended
	rest    rest
	denied  bool // by the budget: nothing more is read
}

// read is the worker of the streams worker, worker+workers, worker+2*workers...
func (r *receiver) read(worker int) {
	box, err := datagram.NewReceiver(r.path, int(r.o.Size))
	if err != nil {
		r.group.Stop(err)
		return
	}
	defer box.Close()
	if !box.Blocks() {
		// Its system calls do not notify the runtime, so the goroutine must stay on its
		// thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	defer r.pins.Keep(measure.Receiver)()
	d := &drain{receiver: r, box: box, rest: rest{waiter: pace.NewWaiter(r.group.Stopped())}}
	for i := worker; i < len(r.conns); i += r.workers {
		l, err := r.listen(i, box)
		if err != nil {
			r.group.Stop(err)
			break
		}
		d.streams = append(d.streams, l)
	}
	d.open = len(d.streams)
	d.run()
}

// sweepEvery is how often silent streams are visited, because their deadlines may have
// expired.
const sweepEvery = 20 * time.Millisecond

func (d *drain) run() {
	swept := sock.Now()
	moved := swept
	wait := time.Duration(0)
	for d.open > 0 {
		got, quiet := 0, wait > idleWait
		if quiet {
			if d.park(wait) {
				moved = sock.Now() // the flow may end soon
			}
			wait = 0
		}
		for _, i := range d.box.Ready(wait) {
			got += d.visit(d.streams[i])
		}
		if d.denied {
			d.giveUp()
			return
		}
		wait = 0
		now := sock.Now()
		if now.Sub(swept) >= sweepEvery || quiet || !d.expiry.Passed(swept) && d.expiry.Passed(now) {
			swept = now
			for _, l := range d.streams {
				got += d.visit(l)
			}
		}
		if got > 0 {
			moved = now
		}
		if !d.box.Blocks() {
			wait = d.rest.after(got, now)
			if wait == idleWait && now.Sub(moved) > quietAfter {
				wait = quietWait
			}
			wait = d.expiry.Left(wait, now)
		}
	}
}

// park waits without a thread, unless that is pinned. It reports whether something ended the wait.
func (d *drain) park(wait time.Duration) (woken bool) {
	if d.pins == nil {
		runtime.UnlockOSThread()
		defer runtime.LockOSThread()
	}
	began := sock.Now()
	d.box.Park(wait, d.group)
	return sock.Since(began) < wait
}

// giveUp waits for the end of a flow that exceeded its budget.
func (d *drain) giveUp() {
	<-d.ending.Halted()
	for _, l := range d.streams {
		if !l.closed {
			d.end(l, sock.Now())
		}
	}
}

// visit receives on a stream and returns the number of datagrams.
func (d *drain) visit(l *listener) (got int) {
	if l.closed || d.denied {
		return 0
	}
	n, err := l.in.Receive()
	if err == nil && n == 0 {
		return 0
	}
	now := sock.Now()
	switch {
	case err == nil:
		bytes := int64(0)
		for t, more := d.box.Next(); more; t, more = d.box.Next() {
			bytes += int64(t.Length())
			got += l.take(t, now)
		}
		if d.limit != nil && !d.limit.Draw(bytes) {
			d.denied = true
		}
		l.publish(now)
		if l.complete() {
			d.end(l, now)
		}
	case sock.Refused(err): // caused by a datagram sent from this socket before the trial
	case !errors.Is(err, os.ErrDeadlineExceeded):
		d.group.Stop(engine.FailStream(d.conns, l.stream, "flow.receive", measure.Figures{"cause": err}))
		d.end(l, now)
	case d.over(l.stream):
		d.end(l, now)
	}
	return got
}

func (d *drain) end(l *listener, now time.Time) {
	l.end(now)
	d.open--
}

// rest decides how a worker waits when there is no data. To be woken for each datagram
// costs its sender as much as sending it, if both are on one host, and costs the receiver
// more than receiving it. So at high rates the worker sleeps for a time in which the
// socket cannot fill up; at low rates it waits for a datagram.
type rest struct {
	waiter *pace.Waiter
	since  time.Time // beginning of this count
	count  int
	many   bool
}

const (
	nap      = 100 * time.Microsecond
	countFor = time.Millisecond
	manyAre  = 10 // datagrams in countFor
	idleWait = 10 * time.Millisecond
	// quietWait is the wait after nothing came for quietAfter: many quiet flows cost little.
	quietWait, quietAfter = 10 * time.Second, 200 * time.Millisecond
)

// after returns how long to wait for the next datagrams after a pass over all streams
// received got.
func (r *rest) after(got int, now time.Time) time.Duration {
	r.count += got
	if d := now.Sub(r.since); d >= countFor {
		r.many = time.Duration(r.count)*countFor >= manyAre*d
		r.since, r.count = now, 0
	}
	switch {
	case got > 0:
		return 0
	case r.many:
		r.waiter.WaitFine(nap)
		return 0
	}
	return idleWait
}
