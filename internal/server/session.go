package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
	"soku/internal/tests"
	"soku/internal/wire/native"
)

// orphanGrace is how long a session without an attached client outlives the
// connection that created it. It leaves time to attach over another one.
const orphanGrace = time.Second

// session is one client's trial as the server leads it.
type session struct {
	id       string // also the right to control it: known to its creator only
	key      native.Key
	resumes  *resumes // of a session whose connections the client can open again; nil else
	test     measure.Test
	options  measure.Options
	findings measure.Findings
	prose    bool           // the client has an earlier version and reads sentences
	host     *measure.Host  // this host as it was last looked at, for the answer
	client   netip.AddrPort // end of the control connection
	local    netip.Addr     // this end of it; UDP answers from here
	creator  *latch         // the connection that created it is gone
	born     time.Time
	pins     *sock.Pins // of its loops, set before they run
	out      *outbox

	ctx   context.Context // ends with the session; its cause says why
	abort context.CancelCauseFunc

	attached *latch // the events stream is open
	granted  *latch // it is this session's turn
	complete *latch // all data connections are there
	started  *latch // the client said start
	running  *latch // the engines run
	finished *latch // the client is finished
	gone     *latch // everything is freed

	counted bool // guarded by the registry
	// release gives reserved descriptors back, nil if there are none; of one goroutine at a
	// time: the one that creates the session, then the one that leads it.
	release func()

	control atomic.Pointer[net.TCPConn] // carries the events when the engines begin
	sampled atomic.Bool                 // it has a series
	rate    liveRate
	accepts atomic.Pointer[tests.Acceptor] // of a test that opened one, from its turn to its end

	mu    sync.Mutex
	taken []bool // by index
	have  int
	tcp   []*net.TCPConn
	udp   []udpFlow
	// resumed replaced data connections, or are about to.
	resumed []*net.TCPConn
	stream  *controlConn // carries the events; nil: none does
	away    *time.Timer  // ends the session if its client does not reattach
	back    *latch       // the client has reattached; nil: the events are not cut
	ended   bool
}

func newSession(base context.Context) (*session, error) {
	ss := &session{
		born: time.Now(), out: newOutbox(),
		attached: newLatch(), granted: newLatch(), complete: newLatch(),
		started: newLatch(), running: newLatch(), finished: newLatch(), gone: newLatch(),
	}
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, measure.Fail(measure.KindInternal, "server.random", measure.Figures{"cause": err})
	}
	if _, err := rand.Read(ss.key[:]); err != nil {
		return nil, measure.Fail(measure.KindInternal, "server.random", measure.Figures{"cause": err})
	}
	ss.id = hex.EncodeToString(id[:])
	ss.ctx, ss.abort = context.WithCancelCause(base)
	return ss, nil
}

// expect makes room for the data connections of the effective options.
func (ss *session) expect() {
	n := option.DataConnections(ss.options, ss.test)
	if n == 0 {
		ss.complete.fire()
	}
	ss.taken = make([]bool, n)
	if option.OverUDP(ss.options, ss.test) {
		ss.udp = make([]udpFlow, n)
	} else {
		ss.tcp = make([]*net.TCPConn, n)
	}
}

// grant implements waiter.
func (ss *session) grant() { ss.granted.fire() }

// queued implements waiter.
func (ss *session) queued(position int) { ss.out.queued(position) }

// yields implements waiter.
func (ss *session) yields() bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	lost := ss.back != nil || !ss.attached.fired() && ss.creator.fired()
	if lost {
		ss.abort(measure.Fail(measure.KindBroken, "server.session.yielded", nil))
	}
	return lost
}

// shown implements waiter.
func (ss *session) shown() native.QueueEntry {
	return native.QueueEntry{Client: ss.client.Addr().String(), Test: ss.test, Age: measure.Duration(time.Since(ss.born)), Rate: ss.rate.rate()}
}

// name is what a log may show of the identity.
func (ss *session) name() string { return ss.id[:8] }

// await waits for l, at most limit unless that is 0, or for the session's end. It returns
// what missed makes after limit.
func (ss *session) await(l *latch, limit time.Duration, missed func() error) error {
	var timeout <-chan time.Time
	if limit > 0 {
		timeout = time.After(limit)
	}
	select {
	case <-l.ch:
		return nil
	case <-ss.ctx.Done():
		return context.Cause(ss.ctx)
	case <-timeout:
		return missed()
	}
}

// nothing is for a wait whose limit is no failure.
func nothing() error { return nil }

// lead is the life of a session. It frees everything before it reports how it ended, so that a
// client that reads the last event can start its next session.
func (s *Server) lead(ss *session) {
	var end *measure.End
	err := Guard(s.log, func() (err error) {
		if end, err = s.phases(ss); err == nil && ss.prose {
			putInWords(end)
		}
		return err
	}, "session", ss.name(), "client", ss.client)
	ss.awaitReattach()
	if err == nil && ss.ctx.Err() != nil {
		err = context.Cause(ss.ctx)
	}
	if err != nil {
		ss.abort(err)
	} else {
		ss.abort(measure.Fail(measure.KindBroken, "server.session.over", nil))
	}
	ss.closeData()
	ss.giveBack()
	s.sessions.remove(ss)
	s.queue.leave(ss)
	if err != nil {
		ss.out.last(native.Event{Event: native.EventAborted, Error: measure.AsError(err, measure.KindInternal)})
	} else {
		ss.out.last(native.Event{Event: native.EventDone, End: end})
	}
	s.logEnd(ss, end, err)
	ss.gone.fire()
}

