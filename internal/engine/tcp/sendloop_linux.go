package tcp

import (
	"errors"
	"math"
	"runtime"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
)

// sendLoop sends on some of the flow's streams from one thread, in turn, and waits only
// when the queues of all of them are full.
type sendLoop struct {
	*sender
	loop
	writer *sock.Writer
	rest   []int // of each stream's claims, bytes; see [sender.next]
	long   bool  // calls repeat for a while: the writer has a block timeout and no amount is shared

	queues   *lengthening // nil leaves queues alone
	compares bool         // this loop compares rates for queues
	longer   bool         // its stream has a long queue
	moved    int64        // bytes
	idle     idler
	tails    []tail // of each stream, or nil if the flow does not end after a time or keeps its connections
}

// tick is the longest wait of a loop before it checks whether the flow has ended, while
// something moves.
const tick = 20 * time.Millisecond

// longCallTime is how long a repeating call lasts.
const longCallTime = 5 * time.Millisecond

func (l *sendLoop) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer l.pins.Keep(measure.Sender)()
	defer l.writer.Close()
	defer l.idle.close()
	for l.live > 0 && l.group.Err() == nil && !l.ending.Over() {
		left := time.Duration(math.MaxInt64)
		if l.timed() {
			if left = l.stop.Sub(sock.Now()); left <= 0 {
				return
			}
			if l.long && left < 2*tick {
				// The kernel may block for some milliseconds more than the timeout, and
				// the flow is to end in time.
				l.writer.Unblock()
				l.long = false
			}
		}
		before := l.moved
		room := l.pass()
		if l.idle.moved(l.moved > before); room || l.live == 0 {
			continue
		}
		if l.idle.long(l.group) {
			l.idle.wait(l.pins, func() { l.writer.Idle(min(l.idle.most(), left), l.idle.parking) })
			continue
		}
		l.writer.Wait(min(tick, left))
	}
}

// pass visits each stream once, and reports whether any has room for more.
func (l *sendLoop) pass() (room bool) {
	for k := range l.streams {
		if l.done[k] {
			continue
		}
		n := l.next(&l.rest[k])
		if n == 0 || l.tails != nil && l.tails[k].full(l.conns[l.streams[k]], l.counts[k].Bytes, l.begin, l.stop) {
			l.end(k)
			continue
		}
		took, err := l.put(k, n)
		l.sent(&l.rest[k], took)
		if took > 0 {
			count := &l.counts[k]
			count.Bytes += int64(took)
			l.moved += int64(took)
			count.Last = sock.Now()
			l.rec.Cell(l.streams[k]).Publish(*count)
			l.lengthen(took, count.Last)
		}
		switch {
		case err == nil:
			room = true
		case !errors.Is(err, sock.ErrWouldBlock):
			if !l.over() {
				l.group.Stop(engine.FailStream(l.conns, l.streams[k], "flow.send", measure.Figures{"cause": err}))
			}
			l.end(k)
		}
	}
	return room
}

// put sends the bytes of a claim, and in a timed flow whatever the kernel accepts
// meanwhile.
func (l *sendLoop) put(k, n int) (took int, err error) {
	if !l.long {
		return l.writer.Put(k, n)
	}
	all, err := l.writer.PutFor(l.size, min(longCallTime, l.stop.Sub(sock.Now())))
	return int(all), err
}

// lengthen gives the one stream of a loop a long queue if the flow is fast.
func (l *sendLoop) lengthen(took int, at time.Time) {
	if l.queues == nil || l.longer {
		return
	}
	if n := l.queues.sent(int64(took), at, l.compares); n > 0 {
		l.writer.Lengthen(0, n)
		l.longer = true
	}
}

func (l *sendLoop) end(k int) {
	l.done[k] = true
	l.live--
	l.giveBack(&l.rest[k])
	l.writer.Drop(k)
}
