package native

import (
	"context"
	"io"
	"net"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
)

// resumes reports whether a test goes on when a connection was cut.
func resumes(t measure.Test) bool {
	spec := option.SpecOf(t)
	return spec != nil && spec.Resumes
}

// Reconnect implements wire.Resumer.
func (s *session) Reconnect() *engine.Reconnect {
	if s.created.ResumeKey == nil || !resumes(s.request.Test) {
		return nil
	}
	return &engine.Reconnect{Open: s.reopen}
}

// reopen makes one attempt to replace a data connection.
func (s *session) reopen(ctx context.Context, index int, own engine.Progress) (*net.TCPConn, engine.Progress, error) {
	dialer, err := sock.DialerFor("tcp", s.options)
	if err != nil {
		return nil, engine.Progress{}, err
	}
	c, err := dialer.DialContext(ctx, "tcp", s.remote.String())
	if err != nil {
		return nil, engine.Progress{}, explainDial(ctx, "tcp", s.remote.String(), err)
	}
	tcp := c.(*net.TCPConn)
	far, err := s.resume(ctx, tcp, index, own)
	if err == nil {
		err = s.keepAll([]net.Conn{tcp})
	}
	if err != nil {
		_ = tcp.Close()
		return nil, engine.Progress{}, err
	}
	return tcp, far, nil
}

// resume proves that the connection is the session's, and exchanges what both ends have received.
func (s *session) resume(ctx context.Context, c *net.TCPConn, index int, own engine.Progress) (far engine.Progress, err error) {
	release := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer release()
	_ = c.SetDeadline(time.Now().Add(min(s.options.ConnectTimeout.Std(), SniffTimeout)))
	p := Preamble{Version: Version, Kind: KindResume, Index: uint16(index), Key: s.created.Key}
	r := Resume{Attempt: s.attempts.Add(1), ResumeState: ResumeState{uint32(own.Stages), uint32(own.Items), int64(own.Cut)}}
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
	return engine.Progress{Stages: int(state.Stages), Items: int(state.Items), Cut: time.Duration(state.CutNs)}, nil
}
