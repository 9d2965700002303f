package filecopy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/pace"
)

// link is one connection of a copy. It counts the bytes and the time of its calls into the
// work of the stage that runs.
type link struct {
	conn  *net.TCPConn
	ctx   context.Context
	limit *pace.Budget // of this end; nil: none
	rate  *pace.Budget // of the options; nil: none
	in    *bufio.Reader
	out   *bufio.Writer
	work  atomic.Pointer[work]
	frame []byte
}

// Buffers of a connection beside its blocks, bytes.
const readAhead, writeTogether = 64 << 10, 64 << 10

func newLink(ctx context.Context, c *net.TCPConn, limit, rate *pace.Budget) *link {
	l := &link{conn: c, ctx: ctx, limit: limit, rate: rate, frame: make([]byte, 0, frameSize)}
	l.in, l.out = bufio.NewReaderSize(linkReader{l}, readAhead), bufio.NewWriterSize(linkWriter{l}, writeTogether)
	l.work.Store(&work{})
	return l
}

// links are the connections of an end, one a stream.
type links []*link

// interrupt ends blocked and later calls on the connection.
func (l *link) interrupt() { _ = l.conn.SetDeadline(time.Unix(1, 0)) }

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
// called.
func openLinks(ctx context.Context, conns []*net.TCPConn, o measure.Options, f engine.Flow, role measure.Role) (out links, stop func() bool, err error) {
	settings := sock.FromOptions(o)
	settings.Unprivileged = f.FarOptions
	if role == measure.Receiver {
		settings.Congestion, settings.FlowLabel = "", 0 // only the sender sets them
	}
	var rate *pace.Budget
	if o.Rate > 0 && role == measure.Sender {
		rate = pace.NewBudget(float64(o.Rate), 0)
	}
	for _, c := range conns {
		if err := settings.Apply(c); err != nil {
			return nil, func() bool { return false }, err
		}
		out = append(out, newLink(ctx, c, f.Limit.Of(role), rate))
	}
	return out, context.AfterFunc(ctx, out.interrupt), nil
}

type linkReader struct{ *link }

// Read implements io.Reader.
func (r linkReader) Read(b []byte) (int, error) {
	w, watch := r.work.Load(), startWatch()
	n, err := r.conn.Read(b[:r.piece(len(b))])
	watch.lap(&w.network)
	w.netBytes.Add(int64(n))
	if err == nil && r.limit != nil {
		err = r.wait(r.limit.Slowed(int64(n)))
	}
	return n, err
}

type linkWriter struct{ *link }

// Write implements io.Writer.
func (r linkWriter) Write(b []byte) (n int, err error) {
	w := r.work.Load()
	for n < len(b) && err == nil {
		watch := startWatch()
		var m int
		m, err = r.conn.Write(b[n : n+r.piece(len(b)-n)])
		watch.lap(&w.network)
		w.netBytes.Add(int64(m))
		n += m
		for _, budget := range []*pace.Budget{r.limit, r.rate} {
			if err == nil && budget != nil {
				err = r.wait(budget.Spend(int64(m)))
			}
		}
	}
	return n, err
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

// answer tells the source that the sink has done what it has to.
func (l *link) answer() error {
	if err := l.out.WriteByte(done); err != nil {
		return l.failed("copy.send", err)
	}
	return l.flush()
}

// answered waits for the sink's answer.
func (l *link) answered() error {
	b, err := l.in.ReadByte()
	if err == nil && b != done {
		return l.unexpected()
	}
	return l.failed("copy.receive", err)
}

// unexpected is the failure of a peer that does not follow the protocol.
func (l *link) unexpected() error {
	return measure.Fail(measure.KindBroken, "copy.frame", measure.Figures{"peer": l.conn.RemoteAddr().String()})
}

// failed is the failure of a call on the connection; the cause of the context's end where
// that ended it.
func (l *link) failed(code string, err error) error {
	switch {
	case err == nil:
		return nil
	case l.ctx.Err() != nil:
		return context.Cause(l.ctx)
	}
	if own, is := errors.AsType[*measure.Error](err); is {
		return own
	}
	var errno syscall.Errno
	if errors.As(err, &errno) { // package net adds the addresses
		err = errno
	}
	return measure.Fail(measure.KindBroken, code, measure.Figures{"peer": l.conn.RemoteAddr().String(), "cause": err}).
		WithCause(engine.ErrPeer).WithHintCode("stream_broken", nil)
}
