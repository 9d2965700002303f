package tcp

import (
	"errors"
	"io"
	"net"

	"soku/internal/measure"
)

// openAll opens one source or sink a stream: all of them, or none.
func openAll[C io.Closer](streams int, open func() (C, error)) ([]C, error) {
	all := make([]C, 0, streams)
	for range streams {
		one, err := open()
		if err != nil {
			for _, c := range all {
				_ = c.Close()
			}
			return nil, measure.Fail(measure.KindFile, "tcp.contents.open", measure.Figures{"cause": err})
		}
		all = append(all, one)
	}
	return all, nil
}

// sources returns workers that send what Contents.Source supplies, one a stream.
func (s *sender) sources() (work func(i int), n int, err error) {
	all, err := openAll(len(s.conns), s.policy.Contents.Source)
	if err != nil {
		return nil, 0, err
	}
	s.path = "write"
	return func(i int) {
		defer all[i].Close()
		s.write(i, source{all[i], make([]byte, s.size)})
	}, len(all), nil
}

// source reads a stream's bytes from outside of the engine.
type source struct {
	from io.Reader
	buf  []byte
}

func (s source) next(_ int64, n int) ([]byte, error) {
	n, err := io.ReadFull(s.from, s.buf[:n])
	return s.buf[:n], err
}

// exhausted ends the flow because a stream's source ended or failed.
func (s *sender) exhausted(stream int, err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		s.ending.End(0)
		return
	}
	s.group.Stop(measure.Fail(measure.KindFile, "tcp.contents.read", measure.Figures{"stream": stream + 1, "cause": err}))
}

// sinks returns workers that write what they receive to Contents.Sink, one a stream.
func (r *receiver) sinks() (work func(i int), n int, err error) {
	all, err := openAll(len(r.conns), r.policy.Contents.Sink)
	if err != nil {
		return nil, 0, err
	}
	r.path = "read"
	return func(i int) {
		r.read(i, nil, all[i])
		if err := all[i].Close(); err != nil { // a write may fail only now
			r.group.Stop(keeping(r.conns[i], i, len(r.conns), err))
		}
	}, len(all), nil
}

// keeping returns the error for a sink that fails.
func keeping(conn net.Conn, stream, streams int, err error) error {
	return measure.Fail(measure.KindFile, "tcp.contents.write", measure.Figures{
		"peer": conn.RemoteAddr().String(), "stream": stream + 1, "streams": streams, "cause": err,
	})
}
