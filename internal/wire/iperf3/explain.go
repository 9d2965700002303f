package iperf3

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
)

// Causes of a session's errors, for output in iperf3's own words.
var (
	// ErrBusy: the server is busy with another client.
	ErrBusy = errors.New("it measures with somebody else")
	// ErrStopped: the server was stopped.
	ErrStopped = errors.New("was stopped")
	// ErrClosed: the server closed the control connection without a message.
	ErrClosed = errors.New("the control connection was closed")
)

// ServerFailure is an error that a server reported: one of iperf3's numbers.
type ServerFailure int

// Error is the meaning of the number.
func (f ServerFailure) Error() string { return sentence(int(f)).Message }

// explainDial says why a connection to the server could not be opened.
func explainDial(ctx context.Context, network string, to netip.AddrPort, err error) error {
	if known := wire.Known(ctx, err); known != nil {
		return known
	}
	switch {
	case sock.Refused(err):
		return measure.Fail(measure.KindUnreachable, "dial.refused", measure.Figures{"address": to.String()}).
			WithHintCode("iperf3.refused", measure.Figures{"network": network, "port": to.Port()}).WithCause(err)
	case sock.TimedOut(err):
		return measure.Fail(measure.KindUnreachable, "dial.no_answer", measure.Figures{"address": to.String()}).
			WithHintCode("dial.firewall", measure.Figures{"network": network, "port": to.Port()}).WithCause(err)
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		err = errno // without the addresses, which the sentence has
	}
	return measure.Fail(measure.KindUnreachable, "dial.failed", measure.Figures{"address": to.String(), "cause": err}).WithHintCode("dial.routes_local", nil)
}

// between marks an error that may be due to the server being between two tests.
func between(reported, seen error) error {
	var e *measure.Error
	if !errors.As(reported, &e) || e.Kind == measure.KindInterrupted || sock.TimedOut(seen) || !sock.Refused(seen) && !sock.Closed(seen) {
		return reported
	}
	return &transient{e}
}

// transient is an error that may not occur on the next attempt.
type transient struct{ shown *measure.Error }

// Error is the message of the shown error.
func (t *transient) Error() string { return t.shown.Error() }

// Is supports errors.Is.
func (*transient) Is(target error) bool { return target == errBetween }

// Unwrap returns the shown error.
func (t *transient) Unwrap() error { return t.shown }

// step is what a client does over the control connection: the codes of what can go wrong.
type step struct{ answer, noAnswer, closed string }

var (
	askingParameters = step{"iperf3.parameters.answer", "iperf3.parameters.no_answer", "iperf3.parameters.closed"}
	starting         = step{"iperf3.start.answer", "iperf3.start.no_answer", "iperf3.start.closed"}
	measuring        = step{"iperf3.measure.answer", "iperf3.measure.no_answer", "iperf3.measure.closed"}
	askingResults    = step{"iperf3.results.answer", "iperf3.results.no_answer", "iperf3.results.closed"}
)

// explainControl explains a missing or invalid message of the server.
func (s *session) explainControl(ctx context.Context, doing step, err error) error {
	malformed := errors.Is(err, errFrame)
	if known := wire.Known(ctx, err); known != nil && (ctx.Err() != nil || !malformed) {
		return known
	}
	switch {
	case malformed:
		return measure.Fail(measure.KindBroken, doing.answer, measure.Figures{"address": s.remote.String(), "cause": err}).WithHintCode("iperf3.other_program", nil)
	case sock.TimedOut(err):
		return measure.Fail(measure.KindBroken, doing.noAnswer, measure.Figures{"address": s.remote.String()}).WithHintCode("iperf3.no_answer", nil)
	case errors.Is(err, net.ErrClosed):
		return measure.Fail(measure.KindInterrupted, "session.closed", measure.Figures{"address": s.remote.String()})
	}
	return measure.Fail(measure.KindBroken, doing.closed, measure.Figures{"address": s.remote.String()}).WithHintCode("iperf3.output", nil).WithCause(ErrClosed)
}

// turnedAway explains a server that closes the connection after it got the parameters;
// some versions refuse a test that way.
func (s *session) turnedAway() error {
	e := measure.Fail(measure.KindRefused, "iperf3.turned_away", measure.Figures{"address": s.remote.String()}).WithCause(ErrClosed)
	if s.request.IPerf3.Key != nil {
		return e.WithHintCode("iperf3.credentials_output", nil)
	}
	return e
}

// explainState returns the error of a state that ends the test, or nil for other states.
func (s *session) explainState(state State) error {
	switch state {
	case AccessDenied:
		return measure.Fail(measure.KindRefused, "iperf3.busy", measure.Figures{"address": s.remote.String()}).WithCause(ErrBusy)
	case ServerTerminate:
		return measure.Fail(measure.KindBroken, "iperf3.stopped", measure.Figures{"address": s.remote.String()}).WithCause(ErrStopped)
	case ServerError:
		_ = s.control.SetReadDeadline(soon())
		code, errno := readError(s.control)
		kind := measure.KindRefused
		if code >= CodeInit && code != CodeAuthorization && code != CodeBusy {
			kind = measure.KindBroken
		}
		s.mu.Lock()
		s.exchange.ErrorCode, s.exchange.ErrorErrno = code, errno
		s.mu.Unlock()
		e := measure.Fail(kind, "iperf3.ended", measure.Figures{"address": s.remote.String(), "cause": sentence(code)})
		if code == CodeAuthorization {
			return e.WithHintCode("iperf3.credentials", nil)
		}
		return e.WithHintCode("iperf3.output", nil)
	}
	return nil
}
