package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire/iperf3"
	"soku/internal/wire/native"
)

// iperf3Test is one test of a client of iperf3.
type iperf3Test struct {
	server  *Server
	at      *port // that the client came to
	control *net.TCPConn
	cookie  iperf3.Cookie
	client  netip.AddrPort
	local   netip.Addr
	born    time.Time
	asked   *iperf3.Parameters // nil until they were read
	options measure.Options    // of this end's engines
	policy  engine.FlowPolicy
	pins    *sock.Pins

	ctx   context.Context // ends with the test; its cause says why
	abort context.CancelCauseFunc

	granted *latch    // it is this test's turn
	opened  *latch    // it waits for no UDP stream
	all     *latch    // all streams are there
	over    *latch    // the client said that the test is over
	overAt  time.Time // when it said so; read only after that

	listening  sync.WaitGroup // for the client's word while the test runs
	told       sync.Once      // why it ended
	shows      IPerf3Observer
	congestion string        // that the streams have
	ran        time.Duration // how long the streams were measured

	mu      sync.Mutex
	want    int // streams that are waited for; 0: none are taken
	tcp     []arrival
	udp     []udpFlow
	ended   bool
	running measure.Test // for the queue
	verdict error        // of this server, for which it ended the test
}

// arrival is a TCP stream and its place in the order of arrival: the cookies of
// streams that come at once are read side by side.
type arrival struct {
	conn   *net.TCPConn
	number uint64
}

func (s *Server) newIperf3Test(at *port, c *net.TCPConn, cookie iperf3.Cookie) *iperf3Test {
	t := &iperf3Test{
		server: s, at: at, control: c, cookie: cookie, client: sock.AddrPort(c.RemoteAddr()), local: sock.AddrPort(c.LocalAddr()).Addr(),
		born: time.Now(), granted: newLatch(), opened: newLatch(), all: newLatch(), over: newLatch(), running: measure.TestTCP,
	}
	t.ctx, t.abort = context.WithCancelCause(s.base)
	return t
}

// grant implements entrant.
func (t *iperf3Test) grant() { t.granted.fire() }

// queued implements entrant: a client of iperf3 can wait, but not be told.
func (t *iperf3Test) queued(int) {}

// shown implements entrant.
func (t *iperf3Test) shown() native.QueueEntry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return native.QueueEntry{Client: t.client.String(), Test: t.running, Age: measure.Duration(time.Since(t.born))}
}

// cause is why the test ended. What the client did when it was told of this server's
// verdict is no cause.
func (t *iperf3Test) cause() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.verdict != nil {
		return t.verdict
	}
	return context.Cause(t.ctx)
}

// end ends a test that runs: the client is told first, because engines that are
// stopped reset the streams, and a client that sees that says nothing but that.
func (t *iperf3Test) end(err error, stop context.CancelCauseFunc) {
	t.mu.Lock()
	if t.verdict == nil {
		t.verdict = err
	}
	t.mu.Unlock()
	t.tell(err)
	stop(err)
}

// leadIperf3 is the life of a test.
func (s *Server) leadIperf3(t *iperf3Test) {
	defer t.control.Close()
	if err := s.cfg.IPerf3Times.watchOver(t.control); err != nil {
		s.log.Warn("an option of the server's connections", "client", t.client, "error", err)
	}
	// What ends the test ends what waits for a word of the client.
	roused := make(chan struct{})
	context.AfterFunc(t.ctx, func() { _ = t.control.SetReadDeadline(time.Unix(1, 0)); close(roused) })
	defer t.abort(errClosed)
	if !s.iperf3.add(t) {
		_ = t.say(iperf3.AccessDenied)
		return
	}
	if _, err := s.queue.enter(t); err != nil {
		s.iperf3.remove(t)
		s.log.Info("refused a client of iperf3", "client", t.client, "error", err.Error())
		_ = t.say(iperf3.AccessDenied)
		return
	}
	t.shows = s.show()
	end, err := t.phases()
	if err != nil && t.ctx.Err() != nil {
		err = t.cause()
	}
	t.abort(errClosed)
	<-roused
	t.listening.Wait()
	t.farewell(err)
	t.closeStreams()
	s.iperf3.remove(t)
	s.queue.leave(t)
	t.log(end, err)
	t.shows.Closed(end, err)
}

// say sends a state, for at most a moment.
func (t *iperf3Test) say(state iperf3.State) error {
	_ = t.control.SetWriteDeadline(time.Now().Add(iperf3Word))
	return iperf3.WriteState(t.control, state)
}

// hear gives the client so long for its next word.
func (t *iperf3Test) hear(limit time.Duration) {
	_ = t.control.SetReadDeadline(time.Now().Add(limit))
	if t.ctx.Err() != nil {
		_ = t.control.SetReadDeadline(time.Unix(1, 0))
	}
}

