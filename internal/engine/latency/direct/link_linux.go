//go:build linux && (amd64 || arm64) && !race && !plainloops

package direct

import (
	"context"
	"io"
	"math"
	"net"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/engine/latency/requests"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/longcall"
)

// looper runs loops on the socket itself, outside of the Go runtime.
type looper struct {
	*blockingLink
	d       *socket
	spin    bool
	both    bool     // time stamps of both directions are enabled
	known   bool     // the receiving device is known, and the kernel polls it if it may
	missed  []uint64 // the last numbers counted as lost
	counted bool     // the current exchange is counted by the client
	// Of an echo that may rest; nil: it may not.
	waker     *sock.Waker
	restAfter time.Duration

	silentAfter time.Duration

	// Allocated once, so that a call allocates nothing.
	asking, echoing, answering, keeping, seeking func(fd uintptr)
}

// Open opens a link whose loops run outside of the Go runtime. They block in the
// kernel or, with spin, poll the socket without a pause. ok is false for a connection
// that is not a socket.
func Open(conn net.Conn, tick time.Duration, spin bool) (Looper, bool) {
	l, ok := OpenBlocking(conn, tick)
	if !ok {
		return nil, false
	}
	b := l.(*blockingLink)
	x := &looper{blockingLink: b, spin: spin, d: &socket{spin: spin, stream: requests.IsStream(conn)}}
	if spin {
		_ = b.mode(true, 0)
	}
	x.asking = func(fd uintptr) { x.d.fd = fd; x.d.ask() }
	x.echoing = func(fd uintptr) { x.d.fd = fd; x.d.answer() }
	x.answering = func(fd uintptr) { x.d.fd = fd; x.d.answering() }
	x.keeping = func(fd uintptr) { x.d.fd = fd; x.d.keep() }
	x.seeking = func(fd uintptr) { x.known = pollDevice(int(fd)) }
	d := x.d
	d.header = msghdr{vector: uintptr(unsafe.Pointer(&d.vector)), vectorLen: 1, control: uintptr(unsafe.Pointer(&d.control[0]))}
	return x, true
}

// busyPollUs is how long the kernel polls a device for a reader, in µs, if it may
// (socket(7), SO_BUSY_POLL).
const busyPollUs = 50

// pollDevice lets the kernel poll the device when the socket is read, if it may. It
// returns false until a packet arrived from a device that can be polled
// (SO_INCOMING_NAPI_ID). Over loopback none ever does, and each read would search for the
// device, which takes a quarter of a microsecond of a round trip.
func pollDevice(fd int) bool {
	if id, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_INCOMING_NAPI_ID); err != nil || id == 0 {
		return false
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BUSY_POLL, busyPollUs)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PREFER_BUSY_POLL, 1)
	return true
}

// seekDevice enables polling of the device once it is known, which is when a packet has
// arrived. The echo therefore tries again from time to time; the client has received a
// reply when it tries.
func (l *looper) seekDevice() {
	if l.spin && !l.known {
		_ = l.raw.Control(l.seeking)
	}
}

func (l *looper) Release() {
	if l.waker != nil {
		l.waker.Close()
	}
	if l.known {
		_ = l.raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PREFER_BUSY_POLL, 0)
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_BUSY_POLL, 0)
		})
	}
	if l.both {
		_ = l.raw.Control(func(fd uintptr) { sock.StampNoMore(int(fd)) })
	}
	l.blockingLink.Release()
}

func (l *looper) Timing() measure.Timing {
	t := l.blockingLink.Timing()
	t.OwnThread = true
	if l.spin {
		t.Wait = measure.WaitSpinning
	}
	if l.both {
		t.Clock = measure.ClockKernel
	}
	return t
}

// prepare allocates buffers for messages of size bytes.
func (l *looper) prepare(size int, farTimes bool) {
	d := l.d
	d.size, d.stamps, d.split = uintptr(size), l.stamping || l.both, l.both
	d.farTimes = farTimes && size >= requests.TimesAt(d.stream)+16
	room := max(size, requests.HeaderSize) + 1
	d.out, d.in = make([]byte, room), make([]byte, room)
	if d.step = 1; d.stream {
		d.step = uint32(size)
	}
}

// endWith makes the end of ctx end every run of exchanges immediately. The caller calls
// the returned function.
func (l *looper) endWith(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { l.d.ended.Store(1) })
}

// slice sets the times of the next slice of exchanges, which begins now.
func (l *looper) slice() (now int64) {
	if l.d.stamps {
		l.d.wall = wallAhead()
	}
	now = longcall.Nanotime()
	end := now + sliceBlocking
	if l.spin {
		end = now + sliceSpinning
	}
	l.d.stop, l.d.tick = end, end
	return now
}

// endOf returns why a loop that never sleeps must end with its context; nil while it may
// continue. It checks the deadline itself: loops that spin at a real-time priority leave
// no processor to the timer that ends the context, nor to another goroutine that would
// end it.
func endOf(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if end, ok := ctx.Deadline(); ok && time.Now().After(end) {
		return context.DeadlineExceeded
	}
	return nil
}

// wallAhead returns how far the wall clock is ahead of longcall.Nanotime, from the
// closest of a few readings, because a reading may be interrupted.
func wallAhead() (ahead int64) {
	closest := int64(math.MaxInt64)
	for range 3 {
		before := longcall.Nanotime()
		wall := sock.Now().UnixNano()
		after := longcall.Nanotime()
		if after-before < closest {
			closest, ahead = after-before, wall-(before+after)/2
		}
	}
	return ahead
}

