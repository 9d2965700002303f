//go:build linux && (amd64 || arm64) && !race && !plainloops

package direct

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/engine"
	"soku/internal/engine/latency/requests"
	"soku/internal/sock"
)

// Answer is the echo.
func (l *looper) Answer(ctx context.Context, links []Link, size int, farTimes bool, limit engine.Limit) error {
	if len(links) == 1 {
		return l.answerAll(ctx, size, farTimes, limit)
	}
	all := make([]*looper, len(links))
	for i, link := range links {
		all[i] = link.(*looper)
	}
	return answerRound(ctx, all, size, farTimes, limit)
}

// answerAll is the echo over one connection.
func (l *looper) answerAll(ctx context.Context, size int, farTimes bool, limit engine.Limit) error {
	l.prepare(size, farTimes)
	defer l.endWith(ctx)()
	rest := resting{looper: l, links: []*looper{l}}
	defer context.AfterFunc(ctx, l.waker.Wake)()
	for {
		if rest.after(ctx, l.d.outcome == outcomeQuiet) {
			return ErrSilent
		}
		l.seekDevice()
		l.slice()
		if !l.lend(limit) {
			return engine.Exceeded(ctx)
		}
		if err := l.raw.Control(l.echoing); err != nil {
			return err
		}
		if err := endOf(ctx); err != nil {
			return err
		}
		if over, err := l.answered(); over || err != nil {
			return err
		}
	}
}

// Park waits until the next message without a thread, in the poller of the runtime.
func (l *looper) Park(ctx context.Context) error {
	_ = l.mode(true, 0)
	l.rewatch()
	defer context.AfterFunc(ctx, func() { _ = l.conn.SetReadDeadline(time.Unix(1, 0)) })()
	err := l.raw.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil {
		err = l.mode(l.spin, l.tick)
	}
	l.rewatch = sock.Unwatch([]net.Conn{l.conn})
	return err
}

func (l *looper) MayRest(after, silent time.Duration) {
	l.waker, l.restAfter, l.silentAfter = sock.NewWaker(), after, silent
}

// resting makes an echo sleep until the next message when none has come for a while, also one
// that spins: silent clients take no processors.
type resting struct {
	*looper           // which may rest
	links   []*looper // of one thread
	over    []bool    // one element a link: the client has closed it; nil: none
	since   time.Time // when they became quiet
}

// restMost is the longest wait. A message or the end of the context ends it earlier; each wait
// costs a wake-up of a thread, which many silent clients multiply.
const restMost = 10 * time.Second

// after notes whether the last passes of the echo were quiet, and rests if nothing has moved
// for a while. It reports whether the client of one link has been silent for long.
func (r *resting) after(ctx context.Context, quiet bool) (silent bool) {
	if !quiet {
		r.since = time.Time{}
		return false
	}
	switch now := sock.Now(); {
	case r.since.IsZero():
		r.since = now
		return false
	case now.Sub(r.since) < r.restAfter:
		return false
	}
	wait := restMost
	if !r.waker.Works() {
		wait = 80 * time.Millisecond // the end of the context cannot end the rest
	}
	parks := r.over == nil && r.d.phase == phaseIdle && r.d.moved == 0
	for endOf(ctx) == nil {
		if parks {
			if wait = min(wait, r.silentAfter-sock.Since(r.since)); wait <= 0 {
				return true
			}
		}
		if r.waker.Poll(r.awaited(), wait) {
			break
		}
	}
	return false
}

// awaited is what ends a rest: a message, or room for the rest of an answer.
func (r *resting) awaited() []unix.PollFd {
	fds := make([]unix.PollFd, len(r.links))
	for i, l := range r.links {
		fds[i] = unix.PollFd{Fd: int32(l.d.fd), Events: unix.POLLIN}
		switch {
		case r.over != nil && r.over[i]:
			fds[i].Fd = -1
		case l.d.phase == phaseSend:
			fds[i].Events = unix.POLLOUT
		}
	}
	return fds
}

// lend sets how many bytes the next slice may answer, of what the limit leaves, after it has
// taken off what the last one answered. It returns false if that was too much.
func (l *looper) lend(limit engine.Limit) bool {
	if limit.None() {
		l.d.spare = math.MaxInt64
		return true
	}
	n := l.d.lent - l.d.spare
	ok := limit.Draw(n, n)
	l.d.lent = limit.Exchange()
	l.d.spare = l.d.lent
	return ok
}

// answered handles the end of a slice of the echo, and reports whether the echo is over.
func (l *looper) answered() (over bool, err error) {
	d := l.d
	switch d.outcome {
	case outcomeEnd:
		if d.moved > 0 {
			return true, io.ErrUnexpectedEOF
		}
		return true, nil
	case outcomeOdd:
		h, ok := requests.ParseHeader(d.in[:d.got])
		return ok && h.Magic == requests.MagicEnd && h.Token == d.token, nil
	case outcomeFailed:
		if d.stream || !sock.Refused(d.errno) && !sock.NoBuffers(d.errno) {
			return true, d.errno
		}
		d.phase, d.moved = phaseIdle, 0
	}
	return false, nil
}

// wallPasses is the number of polls from one comparison of the clocks to the next: some
// 100 ms, in which the wall clock is assumed not to be set.
const wallPasses = 1 << 19

// answerRound is the spinning echo over several connections on one thread. The client
// uses them in turn, so the connection after the last one that had a request is polled
// most often.
func answerRound(ctx context.Context, links []*looper, size int, farTimes bool, limit engine.Limit) error {
	for _, l := range links {
		l.prepare(size, farTimes)
		l.d.once = true
	}
	next, other, open := 0, 0, len(links)
	over, quiet := make([]bool, len(links)), false
	rest := resting{looper: links[0], links: links, over: over}
	defer context.AfterFunc(ctx, rest.waker.Wake)()
	for passes := 0; open > 0; passes++ {
		if passes%1024 == 0 {
			rest.after(ctx, quiet)
			quiet = true
			if err := endOf(ctx); err != nil {
				return err
			}
		}
		if passes%wallPasses == 0 {
			ahead := wallAhead()
			for _, l := range links {
				l.d.wall = ahead
				l.seekDevice()
			}
		}
		i := next
		if passes%2 == 1 {
			other = (other + 1) % len(links)
			i = other
		}
		if over[i] {
			next = (next + 1) % len(links)
			continue
		}
		l := links[i]
		if (l.d.spare == 0 || l.d.spare < l.d.lent) && !l.lend(limit) { // the first time, and after each message of a limited test
			return engine.Exceeded(ctx)
		}
		if err := l.raw.Control(l.answering); err != nil {
			return err
		}
		if l.d.outcome == outcomeSlice {
			quiet = false
			next = (i + 1) % len(links)
			continue
		}
		ended, err := l.answered()
		if err != nil {
			return err
		}
		if ended {
			over[i] = true
			open--
		}
	}
	return nil
}
