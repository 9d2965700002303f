package doctor

import (
	"context"

	"soku/internal/measure"
)

// Result is what became of a change: made, or why not.
type Result struct {
	Change
	Err error // nil: the setting has the value
}

// Fix makes changes, one after the other. Each is on the disk, with the value that the setting
// has at that moment, before it is made, and is read back. boot is the identity of the running
// system, empty if that is unknown. The error is that of the record, or the cause of ctx.
func Fix(ctx context.Context, s Settings, r *Record, boot string, changes []Change, report func(Result)) error {
	for _, c := range changes {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := c.check(); err != nil {
			return err
		}
		was, err := s.Read(c)
		switch {
		case err != nil:
			report(Result{c, changeFailed(c, err)})
			continue
		case c.same(was, c.To):
			report(Result{c, nil})
			continue
		}
		c.Was = was
		if err := c.check(); err != nil { // a value that could not be restored
			report(Result{c, err})
			continue
		}
		if err := r.add(c, boot); err != nil {
			return err
		}
		report(Result{c, set(s, c)})
	}
	return nil
}

// set gives a setting its new value and reads it back.
func set(s Settings, c Change) error {
	if err := s.Write(c, c.To); err != nil {
		return changeFailed(c, err)
	}
	now, err := s.Read(c)
	if err != nil {
		return changeFailed(c, err)
	}
	if !c.same(now, c.To) {
		return measure.Fail(measure.KindPermission, "doctor.change.not_taken", measure.Figures{"command": c.Command(), "value": now})
	}
	return nil
}

func changeFailed(c Change, err error) error {
	return measure.Fail(measure.KindPermission, "doctor.change.failed", measure.Figures{"command": c.Command(), "cause": err})
}