func (l *looper) Socket() syscall.RawConn { return l.raw }

func (l *looper) Busy() bool { return l.spin }

// Ask is the closed loop over one or more links in turn.
func (l *looper) Ask(ctx context.Context, c *requests.Counts, links []Link) error {
	base := longcall.Nanotime() - c.Clock.Now()
	room := mostDone
	if len(links) > 1 {
		room = 1 // after each exchange it is the turn of another
	}
	for _, link := range links {
		x := link.(*looper)
		x.seekDevice()
		x.prepare(c.Size, c.FarTimes)
		x.d.done = make([]exchange, room)
		if x.both {
			x.d.passed = make([]passed, len(x.d.done))
		}
		defer x.endWith(ctx)()
		x.d.token, x.d.zero = c.Token, base
		requests.Header{Magic: requests.MagicRequest, Token: c.Token}.Put(x.d.out)
		if c.Stream {
			clear(x.d.out)
		}
	}
	for {
		x := links[c.Turn].(*looper)
		over, err := x.turn(ctx, c, base)
		if over || err != nil {
			return err
		}
		if x.d.phase == phaseIdle {
			c.Turn = (c.Turn + 1) % len(links)
		}
	}
}

// turn runs exchanges for a slice, counts them, and handles anything else that ended the
// slice. It reports whether the trial is over.
func (l *looper) turn(ctx context.Context, c *requests.Counts, base int64) (over bool, err error) {
	d := l.d
	now := l.slice() - base
	if err := endOf(ctx); err != nil {
		return true, err
	}
	if d.phase == phaseIdle {
		if c.Over(now) {
			return true, nil
		}
		c.Rec.Tick(now - c.Omit)
	}
	l.bound(c, base, now)
	err = l.raw.Control(l.asking)
	l.file(c, base)
	if err != nil {
		return true, err
	}
	return false, l.settle(c, base)
}

// bound limits a slice.
func (l *looper) bound(c *requests.Counts, base, now int64) {
	d := l.d
	if now < c.Omit {
		d.stop = min(d.stop, base+c.Omit) // the measured part begins there
	}
	if c.End > 0 {
		d.stop = min(d.stop, base+c.End)
	}
	begun := base + now
	left := c.Count - c.Sent
	if d.phase != phaseIdle {
		begun = d.began
		left++ // the current exchange is already counted as sent
	}
	if !c.Stream {
		d.tick = min(d.tick, begun+c.Timeout+1)
	}
	d.most = len(d.done)
	if c.Count > 0 && now >= c.Omit {
		d.most = int(min(max(left, 1), int64(d.most)))
	}
}

// file counts the exchanges of a slice, and the current one as sent.
func (l *looper) file(c *requests.Counts, base int64) {
	d := l.d
	for i, e := range d.done[:d.n] {
		c.Begin(e.sent-base, l.counted)
		l.counted = false
		came := e.read
		if e.came > e.sent && e.came < e.read {
			came = e.came
		}
		c.Reply(e.sent-base, came-base, e.read-base)
		if c.OneWay {
			c.Far(e.sent-base, came-base, e.farIn, e.farOut)
		}
		if d.split && e.sent-base >= c.Omit {
			c.Splits.Add(d.passage(i))
		}
	}
	d.n = 0
	if d.phase != phaseIdle && !l.counted {
		c.Begin(d.began-base, false)
		l.counted = true
	}
}

// settle handles the end of a slice. An error ends the trial.
func (l *looper) settle(c *requests.Counts, base int64) error {
	d := l.d
	switch d.outcome {
	case outcomeEnd:
		return io.EOF
	case outcomeOdd:
		if c.Stream {
			return requests.ErrDisorder
		}
		l.odd(c)
	case outcomeFailed:
		switch {
		case c.Stream || !sock.Refused(d.errno) && !sock.NoBuffers(d.errno):
			return d.errno
		case sock.Refused(d.errno):
			c.Refused = true
		}
		if d.phase == phaseSend { // an error caused by an earlier datagram
			d.phase, d.moved = phaseWait, 0
		}
	case outcomeQuiet, outcomeSlice:
		if c.Stream {
			return c.Silent()
		}
	}
	now := longcall.Nanotime()
	if c.Stream || d.phase != phaseWait || now-d.began <= c.Timeout {
		return nil
	}
	c.Miss(d.began-base, now-base)
	l.missed = append(l.missed, d.number)
	if len(l.missed) > remembered {
		l.missed = l.missed[1:]
	}
	l.counted, d.phase = false, phaseIdle
	d.number++
	if c.Refused {
		return requests.ErrGone
	}
	return nil
}

// remembered is how far back a reply's number may be to count as a duplicate or late.
const remembered = 1024

// odd handles a datagram that is not the awaited reply. A duplicate is counted; after the
// late reply to a lost request the next one is a duplicate.
func (l *looper) odd(c *requests.Counts) {
	d := l.d
	h, ok := requests.ParseHeader(l.d.in[:d.got])
	if !ok || h.Magic != requests.MagicReply || h.Token != c.Token || int(d.got) != c.Size || h.Number >= d.number || h.Number+remembered < d.number {
		return
	}
	if i := slices.Index(l.missed, h.Number); i >= 0 {
		l.missed = slices.Delete(l.missed, i, i+1)
		return
	}
	c.Duplicated++
}
