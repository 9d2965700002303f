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
		return measure.Fail(measure.KindUnreachable, "dial.refused", measure.Figures{"address": to}).WithHintCode("ntttcp.refused", nil).WithCause(err)
	case sock.TimedOut(err):
		return measure.Fail(measure.KindUnreachable, "dial.no_answer", measure.Figures{"address": to}).WithHintCode("ntttcp.no_answer", nil)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return measure.Fail(measure.KindPermission, "dial.files", measure.Figures{"address": to}).WithHintCode("dial.files_connections", nil)
	case errors.Is(err, os.ErrPermission):
		return measure.Fail(measure.KindPermission, "dial.forbidden", measure.Figures{"address": to})
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		err = errno // without the addresses, which the sentence has
	}
	return measure.Fail(measure.KindUnreachable, "dial.failed", measure.Figures{"address": to, "cause": err}).WithHintCode("dial.routes_family", nil)
}
