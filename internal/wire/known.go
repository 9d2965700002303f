package wire

import (
	"context"
	"errors"

	"soku/internal/measure"
)

// Ended returns why ctx ended, with kind interrupted unless its cause has another kind, or nil
// if ctx has not ended.
func Ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return measure.AsError(context.Cause(ctx), measure.KindInterrupted)
}

// Known returns the reason of a failed call that needs no explanation: why ctx ended, or the
// [measure.Error] inside err. It returns nil if there is neither.
func Known(ctx context.Context, err error) error {
	if cause := Ended(ctx); cause != nil {
		return cause
	}
	if known, ok := errors.AsType[*measure.Error](err); ok {
		return known
	}
	return nil
}