// tell says why the test ended, once, if there is more to say than the client knows.
func (t *iperf3Test) tell(err error) (more bool) {
	var refused *refusal
	more = errors.As(err, &refused) || errors.Is(err, errShutdown)
	t.told.Do(func() {
		switch {
		case refused != nil:
			_ = t.control.SetWriteDeadline(time.Now().Add(iperf3Word))
			_ = iperf3.WriteError(t.control, refused.code, 0)
		case more:
			_ = t.say(iperf3.ServerTerminate)
		}
	})
	return more
}

// farewell ends the control connection.
func (t *iperf3Test) farewell(err error) {
	if !t.tell(err) {
		return
	}
	// What the client sent meanwhile would make a reset of the close, and take the
	// word off the path.
	_ = t.control.CloseWrite()
	_ = t.control.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
	_, _ = io.CopyN(io.Discard, t.control, 64<<10)
}

// phases leads the client through its test.
func (t *iperf3Test) phases() (*measure.End, error) {
	if err := t.awaitTurn(); err != nil {
		return nil, err
	}
	if err := t.askParameters(); err != nil {
		return nil, err
	}
	if err := t.openStreams(); err != nil {
		return nil, err
	}
	end, err := t.measure()
	if err != nil {
		return end, err
	}
	return end, t.exchange(end)
}

// awaitTurn waits in the queue. A client in good order says nothing there; one that
// goes away leaves it.
func (t *iperf3Test) awaitTurn() error {
	if t.granted.fired() {
		return nil
	}
	_ = t.control.SetReadDeadline(time.Time{})
	heard := make(chan error, 1)
	go func() {
		_, err := t.control.Read(make([]byte, 1))
		if err == nil {
			err = errIperf3Word
		}
		heard <- err
	}()
	select {
	case err := <-heard:
		return err
	case <-t.ctx.Done():
		if err := <-heard; !sock.TimedOut(err) {
			return err
		}
		return t.cause()
	case <-t.granted.ch:
	}
	_ = t.control.SetReadDeadline(time.Unix(1, 0))
	if err := <-heard; !sock.TimedOut(err) {
		return err
	}
	if t.ctx.Err() != nil {
		return t.cause()
	}
	return nil
}

// askParameters reads what the client wants, and makes options of it.
func (t *iperf3Test) askParameters() error {
	if err := t.say(iperf3.ParamExchange); err != nil {
		return err
	}
	t.hear(iperf3Word)
	p, err := iperf3.ReadParameters(t.control)
	if err != nil {
		var out *iperf3.OutOfRangeError
		if errors.As(err, &out) {
			return refuse(out.Code(), "%w", err)
		}
		return refuse(iperf3.CodeReceiveParams, "read the parameters: %w", err)
	}
	t.mu.Lock()
	t.asked, t.running = p, measure.Test(p.Protocol)
	t.mu.Unlock()
	if t.options, err = t.server.permitIperf3(p, time.Now()); err != nil {
		return err
	}
	if t.client.Addr().Is6() && sock.HasFlowLabels {
		t.options.FlowLabel = p.FlowLabel // which programs send along over IPv4, too
	}
	t.options = t.shows.Options(t.options)
	t.policy = engine.FlowPolicy{KeepOpen: true, Over: t.over.ch, SilenceTimeout: t.server.cfg.IPerf3Times.silence(), Repeating: p.RepeatPayload, Contents: t.server.cfg.IPerf3Files}
	if p.Bidirectional { // keeping what comes would empty what is sent
		t.policy.Contents.Source = nil
	}
	if p.Protocol == "udp" {
		t.policy.Datagrams = iperf3.Datagrams(p.Counters64)
	}
	return nil
}

// takeTCP takes a stream, and returns false when none is waited for.
func (t *iperf3Test) takeTCP(c *net.TCPConn, number uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || t.asked == nil || t.asked.Protocol != "tcp" || len(t.tcp) >= t.want {
		return false
	}
	_ = c.SetDeadline(time.Time{})
	t.tcp = append(t.tcp, arrival{c, number})
	if len(t.tcp) == t.want {
		slices.SortFunc(t.tcp, func(a, b arrival) int { return int(int64(a.number) - int64(b.number)) })
		t.all.fire()
	}
	return true
}

// closeStreams closes the streams and takes no more.
func (t *iperf3Test) closeStreams() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	for _, a := range t.tcp {
		_ = a.conn.Close()
	}
	for _, f := range t.udp {
		f.close()
	}
}

func (t *iperf3Test) log(end *measure.End, err error) {
	attributes := []any{"protocol", "iperf3", "client", t.client, "test", t.shown().Test, "after", time.Since(t.born).Round(time.Millisecond)}
	if end != nil {
		bytes, _ := end.Moved()
		attributes = append(attributes, "bytes", bytes)
	}
	if err != nil {
		attributes = append(attributes, "error", err.Error())
	}
	t.server.log.Info("test ended", attributes...)
}
