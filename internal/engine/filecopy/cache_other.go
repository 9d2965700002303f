//go:build !linux

package filecopy

import (
	"errors"
	"os"
)

// setDirect fails: this system has no switch for it.
func setDirect(*os.File, bool) error { return errors.ErrUnsupported }

// dropPages fails: this system has no call for it.
func dropPages(*os.File) error { return errors.ErrUnsupported }

// cached does not know.
func cached(*os.File, int64) (in, known bool) { return false, false }

// beginFlush fails: each file is flushed when it is written.
func beginFlush(*os.File, int64, int64) error { return errors.ErrUnsupported }

// canSyncAll: each file is flushed when it is written.
const canSyncAll = false

func syncAll(*os.Root) (done bool, err error) { return false, nil }
