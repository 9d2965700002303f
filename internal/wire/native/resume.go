package native

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
)

// resumes reports whether a test goes on when a connection was cut.
func resumes(t measure.Test) bool {
	spec := measure.SpecOf(t)
	return spec != nil && spec.Resumes
}

// Reconnect implements wire.Resumer.
func (s *session) Reconnect() *engine.Reconnect {
	if s.created.ResumeKey == nil || !resumes(s.request.Test) {
		return nil
	}
	return &engine.Reconnect{Watch: s.reopens.watch, Open: func(ctx context.Context, index int, own engine.Progress) (*net.TCPConn, engine.Progress, error) {
		attempt := s.reopens.attempts.Add(1)
		c, far, err := s.reopen(ctx, index, attempt, own)
		if err == nil {
			s.reopens.opened(index, attempt)
		}
		return c, far, err
	}}
}

// reopens are the data connections of a session that were opened again.
type reopens struct {
	attempts atomic.Uint64

	mu   sync.Mutex
	last map[int]uint64 // attempt that opened the connection of an index
	lost func(index int)
}

func (r *reopens) opened(index int, attempt uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[int]uint64{}
	}
	r.last[index] = attempt
}

// cut passes on that the server has lost the connection that an attempt opened, unless there
// is a later one.
func (r *reopens) cut(index int, attempt uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost != nil && attempt >= r.last[index] {
		r.lost(index)
	}
}

func (r *reopens) watch(lost func(index int)) (stop func()) {
	set := func(lost func(index int)) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.lost = lost
	}
	set(lost)
	return func() { set(nil) }
}

// reopen makes one attempt to replace a data connection.
func (s *session) reopen(ctx context.Context, index int, attempt uint64, own engine.Progress) (*net.TCPConn, engine.Progress, error) {
	dialer, err := sock.DialerFor("tcp", s.options)
	if err != nil {
		return nil, engine.Progress{}, err
	}
	c, err := dialer.DialContext(ctx, "tcp", s.remote.String())
	if err != nil {
		return nil, engine.Progress{}, explainDial(ctx, "tcp", s.remote.String(), err)
	}
	tcp := c.(*net.TCPConn)
	far, err := s.resume(ctx, tcp, index, attempt, own)
	if err == nil {
		err = s.keepAll([]net.Conn{tcp})
	}
	if err != nil {
		_ = tcp.Close()
		return nil, engine.Progress{}, err
	}
	return tcp, far, nil
}

// resume proves that the connection is the session's, and exchanges where both ends are.
func (s *session) resume(ctx context.Context, c *net.TCPConn, index int, attempt uint64, own engine.Progress) (far engine.Progress, err error) {
	release := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer release()
	_ = c.SetDeadline(time.Now().Add(min(s.options.ConnectTimeout.Std(), SniffTimeout)))
	p := Preamble{Version: Version, Kind: KindResume, Index: uint16(index), Key: s.created.Key}
	r := Resume{Attempt: attempt, ResumeState: ResumeState{own.Received, int64(own.Cut)}}
	var answer [ResumeAnswerSize]byte
	if _, err = c.Write(p.AppendResume(nil, r, *s.created.ResumeKey)); err == nil {
		_, err = io.ReadFull(c, answer[:])
	}
	if err != nil {
		return far, err
	}
	state, ok := ParseResumeAnswer(answer[:])
	if !ok {
		return far, measure.Fail(measure.KindRefused, "native.data.refused", measure.Figures{"number": index, "address": s.remote.String()}).WithHintCode("native.server_log", nil)
	}
	_ = c.SetDeadline(time.Time{})
	return engine.Progress{Received: state.Received, Cut: time.Duration(state.CutNs)}, nil
}
