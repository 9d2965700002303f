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
	"soku/internal/sock"
)

// How long a sender waits for a receiver.
const (
	answerTime = 10 * time.Second       // for an answer
	lastTime   = 10 * time.Minute       // for the last of several senders
	lingerTime = 2 * time.Second        // for the receiver to end after the sender has
	silentTime = 500 * time.Millisecond // of a receiver that has ended
	hurryTime  = 80 * time.Millisecond
	exitTime   = time.Second // for a receiver to acknowledge an early end
)

// Sync is the sender's end of a sync connection. One goroutine uses it. Every call
// returns within 100 ms of the context's end; errors are a *measure.Error or the
// context's cause.
type Sync struct {
	conn net.Conn
	peer string
	took time.Duration // the first answer
}

// NewSync returns the sender's end over an open connection.
func NewSync(c net.Conn) *Sync { return &Sync{conn: c, peer: c.RemoteAddr().String()} }

// Ask requests the state of the receiver and returns an error of kind refused if it is
// busy.
func (s *Sync) Ask(ctx context.Context) error {
	asked := time.Now()
	state, err := s.exchange(ctx, Query, answerTime)
	s.took = time.Since(asked)
	switch {
	case err != nil:
		return err
	case state == Running:
		return measure.Fail(measure.KindRefused, "ntttcp.busy", measure.Figures{"address": s.peer})
	case state != NotStarted && state != Finished:
		return measure.Fail(measure.KindBroken, "ntttcp.state", measure.Figures{"address": s.peer, "answer": state.String()})
	}
	return nil
}

// Agree sends a number of seconds and returns the number that the receiver answers for
// both ends; 0: until interrupted.
func (s *Sync) Agree(ctx context.Context, seconds int) (int, error) {
	answer, err := s.exchange(ctx, Word(seconds), answerTime)
	if err != nil {
		return 0, err
	}
	if answer < 0 || answer > SecondsMost {
		return 0, measure.Fail(measure.KindBroken, "ntttcp.seconds", measure.Figures{"address": s.peer, "seconds": seconds, "answer": answer.String()})
	}
	return int(answer), nil
}

// Begin requests the start of the test, if last is set with all waiting senders. If the
// receiver answers to wait for the last sender, waits is called; it may be nil.
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
		answer, err = s.read(ctx, lastTime, waitingForLast, Run)
	}
	if err != nil {
		return err
	}
	if answer != Run {
		code := "ntttcp.not_taken"
		if last {
			code = "ntttcp.last_not_taken"
		}
		return measure.Fail(measure.KindRefused, code, measure.Figures{"address": s.peer, "answer": answer.String()})
	}
	return nil
}

// Linger waits until the receiver has ended, or no longer answers, as ntttcp after its
// last test, for two seconds at most: a receiver counts until its own end, and one whose
// connections are closed before that may wait forever.
func (s *Sync) Linger(ctx context.Context) {
	silent := silentTime + 4*s.took
	for until := time.Now().Add(lingerTime); time.Now().Before(until); {
		state, err := s.exchange(ctx, Query, min(silent, time.Until(until)))
		for err == nil && state == Run { // a receiver with -M sends it twice to the last sender
			state, err = s.read(ctx, min(silent, time.Until(until)), ending, Run)
		}
		if err != nil || state != Running {
			return
		}
		if !sock.Pause(ctx, 20*time.Millisecond) {
			return
		}
	}
}

// Exit informs the receiver that this sender ended early, and waits for its answer, for a
// second at most: ntttcp may wait forever if connections are closed before. It also works
// after the end of a context.
func (s *Sync) Exit() { s.exit(exitTime) }

func (s *Sync) exit(most time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	if state, err := s.exchange(ctx, Exit, most); err == nil && state == Run {
		_, _ = s.read(ctx, most, ending, Exit)
	}
}

// Close closes the connection.
func (s *Sync) Close() error { return s.conn.Close() }

func (s *Sync) exchange(ctx context.Context, w Word, most time.Duration) (Word, error) {
	_ = s.conn.SetWriteDeadline(time.Now().Add(most))
	if err := WriteWord(s.conn, w); err != nil {
		return 0, s.explain(ctx, writing, w, err, most)
	}
	return s.read(ctx, most, waiting, w)
}

func (s *Sync) read(ctx context.Context, most time.Duration, doing step, after Word) (Word, error) {
	_ = s.conn.SetReadDeadline(time.Now().Add(most))
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	w, err := ReadWord(s.conn)
	if err != nil {
		return 0, s.explain(ctx, doing, after, err, most)
	}
	return w, nil
}

// step is what an end does with the sync connection: the codes of what can go wrong.
type step struct{ noAnswer, closed, failed string }

var (
	writing        = step{"ntttcp.write.no_answer", "ntttcp.write.closed", "ntttcp.write.failed"}
	waiting        = step{"ntttcp.wait.no_answer", "ntttcp.wait.closed", "ntttcp.wait.failed"}
	waitingForLast = step{"ntttcp.wait_last.no_answer", "ntttcp.wait_last.closed", "ntttcp.wait_last.failed"}
	ending         = step{"ntttcp.end.no_answer", "ntttcp.end.closed", "ntttcp.end.failed"}
)

// explain is the error of a word that could not be written or did not come. word is what
// was written or waits for an answer.
func (s *Sync) explain(ctx context.Context, doing step, word Word, err error, most time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	figures := measure.Figures{"address": s.peer, "word": word.String()}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		figures["wait_ns"] = most
		return measure.Fail(measure.KindBroken, doing.noAnswer, figures).WithHintCode("ntttcp.sync_port", nil)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return measure.Fail(measure.KindBroken, doing.closed, figures).WithHintCode("ntttcp.gone", nil)
	}
	figures["cause"] = err
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		figures["cause"] = errno // without the addresses, which the sentence has
	}
	return measure.Fail(measure.KindBroken, doing.failed, figures).WithHintCode("ntttcp.gone", nil)
}
