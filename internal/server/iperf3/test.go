package iperf3

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/flows"
	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/sock"
	wire "soku/internal/wire/iperf3"
)

// Limits that a client must keep.
const (
	whyWait     = 200 * time.Millisecond // for what says why streams broke off
	wordWait    = 10 * time.Second       // for parameters, and for the answer to a state
	resultsWait = 30 * time.Second       // for the client's results
	overtime    = 40 * time.Second       // what a test with a time may take on top of it
)

// test is one test of a client.
type test struct {
	handler *handler
	log     *slog.Logger
	at      server.Port // that the client came to
	control *net.TCPConn
	cookie  wire.Cookie
	client  netip.AddrPort
	local   netip.Addr
	born    time.Time
	turn    *server.Turn     // nil until its parameters are permitted
	asked   *wire.Parameters // nil until they were read
	options measure.Options  // of this end's engines
	policy  engine.FlowPolicy
	pins    *sock.Pins

	ctx   context.Context // ends with the test; its cause says why
	abort context.CancelCauseFunc

	opened chan struct{} // closed when it waits for no UDP stream any more
	all    chan struct{} // closed when all streams are there
	over   chan struct{} // closed when the client said that the test is over
	overAt time.Time     // when it said so; read only after that

	listening  sync.WaitGroup // for the client's word while the test runs
	reported   sync.Once      // why it ended
	shows      Observer       // nil until it has its turn
	congestion string         // that the streams have
	ran        time.Duration  // how long the streams were measured

	mu      sync.Mutex
	want    int // streams that are waited for; 0: none are taken
	tcp     []tcpStream
	udp     []udpStream
	ended   bool
	verdict error // of this server, for which it ended the test
}

// tcpStream is a stream and its place in the order of arrival: the cookies of streams
// that arrive together are read concurrently.
type tcpStream struct {
	conn   *net.TCPConn
	number uint64
}

// udpStream is a stream and the client's end of it.
type udpStream struct {
	conn net.Conn
	peer netip.AddrPort
}

func (h *handler) newTest(at server.Port, c *net.TCPConn, cookie wire.Cookie) *test {
	t := &test{
		handler: h, log: h.Log(), at: at, control: c, cookie: cookie,
		client: sock.AddrPort(c.RemoteAddr()), local: sock.AddrPort(c.LocalAddr()).Addr(), born: time.Now(),
		opened: make(chan struct{}), all: make(chan struct{}), over: make(chan struct{}),
	}
	t.ctx, t.abort = context.WithCancelCause(h.Context())
	return t
}

// isOver reports whether the client said that the test is over.
func (t *test) isOver() bool { return server.IsClosed(t.over) }

// cause is why the test ended. What the client did after the message of this server's
// verdict is no cause.
func (t *test) cause() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.verdict != nil {
		return t.verdict
	}
	return context.Cause(t.ctx)
}

// end ends a running test: the client gets the message first, because engines that are
// stopped reset the streams, and a client that sees that says nothing but that.
func (t *test) end(err error, stop context.CancelCauseFunc) {
	t.mu.Lock()
	if t.verdict == nil {
		t.verdict = err
	}
	t.mu.Unlock()
	t.report(err)
	stop(err)
}

// lead is the life of a test.
func (t *test) lead() {
	defer t.control.Close()
	if err := t.handler.cfg.Times.watchOver(t.control); err != nil {
		t.log.Warn("an option of the server's connections", "client", t.client, "error", err)
	}
	// What ends the test ends what waits for a word of the client.
	roused := make(chan struct{})
	context.AfterFunc(t.ctx, func() { _ = t.control.SetReadDeadline(time.Unix(1, 0)); close(roused) })
	defer func() { t.abort(over()) }()
	if !t.handler.tests.add(t) {
		_ = t.say(wire.AccessDenied)
		return
	}
	var end *measure.End
	err := server.Guard(t.log, func() (err error) { end, err = t.phases(); return err }, "protocol", "iperf3", "client", t.client)
	if err != nil && t.ctx.Err() != nil {
		err = t.cause()
	}
	t.abort(over())
	<-roused
	t.listening.Wait()
	t.farewell(err)
	t.closeStreams()
	t.handler.tests.remove(t)
	if t.turn != nil {
		t.turn.Leave()
	}
	t.logEnd(end, err)
	var denied *denial
	if t.shows == nil && !errors.As(err, &denied) { // a client that is not allowed
		t.shows = t.handler.observer(false)
	}
	if t.shows != nil {
		t.shows.Closed(end, err)
	}
}

// say sends a state, for at most a moment.
func (t *test) say(state wire.State) error {
	_ = t.control.SetWriteDeadline(time.Now().Add(wordWait))
	return wire.WriteState(t.control, state)
}

// hear gives the client so long for its next word.
func (t *test) hear(limit time.Duration) {
	sock.Within(t.ctx, t.control.SetReadDeadline, time.Now().Add(limit))
}

// report sends once why the test ended, if the client does not know it.
func (t *test) report(err error) (more bool) {
	var refused *refusal
	var denied *denial
	more = errors.As(err, &refused) || errors.As(err, &denied) || errors.Is(err, server.ErrShutdown) || measure.KindOf(err) == measure.KindInternal
	t.reported.Do(func() {
		switch {
		case denied != nil:
			_ = t.say(wire.AccessDenied)
		case refused != nil:
			_ = t.control.SetWriteDeadline(time.Now().Add(wordWait))
			_ = wire.WriteError(t.control, refused.number, 0)
		case more:
			_ = t.say(wire.ServerTerminate)
		}
	})
	return more
}

