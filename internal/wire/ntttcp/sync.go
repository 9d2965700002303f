package ntttcp

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"soku/internal/measure"
)

// How long a sender waits for a receiver's word.
const (
	answerTime = 10 * time.Second // for an answer
	lastTime   = 10 * time.Minute // for the last of several senders to come
	lingerTime = 2 * time.Second  // for a receiver's end, after one's own
	exitTime   = time.Second      // for a receiver to know of an early end
)

// Sync is the sender's end of a sync connection. One goroutine uses it. Every call
// returns within 100 ms of the context's end; errors are a *measure.Error or the
// context's cause.
type Sync struct {
	conn net.Conn
	peer string
}

// NewSync returns the sender's end over an open connection.
func NewSync(c net.Conn) *Sync { return &Sync{conn: c, peer: c.RemoteAddr().String()} }

// Ask asks for the state of the receiver and returns an error of kind refused when
// it is busy.
func (s *Sync) Ask(ctx context.Context) error {
	state, err := s.exchange(ctx, Query, answerTime)
	switch {
	case err != nil:
		return err
	case state == Running:
		return measure.Errorf(measure.KindRefused, "measure against %s: the ntttcp receiver there is busy with another test", s.peer).
			WithHint("wait until it is done, or start another with its own -p")
	case state != NotStarted && state != Finished:
		return measure.Errorf(measure.KindBroken, "ask %s for its state: it answered %v, which is none of ntttcp's", s.peer, state).
			WithHint("is the port one below that of an ntttcp receiver for Linux? That of Windows speaks otherwise: use -N there")
	}
	return nil
}

// Agree offers a number of seconds and returns those that the receiver wants both
// to run; 0 is until somebody interrupts.
func (s *Sync) Agree(ctx context.Context, seconds int) (int, error) {
	answer, err := s.exchange(ctx, Word(seconds), answerTime)
	if err != nil {
		return 0, err
	}
	if answer < 0 || answer > SecondsMost {
		return 0, measure.Errorf(measure.KindBroken, "agree with %s on %d s: it answered %v, where at most a day makes sense", s.peer, seconds, answer).
			WithHint("is that an ntttcp receiver for Linux?")
	}
	return int(answer), nil
}

// Begin has the receiver begin, or, where last is set, with all senders that
// wait. Where it is to wait for the last sender, waits is called; nil tells nobody.
func (s *Sync) Begin(ctx context.Context, last bool, waits func()) error {
	word := Run
	if last {
		word = Last
	}
	answer, err := s.exchange(ctx, word, answerTime)
	if err == nil && answer == Wait {
		if waits != nil {
			waits()
		}
		answer, err = s.read(ctx, lastTime, "wait for the last sender to join the test at")
	}
	if err != nil {
		return err
	}
	if answer != Run {
		e := measure.Errorf(measure.KindRefused, "begin the test at %s: the ntttcp receiver there does not take this sender (it answered %v)", s.peer, answer)
		if last {
			return e.WithHint("the last of several senders wants a receiver with -M")
		}
		return e.WithHint("it takes eight senders at most, and the last of them says -L")
	}
	return nil
}

// Linger waits until the receiver is at its end, or no longer answers, for two
// seconds at most: a receiver counts until its own end, and one that finds its
// connections closed before may wait for ever.
func (s *Sync) Linger(ctx context.Context) {
	for until := time.Now().Add(lingerTime); time.Now().Before(until); {
		state, err := s.exchange(ctx, Query, time.Until(until))
		for err == nil && state == Run { // a receiver with -M says it to the last sender twice
			state, err = s.read(ctx, time.Until(until), "wait for the end at")
		}
		if err != nil || state != Running {
			return
		}
		timer := time.NewTimer(20 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// Exit tells the receiver that this sender ended before the time, and waits a
// moment for it to know. It works after the end of a context, too.
func (s *Sync) Exit() {
	ctx, cancel := context.WithTimeout(context.Background(), exitTime)
	defer cancel()
	if state, err := s.exchange(ctx, Exit, exitTime); err == nil && state == Run {
		_, _ = s.read(ctx, exitTime, "end at")
	}
}

// Close closes the connection.
func (s *Sync) Close() error { return s.conn.Close() }

func (s *Sync) exchange(ctx context.Context, w Word, most time.Duration) (Word, error) {
	_ = s.conn.SetWriteDeadline(time.Now().Add(most))
	if err := WriteWord(s.conn, w); err != nil {
		return 0, s.explain(ctx, "say "+w.String()+" to", err, most)
	}
	return s.read(ctx, most, "wait for an answer to "+w.String()+" of")
}

func (s *Sync) read(ctx context.Context, most time.Duration, doing string) (Word, error) {
	_ = s.conn.SetReadDeadline(time.Now().Add(most))
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	w, err := ReadWord(s.conn)
	if err != nil {
		return 0, s.explain(ctx, doing, err, most)
	}
	return w, nil
}

func (s *Sync) explain(ctx context.Context, doing string, err error, most time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var errno syscall.Errno
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return measure.Errorf(measure.KindBroken, "%s %s: nothing came within %v", doing, s.peer, most).
			WithHint("is that the sync port of an ntttcp receiver? It is the port below the first data port")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it closed the connection")
	case errors.As(err, &errno):
		err = errno // without the addresses, which the sentence has
	}
	return measure.Errorf(measure.KindBroken, "%s %s: %w", doing, s.peer, err).WithHint("is the ntttcp receiver still running there?")
}
