package tcp

import (
	"errors"
	"io"
	"runtime"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/pace"
)

// receiveLoop takes what some of the flow's streams have from one thread, in
// turn. When fast streams have nothing it sleeps by the clock, so that one waking
// moves much; it waits for slow ones to have something.
type receiveLoop struct {
	*receiver
	loop
	reader *sock.Reader
	// yields: after each look, others may have the processor. Dropping bytes takes
	// so little that the next look would find crumbs, and a sender on the same host
	// that is kept from its processor sends smaller packets, which costs both ends.
	// One that reads is the slower end, and loses by it.
	yields bool
	long   bool // calls wait and go on for a while: of a reader with patience
	nap    nap
	wide   widening
	quitAt time.Time // when it was seen first that the flow is over
}

const (
	// fast is how much must have come since the last sleep for the next to be one
	// by the clock: about 1.3 Gbit/s.
	fast = 16 << 10
	// doze is that sleep: shorter ones cost the sender's processor more than they
	// bring, longer ones let a window fill.
	doze = 100 * time.Microsecond
)

func (l *receiveLoop) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer l.pins.Keep(measure.Receiver)()
	_, restore := pace.FineSleep()
	defer restore()
	defer l.reader.Close()
	var since int64
	for l.live > 0 {
		n := l.pass()
		since += n
		if n > 0 && !l.leaves() && !l.naps(n) {
			if l.yields {
				sock.Yield()
			}
			continue
		}
		if l.group.Err() != nil || l.late() || l.ending.Over() {
			return
		}
		if since >= fast && !l.long {
			pace.Sleep(doze)
		} else {
			l.reader.Wait(tick)
		}
		since = 0
	}
}

// naps tells whether the loop sleeps after a look that brought n bytes. Where there is a
// processor for each sender, none gains by it, and a single stream over veth lost a third.
func (l *receiveLoop) naps(n int64) bool {
	return l.yields && len(l.streams) > sock.Processors && l.nap.after(n, &l.loop, l.reader)
}

// leaves tells whether the loop ends though bytes still come: only where the
// connections are kept, for then the sender goes on.
func (l *receiveLoop) leaves() bool {
	if !l.policy.KeepOpen {
		return false
	}
	if l.o.Bytes > 0 && l.came.Load() >= int64(l.o.Bytes) {
		return true
	}
	if l.ending.Over() { // take what is queued, but of a sender that goes on not for ever
		if l.quitAt.IsZero() {
			l.quitAt = sock.Now()
		}
		return sock.Since(l.quitAt) > lastBytes
	}
	return l.late()
}

// pass gives each stream one turn and returns how many bytes came.
func (l *receiveLoop) pass() (moved int64) {
	for k := range l.streams {
		if l.done[k] {
			continue
		}
		n, last, err := l.take(k)
		if n > 0 {
			moved += n
			count := &l.counts[k]
			count.Bytes += n
			count.Last = last
			l.rec.Cell(l.streams[k]).Publish(*count)
			if !l.first.Come() {
				l.begin(count.Last)
			}
			l.enough(int(n))
			if !l.long { // no more in a call than the kernel expects
				l.wide.after(int(n), k, l.reader)
			}
		}
		switch {
		case err == nil, errors.Is(err, sock.ErrWouldBlock):
			continue
		case errors.Is(err, io.EOF):
			l.ended(l.streams[k])
		default:
			l.group.Stop(l.broken("receive from", l.streams[k], err))
		}
		l.done[k] = true
		l.live--
		l.reader.Drop(k)
	}
	return moved
}

// take is what stream k has, and when the last of it came: with patience what comes for
// a while, once it is known when the flow began.
func (l *receiveLoop) take(k int) (n int64, last time.Time, err error) {
	if l.long && l.first.Come() {
		return l.reader.TakeFor(spell)
	}
	one, err := l.reader.Take(k)
	if one > 0 {
		last = sock.Now()
	}
	return int64(one), last, err
}