// farewell ends the control connection.
func (t *test) farewell(err error) {
	if !t.report(err) {
		return
	}
	// Unread data from the client would turn the close into a reset, which would discard the
	// state that was just sent.
	_ = t.control.CloseWrite()
	_ = t.control.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
	_, _ = io.CopyN(io.Discard, t.control, 64<<10)
}

// phases leads the client through its test.
func (t *test) phases() (*measure.End, error) {
	if err := t.introduce(); err != nil {
		return nil, err
	}
	if err := t.enter(); err != nil {
		return nil, err
	}
	if err := t.awaitTurn(); err != nil {
		return nil, err
	}
	t.shows = t.handler.observer(true)
	t.options = t.shows.Options(t.options)
	needed := 2 * t.asked.Streams()
	if measure.Test(t.asked.Protocol) == measure.TestTCP {
		needed = flows.Server.Descriptors(t.options)
	}
	release, err := t.handler.Reserve(t.client.Addr(), 1+needed)
	if err != nil {
		return nil, &denial{err}
	}
	defer release()
	if err := t.openStreams(); err != nil {
		return nil, err
	}
	end, err := t.measure()
	if err != nil {
		return end, err
	}
	return end, t.exchange(end)
}

// introduce reads the parameters. A client has no place among the tests until they are
// permitted. Until then it has one of handler.asked, which it loses to a client of another
// address if its own address has most of them.
func (t *test) introduce() error {
	lost := measure.Fail(measure.KindRefused, "server.iperf3.crowded", measure.Figures{"limit": maxAsked})
	place := t.handler.asked.Hold(t.client.Addr(), func() { t.abort(lost) })
	if place == nil {
		return &denial{lost}
	}
	defer place.Release()
	release, err := t.handler.Reserve(t.client.Addr(), 1) // of this connection, until the streams have theirs
	if err != nil {
		return &denial{err}
	}
	defer release()
	return t.askParameters()
}

// enter asks for a turn.
func (t *test) enter() (err error) {
	if t.turn, err = t.handler.Enter(t.client.String(), measure.Test(t.asked.Protocol)); err != nil {
		return &denial{err}
	}
	return nil
}

// awaitTurn waits in the queue.
func (t *test) awaitTurn() error {
	err := t.turn.Await(t.ctx, t.control)
	if errors.Is(err, server.ErrSpoke) {
		return unexpected()
	}
	return err
}

// askParameters reads what the client wants, and makes options of it.
func (t *test) askParameters() error {
	if err := t.say(wire.ParamExchange); err != nil {
		return err
	}
	t.hear(wordWait)
	p, err := wire.ReadParameters(t.control)
	if err != nil {
		if out, ok := errors.AsType[*wire.OutOfRangeError](err); ok {
			return &refusal{out.Code(), err}
		}
		return fail(wire.CodeReceiveParams, "server.iperf3.parameters", measure.Figures{"cause": err})
	}
	t.mu.Lock()
	t.asked = p
	t.mu.Unlock()
	if t.options, err = t.handler.permit(p, time.Now()); err != nil {
		return err
	}
	if t.client.Addr().Is6() && sock.HasFlowLabels {
		t.options.FlowLabel = p.FlowLabel // which programs send along over IPv4, too
	}
	t.policy = engine.FlowPolicy{
		KeepOpen: true, Block: p.Length, Over: t.over, SilenceTimeout: t.handler.cfg.Times.silence(),
		Repeating: p.RepeatPayload, Contents: t.handler.cfg.Files, Start: engine.NewStart(),
	}
	if amount := amountOf(p); amount > 0 && t.policy.Contents.Source == nil {
		t.options.Bytes, t.policy.PeerEnds = amount, true
	}
	if p.Bidirectional { // keeping what comes would empty what is sent
		t.policy.Contents.Source = nil
	}
	// Of an amount, and of files, everything is to arrive.
	t.policy.EndAtOnce = p.Bytes == 0 && p.Blocks == 0 && t.policy.Contents.Source == nil && t.policy.Contents.Sink == nil
	if p.Protocol == "udp" {
		t.policy.Datagrams = wire.Datagrams(p.Counters64)
	}
	return nil
}

// takeTCP takes a stream, and returns false when none is waited for.
func (t *test) takeTCP(c *net.TCPConn, number uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || t.asked == nil || t.asked.Protocol != "tcp" || len(t.tcp) >= t.want {
		return false
	}
	_ = c.SetDeadline(time.Time{})
	t.tcp = append(t.tcp, tcpStream{c, number})
	if len(t.tcp) == t.want {
		slices.SortStableFunc(t.tcp, func(a, b tcpStream) int { return int(int64(a.number) - int64(b.number)) })
		close(t.all)
	}
	return true
}

// closeStreams closes the streams and takes no more.
func (t *test) closeStreams() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	for _, c := range t.conns().List() {
		_ = c.Close()
	}
}

// logEnd logs the end of a test. A client that sent no parameters is logged at level debug,
// because anyone can open a connection.
func (t *test) logEnd(end *measure.End, err error) {
	attributes := []any{"protocol", "iperf3", "client", t.client, "test", t.running(), "after", time.Since(t.born).Round(time.Millisecond)}
	if end != nil {
		bytes, _ := end.Moved()
		attributes = append(attributes, "bytes", bytes)
	}
	if err != nil {
		attributes = append(attributes, "error", err.Error())
	}
	var denied *denial
	switch {
	case errors.As(err, &denied):
		t.log.Info("refused a client of iperf3", "client", t.client, "error", err.Error())
	case t.turn == nil && t.running() == "":
		t.log.Debug("a client of iperf3 without parameters", attributes...)
	default:
		t.log.Info("test ended", attributes...)
	}
}

// running is what the client asked to measure; empty before it asked.
func (t *test) running() measure.Test {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asked == nil {
		return ""
	}
	return measure.Test(t.asked.Protocol)
}
