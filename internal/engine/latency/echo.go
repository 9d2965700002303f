package latency

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/latency/direct"
	"soku/internal/engine/latency/requests"
	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/sock"
)

// Echo answers each message received on conns, which are all the connections of one
// trial, at least one, with a message of the same size, until the client has finished or
// ctx ends; neither is an error. o is effective and the same as at the client, and so is
// f.Policy. It leaves conns open. method says how messages reached this end's kernel, and
// whether it could spin as requested.
//
// Over UDP it answers only requests of [Run], each with exactly as many bytes as it
// received, and ends at Run's end mark. All end marks may be lost, so the caller must
// limit ctx. A connection that breaks is an error of [measure.KindBroken]; the end of ctx
// is noticed within 100 ms.
//
// Over TCP, seen is called with the time from each answer to the next message in ns: the
// round trip as the echo sees it. It may be nil. With it, or with a policy of extra
// messages, which exist over TCP only, no loop spins.
func Echo(ctx context.Context, conns []net.Conn, o measure.Options, f engine.Flow, seen func(ns int64)) (measure.Timing, error) {
	e := echoOptions{Options: o, extraEvery: f.Policy.ExtraMessageEvery, seen: seen, pins: f.Pins, limit: f.Limit}
	if e.extraEvery > 0 || seen != nil {
		return echoEach(ctx, conns, e, openShared)
	}
	spin, leave := mayEchoSpin(OptionsOf(o).Spin)
	defer leave()
	switch {
	case spin && len(conns) > 1:
		if links, ok := openTogether(conns); ok {
			err := echoTogether(ctx, conns, links, e)
			return links[0].Timing(), err
		}
	case len(conns) == 1:
		return echo(ctx, conns[0], e, openFor(spin))
	}
	// Over the net poller, so that all are treated the same and none needs a thread of
	// its own.
	return echoEach(ctx, conns, e, openPoller)
}

// echoOptions are shared by all echoes of one trial.
type echoOptions struct {
	measure.Options
	extraEvery int64          // answers before an extra message, which gets none; 0: never
	seen       func(ns int64) // see [Echo]
	pins       *sock.Pins
	limit      engine.Limit
	restAfter  time.Duration // 0: [restAfter]
	silent     time.Duration // 0: [silentAfter]
}

const (
	// restAfter is how long a client must be silent before its echo sleeps until the next message.
	restAfter = 2 * time.Second
	// silentAfter is how long before its echo has no thread. To get one again takes up to some
	// ms, which would count in slow schedules of requests if it were shorter.
	silentAfter = 30 * time.Second
)

// echoEach answers every connection in a goroutine of its own.
func echoEach(ctx context.Context, conns []net.Conn, o echoOptions, open linker) (measure.Timing, error) {
	timings, errs := make([]measure.Timing, len(conns)), make([]error, len(conns))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all := panics.Group{Stop: cancel}
	for i, conn := range conns {
		all.Go(func() { timings[i], errs[i] = echo(ctx, conn, o, open) })
	}
	all.Wait()
	return timings[0], errors.Join(errs...)
}

// openTogether opens spinning links for one thread; ok is false if that is not possible.
func openTogether(conns []net.Conn) (links []direct.Link, ok bool) {
	for _, conn := range conns {
		setNoDelay(conn)
		l, ok := direct.Open(conn, maxTick, true)
		if !ok {
			for _, l := range links {
				l.Release()
			}
			return nil, false
		}
		links = append(links, l)
	}
	return links, true
}

func echoTogether(ctx context.Context, conns []net.Conn, links []direct.Link, o echoOptions) error {
	defer func() {
		for _, l := range links {
			l.Release()
		}
	}()
	if err := checkEcho(o.Options); err != nil {
		return err
	}
	own := OptionsOf(o.Options)
	if own.Stamps == StampsSplit {
		for _, l := range links {
			l.Stamp()
		}
	}
	first := links[0].(direct.Looper)
	first.MayRest(cmp.Or(o.restAfter, restAfter), cmp.Or(o.silent, silentAfter))
	err := alone(o.pins, measure.Receiver, links, func() error { return first.Answer(ctx, links, int(o.Size), own.FarTimes(), o.limit) })
	return echoed(ctx, conns[0], err)
}

