package latency

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/latency/roundtrip"
	"soku/internal/measure"
	"soku/internal/sock"
)

const maxMessage = 64 << 10

// Run measures round trips over at least one connection, all of them TCP connections or
// connected UDP sockets to the same end, which runs [Echo] with the same options and
// policy. Connections take turns: the next request, on the next connection, is sent when
// the reply arrived; with more than one there is no request rate. o is effective.
// f.Observe is called with a live interval every o.Interval, with that interval's round
// trip times. With the option spin it reserves one of this process's places for spinning loops.
// Run leaves conns open; over TCP it shuts down its sending side, over UDP it sends end
// marks, so that the echo knows.
//
// Requests sent within o.Omit of the start are not counted. Over UDP a request without a
// reply within o.Timeout is lost. TCP loses nothing, so late replies count with their
// time, and only silence for o.Timeout after the nominal end is an error.
//
// With a policy of extra messages no end spins and there is no request rate.
//
// Sent is Received + Lost, plus outstanding requests if the trial ended early. The result
// holds what was counted, also with an error: of [measure.KindBroken] if the far end
// failed or never answered, the cause of ctx if it ended (noticed within 100 ms), of
// [measure.KindUsage] for invalid options.
func Run(ctx context.Context, conns []net.Conn, o measure.Options, f engine.Flow) (*measure.Latency, error) {
	if f.Policy.ExtraMessageEvery > 0 {
		return run(ctx, conns, o, f, openShared)
	}
	spin, leave := maySpin(OptionsOf(o).Spin)
	defer leave()
	open := openFor(spin)
	if o.RequestRate > 0 && !spin {
		open = openShared // sender and receiver are two goroutines
	}
	return run(ctx, conns, o, f, open)
}

func run(ctx context.Context, conns []net.Conn, o measure.Options, f engine.Flow, open linker) (*measure.Latency, error) {
	c, err := newClient(conns, o)
	if err != nil {
		return nil, err
	}
	c.extraEvery, c.pins = f.Policy.ExtraMessageEvery, f.Pins
	c.attach(open)
	defer c.release()
	return c.run(ctx, f.Observe)
}

func (c *client) attach(open linker) {
	tick, threads := tickFor(c.o.Timeout.Std()), threadsClosed
	if c.stream {
		tick = maxTick // TCP has no time-out but that of the end
	}
	if c.gap > 0 {
		threads = threadsOpen
	}
	split := c.own.Stamps == StampsSplit
	iface := ""
	if split {
		iface = leavesBy(c.flows[0].conn, c.o)
	}
	for _, f := range c.flows {
		f.link = open(f.conn, tick, threads)
		// A loop that does not sleep has no wake-up time to subtract.
		switch {
		case split && f.link.split(iface):
			if c.splits == nil {
				c.splits = newSplits(iface)
			}
		case split, c.own.Stamps == "on", c.own.Stamps != "off" && !f.link.busy():
			f.link.stamp()
		}
	}
	c.link = c.flows[0].link
}

func (c *client) release() {
	for _, f := range c.flows {
		f.link.release()
	}
}

// flow is one of the connections, which take turns.
type flow struct {
	conn       net.Conn
	link       link
	rtt        *measure.Histogram // nil if there is only one flow
	sinceExtra int64              // round trips since the last extra message
}

func (c *client) links() []link {
	out := make([]link, len(c.flows))
	for i, f := range c.flows {
		out[i] = f.link
	}
	return out
}

// next switches to the next flow.
func (c *client) next() {
	if len(c.flows) > 1 {
		c.turn = (c.turn + 1) % len(c.flows)
		c.link = c.flows[c.turn].link
	}
}

