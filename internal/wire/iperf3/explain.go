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
func (f ServerFailure) Error() string { return codeText(int(f)) }

// explainDial says why a connection to the server could not be opened.
func explainDial(ctx context.Context, network string, to netip.AddrPort, err error) error {
	if known := wire.Known(ctx, err); known != nil {
		return known
	}
	switch {
	case sock.Refused(err):
		return measure.Errorf(measure.KindUnreachable, "connect %s: refused", to).WithHint(`is "iperf3 -s" running there, and is %s %d open?`, network, to.Port()).WithCause(err)
	case sock.TimedOut(err):
		return measure.Errorf(measure.KindUnreachable, "connect %s: no answer in time", to).WithHint("is the host up, and does a firewall or security group let %s %d through?", network, to.Port()).WithCause(err)
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = errno // without the addresses, which the sentence has
	}
	return measure.Errorf(measure.KindUnreachable, "connect %s: %w", to, err).WithHint("check the address, the routes of this host and the address to measure from")
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

// explainControl says why a word of the server did not come or was none. doing is
// what was under way, and kind what a server is that went away meanwhile.
func (s *session) explainControl(ctx context.Context, doing string, err error) error {
	if known := wire.Known(ctx, err); known != nil {
		return known
	}
	switch {
	case errors.Is(err, errFrame), errors.Is(err, errNotIperf3):
		return measure.Errorf(measure.KindBroken, "%s with iperf3 server %s: %w", doing, s.remote, err).WithHint("is that an iperf3 server?")
	case sock.TimedOut(err):
		return measure.Errorf(measure.KindBroken, "%s with iperf3 server %s: no answer in time", doing, s.remote).WithHint("is the server busy, or is the path down?")
	case errors.Is(err, net.ErrClosed):
		return measure.Errorf(measure.KindInterrupted, "%s with iperf3 server %s: the session is closed", doing, s.remote)
	}
	return measure.Errorf(measure.KindBroken, "%s with iperf3 server %s: %w", doing, s.remote, ErrClosed).WithHint("look at what the server printed")
}

// turnedAway is for a server that closes the connection when it has the parameters,
// which is how some versions say that they do not allow the test.
func (s *session) turnedAway() error {
	e := measure.Errorf(measure.KindRefused, "iperf3 server %s closed the control connection when it had the parameters", s.remote).WithCause(ErrClosed)
	if s.request.IPerf3.Key != nil {
		return e.WithHint("check --user, the password, --rsa-public-key-file and the clocks of both hosts; look at what the server printed")
	}
	return e.WithHint("does it ask for a user (--user)? Look at what the server printed")
}

// explainState says what a state means that ends the test; nil for another.
func (s *session) explainState(state State) error {
	switch state {
	case AccessDenied:
		return measure.Errorf(measure.KindRefused, "iperf3 server %s is busy: %w", s.remote, ErrBusy).WithHint("try again later; an iperf3 server has one client at a time")
	case ServerTerminate:
		return measure.Errorf(measure.KindBroken, "iperf3 server %s %w", s.remote, ErrStopped)
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
		e := measure.Errorf(kind, "iperf3 server %s ended the test: %w", s.remote, ServerFailure(code))
		if code == CodeAuthorization {
			return e.WithHint("check --user, the password, --rsa-public-key-file and the clocks of both hosts")
		}
		return e.WithHint("look at what the server printed")
	}
	return nil
}
