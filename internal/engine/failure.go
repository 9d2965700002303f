package engine

import (
	"errors"
	"maps"
	"net"
	"syscall"

	"soku/internal/measure"
)

// FailStream is the failure of one stream, conns[stream], that ended too early. Its
// message writes peer, stream (from 1) and streams besides the figures; a cause is the
// system's error number alone if it has one, since package net adds the addresses. The
// hint is that of a peer or path that went away, unless the code has its own.
func FailStream[C net.Conn](conns []C, stream int, code string, figures measure.Figures) *measure.Error {
	all := measure.Figures{"peer": conns[stream].RemoteAddr().String(), "stream": stream + 1, "streams": len(conns)}
	maps.Copy(all, figures)
	if cause, ok := figures["cause"].(error); ok {
		if errno, ok := errors.AsType[syscall.Errno](cause); ok {
			all["cause"] = errno
		}
	}
	e := measure.Fail(measure.KindBroken, code, all)
	if e.Hint == "" {
		e = e.WithHintCode("stream_broken", nil)
	}
	return e
}

// ErrPeer is the cause of failures on a connection that the other end may explain: it may
// have ended the test for a reason of its own.
var ErrPeer = errors.New("the other end ended the connection")
