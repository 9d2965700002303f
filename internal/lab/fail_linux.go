package lab

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// fail is the failure of what was done to a lab or for it. Its kind and its hint follow
// from the figure "cause": those of a failure with a code, or rights that the user does not
// have; the kind is internal otherwise.
func fail(code string, figures measure.Figures) *measure.Error {
	cause, _ := figures["cause"].(error)
	var coded *measure.Error
	switch {
	case errors.As(cause, &coded):
		return measure.Fail(coded.Kind, code, figures)
	case errors.Is(cause, os.ErrPermission) || errors.Is(cause, unix.EPERM):
		e := measure.Fail(measure.KindPermission, code, figures)
		if os.Geteuid() == 0 {
			return e.WithHintCode("lab.capabilities", nil)
		}
		return e.WithHintCode("lab.needs_root", nil)
	}
	return measure.Fail(measure.KindInternal, code, figures)
}

// failIfDown is fail where a lab that must be up is used: what does not exist is the lab.
func failIfDown(code string, figures measure.Figures) *measure.Error {
	if cause, _ := figures["cause"].(error); errors.Is(cause, os.ErrNotExist) {
		return measure.Fail(measure.KindNotFound, code, figures).WithHintCode("lab.is_it_up", nil)
	}
	return fail(code, figures)
}
