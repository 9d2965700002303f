package tcp

import (
	"errors"
	"io"
	"runtime"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/pace"
)

// receiveLoop receives on some of the flow's streams from one thread, in turn. When fast
// streams have no data it sleeps for a fixed time, so that each wake-up moves much; it
// polls slow ones.
type receiveLoop struct {
	*receiver
	loop
	reader *sock.Reader
	// yields: after each pass other threads may have the processor. Discarding bytes
	// takes so little time that the next pass would find little data, and a sender on the
	// same host that is kept from its processor sends smaller packets, which costs both
	// ends. A loop that reads is the slower end, and loses by yielding.
	yields    bool
	long      bool // calls block and repeat for a while: the reader has a block timeout
	coalescer coalescer
	wide      widening
	idle      idler
	load      sock.Load
	quitAt    time.Time // when the loop first noticed that the flow is over
}

func (r *receiver) newReceiveLoop(streams []int, reader *sock.Reader) *receiveLoop {
	return &receiveLoop{receiver: r, loop: newLoop(streams), reader: reader, yields: reader.Path() == "discard", wide: newWidening(len(streams))}
}

const (
	// fast is how many bytes must have arrived since the last sleep for the next sleep to
	// be a fixed time: about 1.3 Gbit/s.
	fast = 16 << 10
	// fixedSleep is that sleep: shorter ones cost the sender's processor more than they
	// gain, longer ones let a window fill.
	fixedSleep = 100 * time.Microsecond
)

func (l *receiveLoop) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer l.pins.Keep(measure.Receiver)()
	_, restore := pace.FineSleep()
	defer func() { restore() }()
	defer l.reader.Close()
	var since int64
	defer l.idle.close()
	for l.live > 0 {
		if l.long {
			if left := l.expiry.Left(2*tick, sock.Now()); left < 2*tick {
				l.reader.BlockTimeout(max(time.Millisecond, left/2)) // the flow is to end in time
			}
		}
		n := l.pass()
		since += n
		l.idle.moved(n > 0)
		if n > 0 && l.limit != nil && !l.balance(l.limit.Slowed(n)) {
			return
		}
		if n > 0 && l.yields {
			l.spread()
		}
		if n > 0 && !l.leaves() && !l.coalesces(n) {
			if l.yields {
				sock.Yield()
			}
			continue
		}
		if l.live == 0 || l.group.Err() != nil || l.expiry.Passed(sock.Now()) || l.ending.Over() {
			return
		}
		switch {
		case since >= fast && !l.long:
			pace.Sleep(fixedSleep)
		case l.idle.long(l.group):
			restore() // of this thread; the loop may go on on another
			l.idle.wait(l.pins, func() { l.reader.Idle(l.expiry.Left(l.idle.most(), sock.Now()), l.idle.parking) })
			_, restore = pace.FineSleep()
		default:
			l.reader.Wait(l.expiry.Left(tick, sock.Now()))
		}
		since = 0
	}
}

// balance waits until the flow is within its budget again, and returns false if it ends first.
func (l *receiveLoop) balance(d time.Duration) bool {
	for end := sock.Now().Add(d); d > 0; d = end.Sub(sock.Now()) {
		if l.group.Err() != nil || l.expiry.Passed(sock.Now()) || l.ending.Over() {
			return false
		}
		pace.Sleep(min(d, tick))
	}
	return true
}

// coalesces reports whether the loop sleeps after a pass that moved n bytes. If each
// sender has a processor of its own, none gains by that, and a single stream over veth
// lost a third.
func (l *receiveLoop) coalesces(n int64) bool {
	return l.yields && len(l.streams) > sock.Processors && l.coalescer.after(n, &l.loop, l.reader)
}

// leaves reports whether the loop ends though data still arrives: only if connections
// stay open, because then the sender continues.
func (l *receiveLoop) leaves() bool {
	if !l.policy.KeepOpen {
		return false
	}
	if l.o.Bytes > 0 && l.arrived.Load() >= int64(l.o.Bytes) {
		return true
	}
	if l.ending.Over() { // read what is queued, for a bounded time because the sender may continue
		if l.quitAt.IsZero() {
			l.quitAt = sock.Now()
		}
		return sock.Since(l.quitAt) >= l.graceAfterOver(measure.Receiver)
	}
	return l.expiry.Passed(sock.Now())
}

// pass visits each stream once and returns how many bytes it received.
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
			if !l.long { // no more in a call than the kernel's window tuning expects
				l.wide.after(int(n), k, l.reader)
			}
		}
		switch {
		case err == nil, errors.Is(err, sock.ErrWouldBlock):
			continue
		case errors.Is(err, io.EOF):
			l.ended(l.streams[k])
		default:
			l.group.Stop(engine.FailStream(l.conns, l.streams[k], "flow.receive", measure.Figures{"cause": err}))
		}
		l.done[k] = true
		l.live--
		l.reader.Drop(k)
	}
	return moved
}

// take returns what stream k received, and when the last of it arrived. With a block
// timeout it receives for a while, once the beginning of the flow is known.
func (l *receiveLoop) take(k int) (n int64, last time.Time, err error) {
	if l.long && l.first.Come() {
		return l.reader.TakeFor(l.expiry.Left(longCallTime, sock.Now()))
	}
	one, err := l.reader.Take(k)
	if one > 0 {
		last = sock.Now()
	}
	return int64(one), last, err
}
