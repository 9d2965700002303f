package ethr

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/flows"
	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/server"
	"soku/internal/sock"
	wire "soku/internal/wire/ethr"
)

const (
	// syncWait is how long a client that knows the synchronisation has, after the
	// answer to its request, to ask for it on a connection on which it then only
	// receives; the first connection of a test has longer, because it surely asks.
	syncWait, firstSyncWait = 100 * time.Millisecond, time.Second
	// payloadWait is how long the first bytes of a test may take.
	payloadWait = 10 * time.Second
	// partTime is how long an engine runs at a time: a test of Ethr may go on for
	// ever, and what an engine keeps of it grows.
	partTime = time.Minute
	// maxMessage bounds what a latency test asks for, bytes; of batches of more than
	// maxRounds round trips this end keeps no times.
	maxMessage, maxRounds = 64 << 10, 100_000
)

// admit checks what is asked for, takes a place for the connection and waits for
// the client's turn, until leave. What was taken is given back on an error.
func (h *handler) admit(client *client, c *server.Conn, m wire.Message) (p *place, leave func(), err error) {
	asked := m.Params
	switch {
	case client.ctx.Err() != nil:
		return nil, nil, context.Cause(client.ctx)
	case m.Test != wire.Bandwidth && m.Test != wire.Latency:
		return nil, nil, measure.Fail(measure.KindRefused, "server.ethr.test", measure.Figures{"test": m.Test})
	case asked.Buffer == 0:
		return nil, nil, measure.Fail(measure.KindRefused, "server.ethr.no_buffer", nil)
	case m.Test == wire.Latency && (asked.Buffer > maxMessage || asked.Rounds == 0):
		return nil, nil, measure.Fail(measure.KindRefused, "server.ethr.round_trips", measure.Figures{"round_trips": asked.Rounds, "size_bytes": asked.Buffer})
	case h.limits.duration > 0 && asked.Duration > h.limits.duration:
		return nil, nil, measure.Fail(measure.KindRefused, "server.ethr.max_duration", measure.Figures{"duration_ns": asked.Duration, "limit_ns": h.limits.duration})
	}
	leaveRoom, err := h.room(client.addr, asked.Reverse)
	if err != nil {
		return nil, nil, err
	}
	if p, err = client.enterConn(); err == nil {
		if err = h.await(p.turn, c); err != nil {
			p.leaveConn()
		}
	}
	if err != nil {
		leaveRoom()
		return nil, nil, err
	}
	return p, func() { p.leaveConn(); leaveRoom() }, nil
}

// await waits for the client's turn.
func (h *handler) await(turn *server.Turn, c *server.Conn) error {
	if turn.IsGranted() {
		return nil
	}
	c.Release()
	err := turn.Await(h.Context(), c)
	if cause := context.Cause(h.Context()); err == nil || cause != nil {
		return cause
	}
	return measure.Fail(measure.KindBroken, "server.client_gone", nil)
}

// connTest is one connection of a test after its request was answered.
type connTest struct {
	*handler
	client  *client
	turn    *server.Turn
	conn    *net.TCPConn
	request wire.Message
}

// bandwidth moves bytes until the client closes the connection.
func (t *connTest) bandwidth(ctx context.Context) error {
	early, err := t.synchronise(ctx)
	if err != nil {
		return err
	}
	t.client.moved(int64(early))
	_ = t.conn.SetDeadline(time.Time{})
	o := option.Defaults(measure.TestTCP)
	o.Duration, o.Interval = 0, measure.Duration(100*time.Millisecond)
	o.Length = measure.Size(min(t.request.Params.Buffer, 1<<20)) // as much as one of soku's writes
	if t.request.Params.Reverse {
		o.Direction, o.TOS, o.Rate = measure.Reverse, int(t.request.Params.ToS), t.rate()
	}
	observe := func(p measure.Progress) {
		t.client.moved(p.Bytes)
		t.turn.Moved(p.Bytes, time.Duration(p.EndNs-p.StartNs))
	}
	conns := flows.Conns{TCP: []*net.TCPConn{t.conn}}
	for ctx.Err() == nil {
		part, stop := context.WithTimeout(context.Background(), partTime)
		flow := engine.Flow{
			Observe: observe,
			Policy:  engine.FlowPolicy{KeepOpen: true, NoPeerReport: true, Over: part.Done()},
			Limit:   server.Together(t.client.budget), FarOptions: true,
		}
		_, err = flows.Sockets.Run(ctx, flows.Server, conns, o, flow)
		over := part.Err() == nil // before its time: the connection has ended
		stop()
		if err != nil || over {
			return err
		}
	}
	return context.Cause(ctx)
}

