package filecopy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/pace"
)

// link is one connection of a copy, and those that replace it when it is cut. It counts the
// bytes and the time of its calls into the work of the stage that runs. One goroutine at a
// time reads and writes.
type link struct {
	ctx      context.Context // of the end
	life     context.Context // ends with ctx, and when the link is interrupted
	end      context.CancelFunc
	index    int
	by       *engine.Reconnect // nil: a cut ends the copy
	cuts     *cuts
	settings sock.Settings
	limit    *pace.Budget // of this end; nil: none
	rate     *pace.Budget // of the options; nil: none
	work     atomic.Pointer[work]
	in       *bufio.Reader
	out      *bufio.Writer
	frame    []byte
	used     *net.TCPConn // connection of in and out
	called   time.Time    // when a call on used began that failed; zero: none did

	mu      sync.Mutex // guards what follows
	conn    *net.TCPConn
	changed chan struct{}   // closed when conn is another one
	own     engine.Progress // of this end
	last    replacement     // by which conn came
	cutAt   time.Time       // since when conn is known to be cut; zero: it is not
	adopted time.Time       // when conn replaced another one
}

// Buffers of a connection in addition to its blocks, bytes.
const readAhead, writeTogether = 64 << 10, 64 << 10

func newLink(ctx context.Context, c *net.TCPConn, limit, rate *pace.Budget) *link {
	l := &link{ctx: ctx, conn: c, used: c, changed: make(chan struct{}), limit: limit, rate: rate, frame: make([]byte, 0, frameSize)}
	l.life, l.end = context.WithCancel(ctx)
	l.in, l.out = bufio.NewReaderSize(linkReader{l}, readAhead), bufio.NewWriterSize(linkWriter{l}, writeTogether)
	l.work.Store(&work{})
	return l
}

// links are the connections of an end, one a stream.
type links []*link

// past is a deadline that ends blocked and later calls.
var past = time.Unix(1, 0)

// interrupt ends blocked and later calls on the connection.
func (l *link) interrupt() {
	l.end()
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.conn.SetDeadline(past)
}

func (l links) interrupt() {
	for _, k := range l {
		k.interrupt()
	}
}

// count makes the connections count into w.
func (l links) count(w *work) {
	for _, k := range l {
		k.work.Store(w)
	}
}

// openLinks prepares the connections of an end. The end of ctx interrupts them until stop is
// called, after which nothing replaces them.
func openLinks(ctx context.Context, conns []*net.TCPConn, o measure.Options, f engine.Flow, role measure.Role) (out links, cuts *cuts, stop func(), err error) {
	settings := sock.FromOptions(o)
	settings.Unprivileged = f.FarOptions
	if role == measure.Receiver {
		settings.Congestion, settings.FlowLabel = "", 0 // only the sender sets them
	}
	var rate *pace.Budget
	if o.Rate > 0 && role == measure.Sender {
		rate = pace.NewBudget(float64(o.Rate), 0)
	}
	cuts = newCuts()
	for i, c := range conns {
		if err := settings.Apply(c); err != nil {
			return nil, nil, func() {}, err
		}
		k := newLink(ctx, c, f.Limit.Of(role), rate)
		k.index, k.by, k.cuts, k.settings = i, f.Reconnect, cuts, settings
		out = append(out, k)
	}
	unwatch := out.watchForCuts(ctx, f.Reconnect)
	interrupt := context.AfterFunc(ctx, out.interrupt)
	return out, cuts, func() {
		interrupt()
		unwatch()
		for _, k := range out {
			k.end()
		}
	}, nil
}

type linkReader struct{ *link }

// Read implements io.Reader.
func (r linkReader) Read(b []byte) (int, error) {
	n, err := r.call(b[:r.piece(len(b))], false)
	if err == nil && r.limit != nil {
		err = r.wait(r.limit.Slowed(int64(n)))
	}
	return n, err
}

type linkWriter struct{ *link }

// Write implements io.Writer.
func (r linkWriter) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = r.call(b[n:n+r.piece(len(b)-n)], true)
		n += m
		if err == nil {
			err = r.spend(m)
		}
	}
	return n, err
}

