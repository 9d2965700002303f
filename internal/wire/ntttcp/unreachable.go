package ntttcp

import (
	"context"
	"errors"
	"os"
	"syscall"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
)

// Unreachable is the error for a connection to a receiver's address and port that
// could not be made; it keeps err as its cause.
func Unreachable(ctx context.Context, to string, err error) error {
	if known := wire.Known(ctx, err); known != nil {
		return known
	}
	switch {
	case sock.Refused(err):
		return measure.Errorf(measure.KindUnreachable, "connect %s: %w", to, connectionRefused{err}).
			WithHint("is ntttcp -r running there, with that port among its own? The sync port is the one below the first data port")
	case sock.TimedOut(err):
		return measure.Errorf(measure.KindUnreachable, "connect %s: no answer in time", to).
			WithHint("is the host up, and do firewalls let the data ports and the one below them through?")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return measure.Errorf(measure.KindPermission, "connect %s: this host has no file descriptor left for one more connection", to).
			WithHint("raise the limit (ulimit -n, LimitNOFILE=) or use fewer connections")
	case errors.Is(err, os.ErrPermission):
		return measure.Errorf(measure.KindPermission, "connect %s: the operating system of this host does not permit it", to)
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = errno // without the addresses, which the sentence has
	}
	return measure.Errorf(measure.KindUnreachable, "connect %s: %w", to, err).WithHint("check the address, the routes of this host and the address family")
}

// connectionRefused says it in a word and keeps the cause.
type connectionRefused struct{ error }

func (connectionRefused) Error() string   { return "refused" }
func (c connectionRefused) Unwrap() error { return c.error }