// phases returns the server's half, or why there is none.
func (s *Server) phases(ss *session) (*measure.End, error) {
	if err := ss.awaitAttach(s.times.attach); err != nil {
		return nil, err
	}
	if err := ss.await(ss.granted, 0, nothing); err != nil {
		return nil, err
	}
	if err := s.reserve(ss); err != nil {
		return nil, err
	}
	port, err := s.openAcceptor(ss)
	if err != nil {
		return nil, err
	}
	ss.out.ready(port)
	ready := time.Now()
	err = ss.await(ss.complete, s.times.data, func() error {
		return measure.Fail(measure.KindBroken, "server.session.no_data", measure.Figures{"limit_ns": s.times.data})
	})
	if err != nil {
		return nil, err
	}
	left := max(s.times.start-time.Since(ready), time.Millisecond)
	err = ss.await(ss.started, left, func() error {
		return measure.Fail(measure.KindBroken, "server.session.not_started", measure.Figures{"limit_ns": s.times.start})
	})
	if err != nil {
		return nil, err
	}
	s.logStart(ss)
	later, endLater := engine.Background(ss.ctx)
	defer endLater()
	end := s.measure(ss, later)
	if end.Error == nil {
		// The client may still be reading what this end has sent.
		if err := ss.await(ss.finished, s.times.grace, nothing); err != nil {
			return nil, err
		}
	}
	return end, nil
}

// reserve takes the descriptors of the session's data connections, once.
func (s *Server) reserve(ss *session) (err error) {
	if ss.release == nil {
		ss.release, err = s.descriptors.reserve(ss.client.Addr(), descriptorsOf(ss.test, ss.options))
	}
	return err
}

// giveBack ends what reserve took.
func (ss *session) giveBack() {
	if ss.release != nil {
		ss.release()
		ss.release = nil
	}
}

func (ss *session) awaitAttach(most time.Duration) error {
	select {
	case <-ss.attached.ch:
		return nil
	case <-ss.creator.ch:
		return ss.await(ss.attached, orphanGrace, func() error {
			return measure.Fail(measure.KindBroken, "server.session.orphan", nil)
		})
	case <-ss.ctx.Done():
		return context.Cause(ss.ctx)
	case <-time.After(most):
		return ss.await(ss.attached, time.Nanosecond, func() error {
			return measure.Fail(measure.KindBroken, "server.session.no_events", measure.Figures{"limit_ns": most})
		})
	}
}

// take reserves a data connection for its index. It fails for an index that is
// out of range or taken, and when the session does not wait for connections.
func (ss *session) take(index int) bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.ended || !ss.granted.fired() || index >= len(ss.taken) || ss.taken[index] {
		return false
	}
	ss.taken[index] = true
	return true
}

// arrived stores the connection of a taken index, and completes the session
// with the last one. It fails when the session ended meanwhile.
func (ss *session) arrived(store func()) bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.ended {
		return false
	}
	store()
	if ss.have++; ss.have == len(ss.taken) {
		ss.complete.fire()
	}
	return true
}

func (ss *session) setAcceptor(a tests.Acceptor) { ss.accepts.Store(&a) }

// acceptor is nil where the test has none, and after its end.
func (ss *session) acceptor() tests.Acceptor {
	if a := ss.accepts.Load(); a != nil {
		return *a
	}
	return nil
}

func (ss *session) closeData() {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.ended = true
	if ss.away != nil {
		ss.away.Stop()
	}
	if a := ss.accepts.Swap(nil); a != nil {
		(*a).Close()
	}
	for _, c := range slices.Concat(ss.tcp, ss.resumed) {
		if c != nil {
			_ = c.Close()
		}
	}
	for _, f := range ss.udp {
		if f.conn != nil {
			f.close()
		}
	}
}

func (s *Server) logStart(ss *session) {
	s.log.Info("test started", "session", ss.name(), "client", ss.client, "test", ss.test,
		"direction", cmp.Or(ss.options.Direction, measure.Forward), "connections", len(ss.taken))
}

func (s *Server) logEnd(ss *session, end *measure.End, err error) {
	attributes := []any{"session", ss.name(), "client", ss.client, "test", ss.test, "after", time.Since(ss.born).Round(time.Millisecond)}
	if end != nil {
		bytes, _ := end.Moved()
		attributes = append(attributes, "bytes", bytes)
		if err == nil && end.Error != nil {
			err = end.Error
		}
	}
	if err != nil {
		attributes = append(attributes, "error", err.Error())
	}
	s.log.Info("test ended", attributes...)
}
