package wire

import (
	"context"
	"errors"

	"soku/internal/measure"
)

// Ended is why ctx ended, of kind interrupted unless its cause has a kind of its own; nil
// if it has not.
func Ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return measure.AsError(context.Cause(ctx), measure.KindInterrupted)
}

// Known is the reason of a failed call that needs no explanation: why ctx ended, or the
// [measure.Error] inside err; nil for neither.
func Known(ctx context.Context, err error) error {
	if cause := Ended(ctx); cause != nil {
		return cause
	}
	var known *measure.Error
	if errors.As(err, &known) {
		return known
	}
	return nil
}
