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

// What is inside the errors of a session, for who tells it in iperf3's own words.
var (
	// ErrBusy: the server measures with somebody else.
	ErrBusy = errors.New("it measures with somebody else")
	// ErrStopped: the server was stopped.
	ErrStopped = errors.New("was stopped")
	// ErrClosed: the server closed the control connection without a word.
	ErrClosed = errors.New("the control connection was closed")
)

// ServerFailure is what a server told of its failure: one of iperf3's numbers.
type ServerFailure int

// Error says what the number means.
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
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = errno // without the addresses, which the sentence has
	}
	return measure.Fail(measure.KindUnreachable, "dial.failed", measure.Figures{"address": to.String(), "cause": err}).WithHintCode("dial.routes_local", nil)
}

// between marks what a person reads where the cause may be that the server is between
// two tests.
func between(told, seen error) error {
	var e *measure.Error
	if !errors.As(told, &e) || e.Kind == measure.KindInterrupted || sock.TimedOut(seen) || !sock.Refused(seen) && !sock.Closed(seen) {
		return told
	}
	return &passing{e}
}

// passing is an error that may be another in a moment.
type passing struct{ told *measure.Error }

// Error is that of what a person reads.
func (p *passing) Error() string { return p.told.Error() }

// Is implements what errors.Is asks.
func (*passing) Is(target error) bool { return target == errBetween }

// Unwrap returns the error that a person reads.
func (p *passing) Unwrap() error { return p.told }

// step is what a client does over the control connection: the codes of what can go wrong.
type step struct{ answer, noAnswer, closed string }

var (
	askingParameters = step{"iperf3.parameters.answer", "iperf3.parameters.no_answer", "iperf3.parameters.closed"}
	starting         = step{"iperf3.start.answer", "iperf3.start.no_answer", "iperf3.start.closed"}
	measuring        = step{"iperf3.measure.answer", "iperf3.measure.no_answer", "iperf3.measure.closed"}
	askingResults    = step{"iperf3.results.answer", "iperf3.results.no_answer", "iperf3.results.closed"}
)

// explainControl says why a word of the server did not come or was none.
func (s *session) explainControl(ctx context.Context, doing step, err error) error {
	if known := wire.Known(ctx, err); known != nil {
		return known
	}
	switch {
	case errors.Is(err, errFrame), errors.Is(err, errNotIperf3):
		return measure.Fail(measure.KindBroken, doing.answer, measure.Figures{"address": s.remote.String(), "cause": err}).WithHintCode("iperf3.other_program", nil)
	case sock.TimedOut(err):
		return measure.Fail(measure.KindBroken, doing.noAnswer, measure.Figures{"address": s.remote.String()}).WithHintCode("iperf3.no_answer", nil)
	case errors.Is(err, net.ErrClosed):
		return measure.Fail(measure.KindInterrupted, "session.closed", measure.Figures{"address": s.remote.String()})
	}
	return measure.Fail(measure.KindBroken, doing.closed, measure.Figures{"address": s.remote.String()}).WithHintCode("iperf3.output", nil).WithCause(ErrClosed)
}

// turnedAway is for a server that closes the connection when it has the parameters,
// which is how some versions say that they do not allow the test.
func (s *session) turnedAway() error {
	e := measure.Fail(measure.KindRefused, "iperf3.turned_away", measure.Figures{"address": s.remote.String()}).WithCause(ErrClosed)
	if s.request.IPerf3.Key != nil {
		return e.WithHintCode("iperf3.credentials_output", nil)
	}
	return e
}

// explainState says what a state means that ends the test; nil for another.
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
