package iperf3

import (
	"errors"

	"soku/internal/measure"
	wire "soku/internal/wire/iperf3"
)

// Why a test ended, found by [errors.Is]. [server.ErrShutdown] is another reason.
var (
	// ErrStopped: the client said that it stops.
	ErrStopped = errors.New("the client stopped")
	// ErrGone: the client went away without a word.
	ErrGone = errors.New("the client went away")
	// ErrUnauthorized: the client is none of the server's users.
	ErrUnauthorized = errors.New("the client is not authorized")
)

func unexpected() error { return measure.Fail(measure.KindBroken, "server.iperf3.unexpected", nil) }

func over() error { return measure.Fail(measure.KindBroken, "server.iperf3.over", nil) }

// refusal is why a test is not measured, with iperf3's number for it.
type refusal struct {
	number int
	err    error
}

// Error is the sentence for the log.
func (r *refusal) Error() string { return r.err.Error() }

// Unwrap returns the cause.
func (r *refusal) Unwrap() error { return r.err }

// Is makes a refusal of a client that is no user one of [ErrUnauthorized].
func (r *refusal) Is(target error) bool {
	return target == ErrUnauthorized && r.number == wire.CodeAuthorization
}

// Number returns iperf3's number of the failure for which the server refused or ended a
// test, or false if it has none.
func Number(err error) (number int, ok bool) {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.number, true
	}
	return 0, false
}

// fail is the refusal with one of iperf3's numbers and the failure of a code.
func fail(number int, code string, figures measure.Figures) error {
	return &refusal{number, measure.Fail(measure.KindRefused, code, figures)}
}

// denial is why a client gets no place; the protocol has one word for all of that.
type denial struct{ err error }

// Error is the sentence for the log.
func (d *denial) Error() string { return d.err.Error() }

// Unwrap returns the cause.
func (d *denial) Unwrap() error { return d.err }
