package tcp

import (
	"errors"
	"runtime"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

// sendLoop sends on some of the flow's streams from one thread, in turn, and
// waits only when the queues of all of them are full.
type sendLoop struct {
	*sender
	loop
	outlet *sock.Outlet
}

// tick is how long a loop waits at most before it looks at the flow's end.
const tick = 20 * time.Millisecond

func (l *sendLoop) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer l.pins.Keep(measure.Sender)()
	defer l.outlet.Close()
	for l.live > 0 && l.group.Err() == nil && !l.ending.Over() {
		wait := tick
		if l.timed() {
			if wait = min(wait, l.stop.Sub(sock.Now())); wait <= 0 {
				return
			}
		}
		if !l.pass() && l.live > 0 {
			l.outlet.Wait(wait)
		}
	}
}

// pass gives each stream one turn, and tells whether any has room for more.
func (l *sendLoop) pass() (room bool) {
	for k := range l.streams {
		if l.done[k] {
			continue
		}
		n := l.claim()
		if n == 0 {
			l.end(k)
			continue
		}
		took, err := l.outlet.Put(k, n)
		l.giveBack(n - took)
		if took > 0 {
			count := &l.counts[k]
			count.Bytes += int64(took)
			count.Last = sock.Now()
			l.rec.Cell(l.streams[k]).Publish(*count)
		}
		switch {
		case err == nil:
			room = true
		case !errors.Is(err, sock.ErrWouldBlock):
			if !l.over() {
				l.group.Stop(l.broken("send to", l.streams[k], err))
			}
			l.end(k)
		}
	}
	return room
}

func (l *sendLoop) end(k int) {
	l.done[k] = true
	l.live--
	l.outlet.Drop(k)
}