func (c *client) run(ctx context.Context, obs measure.Observer) (*measure.Latency, error) {
	c.clock.start = sock.Now()
	c.rec = roundtrip.Start(roundtrip.Config{
		Zero: c.clock.start.Add(time.Duration(c.omit)), Row: max(c.own.Row, 1),
		Interval: c.o.Interval.Std(), Duration: c.o.Duration.Std(), Count: c.count, Observe: obs,
		Inline: c.link.busy(), // another thread would compete with a spinning one
	})
	var err error
	if c.gap > 0 {
		err = c.open(ctx)
	} else {
		err = c.closed(ctx)
	}
	kept := c.rec.Stop(c.clock.now() - c.omit)
	c.sendEnd()

	l := &measure.Latency{
		Timing: c.timing(), Histogram: kept.Histogram, Rows: kept.Rows, RowsCut: kept.RowsCut, Series: kept.Series,
		Sent: c.sent, Received: c.received, Lost: c.lost, Duplicated: c.duplicated, LateSends: c.late,
		LastDueNs: c.lastDue, LastSentNs: c.lastSent,
		Application: kept.Application, OneWay: c.ways.result(), Split: c.splits.result(), Flows: c.flowResults(), Arrivals: c.arrivals.result(c.own),
	}
	if l.Application == nil {
		l.Application = l.Histogram // they are the same without kernel time stamps
	}
	if err == nil && c.sent == 0 {
		err = measure.Fail(measure.KindUsage, "latency.too_short", measure.Figures{"duration_ns": c.o.Duration})
	}
	if err == nil && c.received == 0 {
		err = measure.Fail(measure.KindBroken, "latency.no_reply", measure.Figures{
			"peer": c.peer, "requests": c.sent, "timeout_ns": c.o.Timeout, "protocol": c.own.Protocol, "size_bytes": c.size,
		})
	}
	return l, err
}

// client is one run. Each group of fields belongs to the goroutine it names.
type client struct {
	// Set before the run.
	o          measure.Options
	own        Options // of o
	flows      []*flow
	turn       int  // index of the flow whose turn it is
	link       link // of that flow
	peer       string
	stream     bool
	size       int
	clock      clock
	omit       int64 // ns
	end        int64 // ns, 0 if count ends the trial
	count      int64 // 0 if end does
	timeout    int64 // ns
	gap        float64
	extraEvery int64 // round trips of a flow before an extra message; 0: never
	token      uint64
	pins       *sock.Pins
	rec        *roundtrip.Recorder

	// The sender's.
	sent, late        int64
	lastDue, lastSent int64 // ns since the measured part began; of the last request of a schedule
	arrivals          arrivals

	// The receiver's.
	received, lost, duplicated int64
	ways                       oneWay
	splits                     *splits // nil if round trips are not split
	refused                    bool    // a datagram came back as undeliverable since the last reply
}

func newClient(conns []net.Conn, o measure.Options) (*client, error) {
	c := &client{
		o: o, own: OptionsOf(o), peer: conns[0].RemoteAddr().String(), stream: isStream(conns[0]), size: int(o.Size),
		omit: int64(o.Omit), count: o.Count, timeout: int64(o.Timeout), token: rand.Uint64(),
	}
	if o.Duration > 0 {
		c.end = c.omit + int64(o.Duration)
	}
	if o.RequestRate > 0 {
		c.gap = 1e9 / o.RequestRate
		c.arrivals = newArrivals(c.own, c.gap)
	}
	for _, conn := range conns {
		f := &flow{conn: conn}
		if len(conns) > 1 {
			f.rtt = measure.NewHistogram()
		}
		c.flows = append(c.flows, f)
	}
	least := 1
	if !c.stream {
		least = headerSize
	}
	switch {
	case c.size < least || c.size > maxMessage:
		return nil, measure.Fail(measure.KindUsage, "latency.size", measure.Figures{
			"size_bytes": o.Size, "least_bytes": least, "most_bytes": maxMessage,
		})
	case c.end == 0 && c.count <= 0:
		return nil, measure.Fail(measure.KindUsage, "latency.endless", nil)
	case c.own.Stamps == StampsSplit && c.gap > 0:
		return nil, measure.Fail(measure.KindUsage, "latency.split_with_rate", measure.Figures{"stamps": StampsSplit})
	case len(conns) > 1 && c.gap > 0:
		return nil, measure.Fail(measure.KindUsage, "latency.flows_with_rate", measure.Figures{"flows": len(conns)}).WithHintCode("leave_out_one", nil)
	case c.timeout <= 0:
		return nil, measure.Fail(measure.KindUsage, "latency.timeout", nil)
	}
	for _, conn := range conns {
		setNoDelay(conn)
	}
	return c, nil
}