func echo(ctx context.Context, conn net.Conn, o echoOptions, open linker) (measure.Timing, error) {
	if err := checkEcho(o.Options); err != nil {
		return measure.Timing{}, err
	}
	setNoDelay(conn)
	l := open(conn, echoTick, threadsEcho)
	defer l.Release()
	own := OptionsOf(o.Options)
	if own.OneWay && !l.Busy() || own.Stamps == StampsSplit {
		l.Stamp() // when a request arrived, not when this end was scheduled
	}
	e := echoer{link: l, extraEvery: o.extraEvery, seen: o.seen, limit: o.limit, size: int(o.Size), stream: requests.IsStream(conn), farTimes: own.FarTimes(), clock: requests.Clock{Start: sock.Now()}}
	answer := e.datagrams
	if e.stream {
		answer = e.messages
	}
	if d, ok := l.(direct.Looper); ok {
		d.MayRest(cmp.Or(o.restAfter, restAfter), cmp.Or(o.silent, silentAfter))
		answer = func(ctx context.Context) error { return d.Answer(ctx, []direct.Link{l}, e.size, e.farTimes, o.limit) }
	}
	loop := func() error {
		return alone(o.pins, measure.Receiver, []direct.Link{l}, func() error { return answer(ctx) })
	}
	err := loop()
	for errors.Is(err, direct.ErrSilent) {
		if err = l.(direct.Looper).Park(ctx); err == nil {
			err = loop()
		}
	}
	return l.Timing(), echoed(ctx, conn, err)
}

func checkEcho(o measure.Options) error {
	if o.Size < 1 || o.Size > maxMessage {
		return measure.Fail(measure.KindUsage, "latency.size", measure.Figures{"size_bytes": o.Size, "least_bytes": 1, "most_bytes": maxMessage})
	}
	return nil
}

// echoed returns the error of an echo that ended with err.
func echoed(ctx context.Context, conn net.Conn, err error) error {
	if err != nil && ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
		return measure.Fail(measure.KindBroken, "latency.echo", measure.Figures{"peer": conn.RemoteAddr().String(), "cause": err})
	}
	return nil
}

// echoer answers over a link.
type echoer struct {
	link             direct.Link
	extraEvery       int64 // of echoOptions
	seen             func(ns int64)
	limit            engine.Limit
	size             int
	stream, farTimes bool
	clock            requests.Clock
}

// times writes into a reply when its request arrived, and now as its send time.
func (e echoer) times(b []byte) {
	if e.farTimes {
		now := e.clock.Now()
		requests.PutTimes(b, e.stream, now-int64(e.link.Late()), now)
	}
}

func (e echoer) messages(ctx context.Context) error {
	message := make([]byte, e.size)
	sent := int64(0)
	for answered := int64(0); ; answered++ {
		err := readFull(ctx, e.link, message, func() error { return nil })
		if err == nil && e.seen != nil && answered > 0 {
			e.seen(e.clock.Now() - sent)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && !e.limit.None() && !e.limit.Draw(int64(e.size), int64(e.size)) {
			return engine.Exceeded(ctx)
		}
		if err == nil && e.extraEvery > 0 && answered == e.extraEvery {
			answered = -1
			continue
		}
		if err == nil {
			e.times(message)
			if e.seen != nil {
				sent = e.clock.Now()
			}
			err = writeAll(ctx, e.link, message)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

func (e echoer) datagrams(ctx context.Context) error {
	buffer := make([]byte, max(e.size, requests.HeaderSize)+1)
	var token uint64
	for ctx.Err() == nil {
		n, err := e.link.Read(buffer)
		if err != nil {
			if errors.Is(err, direct.ErrTick) || sock.Refused(err) || sock.TooLong(err) {
				continue
			}
			return err
		}
		h, ok := requests.ParseHeader(buffer[:n])
		if !e.limit.None() && !e.limit.Draw(int64(n), int64(n)) {
			return engine.Exceeded(ctx)
		}
		switch {
		case !ok || n > e.size:
		case h.Magic == requests.MagicRequest:
			token = h.Token
			h.Magic = requests.MagicReply
			h.Put(buffer)
			e.times(buffer[:n])
			if err := writeAll(ctx, e.link, buffer[:n]); err != nil && !sock.Refused(err) && !sock.NoBuffers(err) && !errors.Is(err, context.Cause(ctx)) {
				return err
			}
		case h.Magic == requests.MagicEnd && h.Token == token:
			return nil
		}
	}
	return nil
}
