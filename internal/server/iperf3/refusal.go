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

var (
	errMessage = errors.New("the client said what no client of iperf3 says here")
	errExpired = errors.New("the test did not end in its time")
	errOver    = errors.New("the test is over")
)

// refusal is why a test is not measured, with iperf3's number for it.
type refusal struct {
	code int
	err  error
}

// Error is the sentence for the log.
func (r *refusal) Error() string { return r.err.Error() }

// Unwrap returns the cause.
func (r *refusal) Unwrap() error { return r.err }

// Is makes a refusal of a client that is no user one of [ErrUnauthorized].
func (r *refusal) Is(target error) bool {
	return target == ErrUnauthorized && r.code == wire.CodeAuthorization
}

func refuse(code int, format string, args ...any) error {
	return &refusal{code, measure.Errorf(measure.KindRefused, format, args...)}
}