// spend takes what was written from the budgets.
func (l *link) spend(n int) error {
	for _, budget := range []*pace.Budget{l.limit, l.rate} {
		if budget != nil {
			if err := l.wait(budget.Spend(int64(n))); err != nil {
				return err
			}
		}
	}
	return nil
}

// call makes one call on the connection. The time of one that fails is counted when the
// connection is replaced ([link.bind]).
func (l *link) call(b []byte, write bool) (n int, err error) {
	w, watch := l.work.Load(), startWatch()
	if write {
		n, err = l.used.Write(b)
	} else {
		n, err = l.used.Read(b)
	}
	w.netBytes.Add(int64(n))
	if err != nil {
		l.called = watch.last
		return n, err
	}
	watch.lap(&w.network)
	return n, nil
}

func (l *link) current() *net.TCPConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn
}

// piece is how much of n bytes a call may move.
func (l *link) piece(n int) int {
	for _, budget := range []*pace.Budget{l.limit, l.rate} {
		if budget != nil {
			n = min(n, budget.Piece(1))
		}
	}
	return n
}

// wait waits for a budget.
func (l *link) wait(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-l.ctx.Done():
		return context.Cause(l.ctx)
	}
}

// send writes a frame, which may stay in the buffer until [link.flush].
func (l *link) send(f frame) error {
	l.frame = f.append(l.frame[:0])
	_, err := l.out.Write(l.frame)
	return l.failed("copy.send", err)
}

func (l *link) flush() error { return l.failed("copy.send", l.out.Flush()) }

// receive reads a frame.
func (l *link) receive() (frame, error) {
	b := l.frame[:frameSize]
	if _, err := io.ReadFull(l.in, b); err != nil {
		return frame{}, l.failed("copy.receive", err)
	}
	f, ok := parseFrame(b)
	if !ok {
		return f, l.unexpected()
	}
	return f, nil
}

// answer tells the source that the sink has completed a stage or the copy. If a cut loses the
// answer, the source gets it with the connection that replaces this one.
func (l *link) answer() error {
	err := l.out.WriteByte(done)
	if err == nil {
		err = l.out.Flush()
	}
	if err = l.failed("copy.send", err); isCut(err) {
		return nil
	}
	return err
}

// answered waits for the sink's answer.
func (l *link) answered() error {
	b, err := l.in.ReadByte()
	if err == nil && b != done {
		return l.unexpected()
	}
	return l.failed("copy.receive", err)
}

// watchUntil waits until ctx ends, and fails if the connection is cut before. The other end sends
// nothing meanwhile.
func (l *link) watchUntil(ctx context.Context) error {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { defer close(ended); _ = l.used.SetReadDeadline(past) })
	_, err := l.in.ReadByte()
	switch {
	case err == nil:
		err = l.unexpected()
	case stop():
		return l.failed("copy.receive", err)
	default:
		err = nil
	}
	if !stop() {
		<-ended
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.life.Err() == nil {
		_ = l.used.SetReadDeadline(time.Time{})
	}
	return err
}

// peer is the address of the other end.
func (l *link) peer() string { return l.used.RemoteAddr().String() }

// unexpected is the failure of a peer that does not follow the protocol.
func (l *link) unexpected() error {
	return measure.Fail(measure.KindBroken, "copy.frame", measure.Figures{"peer": l.peer()})
}

// failed is the failure of a call on the connection: a [cutError] if the connection can be
// replaced.
func (l *link) failed(code string, err error) error {
	switch {
	case err == nil:
		return nil
	case l.by == nil || l.life.Err() != nil:
		return l.cause(l.failure(code, err))
	}
	l.markCut(err)
	return &cutError{l.failure(code, err), err}
}

// cause is the cause of the context's end if that has ended, or err.
func (l *link) cause(err error) error {
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	return err
}

func (l *link) failure(code string, err error) *measure.Error {
	return measure.Fail(measure.KindBroken, code, measure.Figures{"peer": l.peer(), "cause": bare(err)}).
		WithCause(engine.ErrPeer).WithHintCode("stream_broken", nil)
}

// bare is the system's error alone, to which package net adds the addresses.
func bare(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}
