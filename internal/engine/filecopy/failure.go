package filecopy

import (
	"errors"
	"io/fs"

	"soku/internal/measure"
)

// failFile is the failure of an operation on a file or folder of this host, whose message
// has the name and the cause: of kind permission or broken, for a folder that cannot be
// opened usage.
func failFile(code, name string, err error) *measure.Error {
	if errors.Is(err, noSpace) {
		return measure.Fail(measure.KindBroken, "copy.disk_full", measure.Figures{"file": name}).WithCause(err)
	}
	kind := measure.KindBroken
	switch {
	case errors.Is(err, fs.ErrPermission):
		kind = measure.KindPermission
	case code == "copy.folder":
		kind = measure.KindUsage
	}
	cause := err
	var at *fs.PathError
	if errors.As(err, &at) {
		cause = at.Err // the message has the name
	}
	return measure.Fail(kind, code, measure.Figures{"file": name, "cause": cause}).WithCause(err)
}
