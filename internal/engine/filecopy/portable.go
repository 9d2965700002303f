//go:build !linux

package filecopy

import (
	"errors"
	"os"

	"soku/internal/measure"
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

// describePlace knows nothing of a folder on this system.
func describePlace(*os.Root) measure.CopyPlace { return measure.CopyPlace{} }

// spaceOf does not know what is free on this system.
func spaceOf(*os.Root) space { return space{unlimited, unlimited} }

// device has no counters on this system.
type device struct{}

func deviceOf(*os.Root) *device { return nil }

func (d *device) read() (c measure.DiskCount, ok bool) { return c, false }

func (d *device) close() {}