// rate is what this connection may be sent at: what the client asks of each
// connection, within its share of the server's limit.
func (t *connTest) rate() measure.Rate {
	p := t.request.Params
	rate := measure.Rate(min(p.Rate, 1<<50) * 8)
	if most := t.limits.rate / measure.Rate(max(1, int64(p.Threads))); t.limits.rate > 0 && (rate == 0 || rate > most) {
		rate = max(most, 1)
	}
	return rate
}

// synchronise agrees with the client on when to begin, if it asks for that, and waits
// until then. early are bytes of payload that were read to find out.
func (t *connTest) synchronise(ctx context.Context) (early int, err error) {
	if !t.request.Synced {
		return 0, nil
	}
	begins, early, err := t.question(ctx)
	if err != nil || begins.IsZero() {
		return early, err
	}
	if !sock.Pause(ctx, time.Until(begins)) {
		return 0, context.Cause(ctx)
	}
	return 0, nil
}

// question reads what may be the question for the start, and answers it. Payload
// comes in its place on all connections but the first, or nothing where the client
// only receives; those begin with the first.
func (t *connTest) question(ctx context.Context) (begins time.Time, early int, err error) {
	t.mu.Lock()
	begins = t.client.synchronous
	t.mu.Unlock()
	known := time.Until(begins) > 0 || time.Since(begins) < firstSyncWait
	wait := payloadWait
	switch {
	case t.request.Params.Reverse && known:
		wait = syncWait
	case t.request.Params.Reverse:
		wait = firstSyncWait
	}
	sock.Within(ctx, t.conn.SetReadDeadline, time.Now().Add(wait))
	head := make([]byte, 64)
	n, err := t.beginning(head)
	if err != nil {
		if n == 0 && t.request.Params.Reverse && sock.TimedOut(err) {
			return begins, 0, nil
		}
		return time.Time{}, n, err
	}
	if n == 0 || !isQuestion(head[:n]) {
		return time.Time{}, n, nil
	}
	m, err := wire.Read(io.MultiReader(bytes.NewReader(head[:n]), t.conn))
	if err != nil || m.Kind != wire.SyncStart {
		return time.Time{}, 0, noQuestion()
	}
	return t.answer(ctx)
}

func noQuestion() error { return measure.Fail(measure.KindBroken, "server.ethr.payload", nil) }

// beginning reads as many bytes as it takes to know a message, into head.
func (t *connTest) beginning(head []byte) (n int, err error) {
	if n, err = io.ReadFull(t.conn, head[:4]); err != nil {
		return n, err
	}
	ours, more := wire.Begins(head[:n])
	if !ours || more == 0 {
		return n, nil
	}
	k, err := io.ReadFull(t.conn, head[n:n+more])
	return n + k, err
}

func isQuestion(head []byte) bool {
	if len(head) < 4 || binary.BigEndian.Uint32(head) == 0 {
		return false
	}
	ours, more := wire.Begins(head)
	return ours && more == 0
}

// answer says when this end's second begins, and hears what that took to arrive.
func (t *connTest) answer(ctx context.Context) (begins time.Time, early int, err error) {
	begins = t.nextSecond()
	sock.Within(ctx, t.conn.SetDeadline, time.Now().Add(t.answerWait))
	ready := wire.Message{Kind: wire.SyncReady, Delay: max(time.Until(begins), 1), Synced: true}
	if _, err := t.conn.Write(wire.Append(nil, ready)); err != nil {
		return begins, 0, err
	}
	m, err := wire.Read(t.conn)
	if err != nil || m.Kind != wire.SyncGo {
		return begins, 0, noQuestion()
	}
	t.mu.Lock()
	t.client.synchronous = begins
	t.mu.Unlock()
	return begins, 0, nil
}

// latency answers messages until the client closes the connection.
func (t *connTest) latency(ctx context.Context) error {
	_ = t.conn.SetDeadline(time.Time{})
	o := option.Defaults(measure.TestLatency)
	o.Size = measure.Size(t.request.Params.Buffer)
	rounds := int64(t.request.Params.Rounds)
	var trips []time.Duration
	seen := func(ns int64) {
		if rounds > maxRounds {
			return
		}
		trips = append(trips, time.Duration(ns))
		if int64(len(trips)) < rounds {
			return
		}
		sum := time.Duration(0)
		for _, d := range trips {
			sum += d
		}
		t.client.latency.Store(int64(sum) / rounds)
		if f := t.hooks.RoundTrips; f != nil {
			f(t.client.addr, trips)
		}
		trips = trips[:0]
	}
	policy := engine.FlowPolicy{ExtraMessageEvery: rounds}
	_, err := latency.Echo(ctx, []net.Conn{t.conn}, o, engine.Flow{Policy: policy, Limit: server.Together(t.client.budget)}, seen)
	return err
}