func setNoDelay(conn net.Conn) {
	if t, ok := conn.(*net.TCPConn); ok {
		_ = t.SetNoDelay(true) // the default of Go's sockets; a caller may have changed it
	}
}

func (c *client) timing() *measure.Timing {
	t := c.link.timing()
	t.Loop = measure.LoopClosed
	if c.gap > 0 {
		t.Loop = measure.LoopOpen
	}
	if n := len(c.flows); n > 1 {
		t.Flows = n
	}
	return &t
}

// flowResults returns the figures of each flow if there are several.
func (c *client) flowResults() []measure.LatencyFlow {
	if len(c.flows) == 1 {
		return nil
	}
	out := make([]measure.LatencyFlow, len(c.flows))
	for i, f := range c.flows {
		out[i] = measure.LatencyFlow{Index: i, Local: f.conn.LocalAddr().String(), Remote: f.conn.RemoteAddr().String(), RTT: *f.rtt.Percentiles()}
	}
	return out
}

// over reports whether no request may be sent at atNs.
func (c *client) over(atNs int64) bool {
	return c.count > 0 && c.sent >= c.count || c.end > 0 && atNs >= c.end
}

// begin counts a request that is sent at atNs, unless it was counted before.
func (c *client) begin(atNs int64, before bool) {
	if atNs >= c.omit && !before {
		c.sent++
	}
}

// came returns when the reply read at readNs reached this host, if that is known and
// plausible for a request from sentNs.
func (c *client) came(sentNs, readNs int64) int64 {
	if arrived := readNs - int64(c.link.late()); arrived > sentNs {
		return arrived
	}
	return readNs
}

// reply counts the reply to a request that counts from sentNs, which reached this host at
// cameNs and the program at readNs.
func (c *client) reply(sentNs, cameNs, readNs int64) {
	c.refused = false
	if sentNs < c.omit {
		return
	}
	c.received++
	c.rec.ReplyRead(sentNs-c.omit, cameNs-c.omit, readNs-c.omit)
	if f := c.flows[c.turn]; f.rtt != nil {
		f.rtt.Record(cameNs - sentNs)
	}
}

// far stores the times that the echo wrote into a reply; 0 means none.
func (c *client) far(sentNs, cameNs, inNs, outNs int64) {
	if sentNs >= c.omit && inNs != 0 && outNs >= inNs {
		c.ways.add(fourTimes{sentNs, inNs, outNs, cameNs})
	}
}

// miss counts a request from sentNs as lost.
func (c *client) miss(sentNs, nowNs int64) {
	if sentNs >= c.omit {
		c.lost++
		c.rec.Lost(nowNs - c.omit)
	}
}

// sendEnd signals the echo end that no more requests follow.
func (c *client) sendEnd() {
	var b [headerSize]byte
	header{magic: magicEnd, token: c.token}.put(b[:])
	for _, f := range c.flows {
		if c.stream {
			if t, ok := f.conn.(interface{ CloseWrite() error }); ok {
				_ = t.CloseWrite()
			}
			continue
		}
		for range 3 { // all may be lost; then the echo's context ends it
			_, _ = f.link.write(b[:])
		}
	}
}

// broken returns the error for a far end that failed during the test. It keeps errors
// that are already complete, and the cause of an ended context.
func (c *client) broken(ctx context.Context, err error) error {
	var known *measure.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &known), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errClosed
	}
	var why failure
	if errors.As(err, &why) {
		return measure.Fail(measure.KindBroken, string(why), measure.Figures{"peer": c.peer, "round_trips": c.received}).
			WithHintCode("latency.broken", nil).WithCause(why)
	}
	return measure.Fail(measure.KindBroken, "latency.broken", measure.Figures{"peer": c.peer, "round_trips": c.received, "cause": err}).
		WithHintCode("latency.broken", nil)
}

// failure is why a test ended early, as the code of its error.
type failure string

// Error returns the code.
func (f failure) Error() string { return string(f) }

// Failures of the far end. Their messages have the figures of latency.broken without its
// cause.
const (
	errClosed    failure = "latency.closed"
	errSilent    failure = "latency.no_more_replies"
	errGone      failure = "latency.port_closed"
	errDisorder  failure = "latency.wrong_reply"
	errUninvited failure = "latency.unrequested_reply"
)
