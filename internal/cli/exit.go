package cli

import (
	"context"
	"errors"

	"soku/internal/measure"
)

// exitStatus gives each kind of failure its status; docs/reference/exit-codes.md
// lists them and a test holds the two together.
var exitStatus = map[measure.Kind]int{
	measure.KindInternal:    1,
	measure.KindUsage:       2,
	measure.KindFile:        3,
	measure.KindUnreachable: 4,
	measure.KindRefused:     5,
	measure.KindBroken:      6,
	measure.KindStore:       7,
	measure.KindPermission:  8,
	measure.KindNotFound:    9,
	measure.KindIncomplete:  10,
	measure.KindNotHeld:     11,
	measure.KindNotShown:    12,
	measure.KindInterrupted: 130,
}

// status is the exit status for an error: 0 if err is nil.
func status(err error) int {
	if err == nil {
		return 0
	}
	var e *measure.Error
	if !errors.As(err, &e) && errors.Is(err, context.Canceled) {
		return exitStatus[measure.KindInterrupted]
	}
	if s, ok := exitStatus[measure.KindOf(err)]; ok {
		return s
	}
	return 1
}
