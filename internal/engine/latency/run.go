package latency

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/latency/direct"
	"soku/internal/engine/latency/requests"
	"soku/internal/engine/latency/roundtrip"
	"soku/internal/host"
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
	if c.Stream {
		tick = maxTick // TCP has no time-out but that of the end
	}
	if c.Gap > 0 {
		threads = threadsOpen
	}
	split := c.own.Stamps == StampsSplit
	iface := ""
	if split {
		iface = leavesBy(c.flows[0].conn, c.o)
	}
	for _, f := range c.flows {
		f.link = open(f.conn, tick, threads)
		l, loops := f.link.(direct.Looper)
		// A loop that does not sleep has no wake-up time to subtract.
		switch {
		case split && loops && l.Split(iface):
			if c.Splits == nil {
				c.Splits = requests.NewSplits(iface)
			}
		case split, c.own.Stamps == "on", c.own.Stamps != "off" && !f.link.Busy():
			f.link.Stamp()
		}
	}
	c.link = c.flows[0].link
}

func (c *client) release() {
	for _, f := range c.flows {
		f.link.Release()
	}
}

// flow is one of the connections, which take turns.
type flow struct {
	conn       net.Conn
	link       direct.Link
	sinceExtra int64 // round trips since the last extra message
}

func (c *client) links() []direct.Link {
	out := make([]direct.Link, len(c.flows))
	for i, f := range c.flows {
		out[i] = f.link
	}
	return out
}

// next switches to the next flow.
func (c *client) next() {
	if len(c.flows) > 1 {
		c.Turn = (c.Turn + 1) % len(c.flows)
		c.link = c.flows[c.Turn].link
	}
}

func (c *client) run(ctx context.Context, obs measure.Observer) (*measure.Latency, error) {
	c.Clock.Start = sock.Now()
	c.Rec = roundtrip.Start(roundtrip.Config{
		Zero: c.Clock.Start.Add(time.Duration(c.Omit)), Row: max(c.own.Row, 1),
		Interval: c.o.Interval.Std(), Duration: c.o.Duration.Std(), Count: c.Count, Observe: obs,
		Inline: c.link.Busy(), // another thread would compete with a spinning one
	})
	var err error
	if c.Gap > 0 {
		err = c.open(ctx)
	} else {
		err = c.closed(ctx)
	}
	kept := c.Rec.Stop(c.Clock.Now() - c.Omit)
	c.sendEnd()

	l := c.Result(kept)
	l.Timing, l.Flows = c.timing(), c.flowResults()
	if err == nil && c.Sent == 0 {
		err = measure.Fail(measure.KindUsage, "latency.too_short", measure.Figures{"duration_ns": c.o.Duration})
	}
	if err == nil && c.Received == 0 {
		err = measure.Fail(measure.KindBroken, "latency.no_reply", measure.Figures{
			"peer": c.peer, "requests": c.Sent, "timeout_ns": c.o.Timeout, "protocol": c.own.Protocol, "size_bytes": c.Size,
		})
	}
	return l, err
}

// client is one run.
type client struct {
	requests.Counts
	o          measure.Options
	own        Options // of o
	flows      []*flow
	link       direct.Link // of the flow whose turn it is
	peer       string
	extraEvery int64 // round trips of a flow before an extra message; 0: never
	pins       *sock.Pins
}

func newClient(conns []net.Conn, o measure.Options) (*client, error) {
	own := OptionsOf(o)
	c := &client{o: o, own: own, peer: conns[0].RemoteAddr().String(), Counts: requests.Counts{
		Size: int(o.Size), Stream: requests.IsStream(conns[0]), OneWay: own.OneWay, FarTimes: own.FarTimes(),
		Omit: int64(o.Omit), Count: o.Count, Timeout: int64(o.Timeout), Token: rand.Uint64(),
	}}
	if o.Duration > 0 {
		c.End = c.Omit + int64(o.Duration)
	}
	if o.RequestRate > 0 {
		c.Schedule(o.RequestRate, own.Arrivals, own.Seed)
	}
	for _, conn := range conns {
		c.flows = append(c.flows, &flow{conn: conn})
		if len(conns) > 1 {
			c.RTTs = append(c.RTTs, measure.NewHistogram())
		}
	}
	least := 1
	if !c.Stream {
		least = requests.HeaderSize
	}
	switch {
	case c.Size < least || c.Size > maxMessage:
		return nil, measure.Fail(measure.KindUsage, "latency.size", measure.Figures{
			"size_bytes": o.Size, "least_bytes": least, "most_bytes": maxMessage,
		})
	case c.End == 0 && c.Count <= 0:
		return nil, measure.Fail(measure.KindUsage, "latency.endless", nil)
	case c.own.Stamps == StampsSplit && c.Gap > 0:
		return nil, measure.Fail(measure.KindUsage, "latency.split_with_rate", measure.Figures{"stamps": StampsSplit})
	case len(conns) > 1 && c.Gap > 0:
		return nil, measure.Fail(measure.KindUsage, "latency.flows_with_rate", measure.Figures{"flows": len(conns)}).WithHintCode("leave_out_one", nil)
	case c.Timeout <= 0:
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
	t := c.link.Timing()
	t.Loop = measure.LoopClosed
	if c.Gap > 0 {
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
		out[i] = measure.LatencyFlow{Index: i, Local: f.conn.LocalAddr().String(), Remote: f.conn.RemoteAddr().String(), RTT: *c.RTTs[i].Percentiles()}
	}
	return out
}

// came returns when the reply read at readNs reached this host, if that is known and
// plausible for a request from sentNs.
func (c *client) came(sentNs, readNs int64) int64 {
	if arrived := readNs - int64(c.link.Late()); arrived > sentNs {
		return arrived
	}
	return readNs
}

// sendEnd signals the echo end that no more requests follow.
func (c *client) sendEnd() {
	var b [requests.HeaderSize]byte
	requests.Header{Magic: requests.MagicEnd, Token: c.Token}.Put(b[:])
	for _, f := range c.flows {
		if c.Stream {
			if t, ok := f.conn.(interface{ CloseWrite() error }); ok {
				_ = t.CloseWrite()
			}
			continue
		}
		for range 3 { // all may be lost; then the echo's context ends it
			_, _ = f.link.Write(b[:])
		}
	}
}

// broken returns the error for a far end that failed during the test with err, or nil if
// err is nil. It keeps errors that are already complete, and the cause of an ended context.
func (c *client) broken(ctx context.Context, err error) error {
	var known *measure.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &known), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = requests.ErrClosed
	}
	var why requests.Failure
	if errors.As(err, &why) {
		return measure.Fail(measure.KindBroken, string(why), measure.Figures{"peer": c.peer, "round_trips": c.Received}).
			WithHintCode("latency.broken", nil).WithCause(why)
	}
	return measure.Fail(measure.KindBroken, "latency.broken", measure.Figures{"peer": c.peer, "round_trips": c.Received, "cause": err}).
		WithHintCode("latency.broken", nil)
}

// leavesBy returns the outgoing interface of conn, empty if unknown.
func leavesBy(conn net.Conn, o measure.Options) string {
	if o.Device != "" {
		return o.Device
	}
	local, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil {
		return ""
	}
	i, _ := host.InterfaceOf(local.Addr())
	return i.Name
}
